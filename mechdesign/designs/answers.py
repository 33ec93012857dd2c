"""From raw answers to the solution: each is repaired and proved, and the best is kept.

raw channel and dual variables -> exactly private candidate -> best channel and best bound
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from mechdesign.designs.candidate import Candidate
from mechdesign.designs.solution import EARLY, Solution
from mechdesign.errors import (
    CertificateError,
    LimitError,
    MechdesignError,
    SolverError,
    UnsupportedError,
)
from mechdesign.problem import Problem
from mechdesign.search import Attempt, RawSolution, RejectedRoute, Route
from mechdesign.search.coarse.route import Coarse
from mechdesign.search.limits import Limits
from mechdesign.search.starts.remapping import remapped
from mechdesign.search.starts.route import Start
from mechdesign.solver_guard import failure

__all__ = ["SolutionPool"]

PROOF_SECONDS, SET_SECONDS = 1e-5, 1e-4
"""What the proof may take for each input and output, and what more for each box or ball of priors,
of which it may name two members for each output."""


class SolutionPool:
    """The answers to one problem, and the best of them.

    Parameters
    ----------
    problem
        What was asked.
    limits
        What ends the search; its stopwatch measures every phase.

    Attributes
    ----------
    best
        The best channel with the best bound; None before there is any.
    failures
        What went wrong, for an error where nothing else is left.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self._problem, self._limits, self._stopwatch = problem, limits, limits.stopwatch
        if math.isfinite(limits.seconds):
            size = len(problem.domain) * len(problem.outputs or problem.domain)
            lifts = [family.lift_rows() for family in problem.cone.families]
            sets = sum(rows is not None and not rows.priors.members for rows in lifts)
            limits.keep(size * (PROOF_SECONDS + sets * SET_SECONDS))
        with self._stopwatch.phase("compile"):
            _ = problem.compiled  # once, and in this phase
        self.best: Candidate | None = None
        self._start: RawSolution | None = None
        self._start_bound = -math.inf
        self.failures: list[str] = []
        self._notes: list[str] = []
        self._errors: list[Exception] = []

    @property
    def are_enough(self) -> bool:
        """Whether the gap is as small as asked, or the search was ended."""
        enough = self.best is not None and self.best.is_within(self._limits.gap)
        return enough or self._limits.expired()

    def run(self, attempts: Iterator[Attempt], last: Start) -> None:
        """Try one route after the other until an answer is good enough.

        Whatever fails on the way from a raw answer to the proof, the next route is tried. In the
        end the start stands in where there is no answer, or no better one. Where a search is sure
        to be long the start is there before it, with a first bound if time is limited; a gap
        between what is there before and what is found is enough.

        Raises
        ------
        UnsupportedError
            If there is no answer, as no route takes the problem.
        """
        start = self._opening(last)
        if start is not None and start.value is not None:
            self._limits.incumbent = start.value
            self._limits.start = self._start = start
            self._start_bound = self._limits.bound
            if start.proofs:  # proved at once: there may be no time for it in the end
                self.take(start, "a channel and a bound before the search")
        while (
            not (start and self._limits.expired()) and (attempt := self._next(attempts)) is not None
        ):
            self.attempt(attempt)
            if self.are_enough:
                break
        refused = [isinstance(error, UnsupportedError) for error in self._errors]
        if self.best is None and refused and all(refused):
            raise self._errors[0]
        verdict = last.check(self._problem)
        short = self.best is None or not self.best.is_within(self._limits.gap)
        if start is not None or (short and (self.best is None or verdict.recommended)):
            raw = start or self._solved(last)
            if raw is not None and (self.best is None or self.best.is_worse_than(raw.value)):
                self.take(raw, verdict.reason)
        if self.best is None:
            error = self._errors[-1]
            if not isinstance(error, MechdesignError | MemoryError):
                raise error  # that of the user's own function: no solver took part

    def _opening(self, start: Start) -> RawSolution | None:
        """Return what is there before a search that is sure to be long; else None."""
        if not start.is_first(self._problem):
            return None
        raw = None
        if math.isfinite(self._limits.seconds):
            coarse = Coarse(most_rounds=1)
            verdict = coarse.check(self._problem)
            if verdict.holds and not verdict.recommended:  # else it is the search
                raw = self._solved(coarse)
        return raw or self._solved(start)

    def _next(self, attempts: Iterator[Attempt]) -> Attempt | None:
        """Return the next attempt; None if there is none, or it could not be chosen."""
        try:
            with self._stopwatch.phase("compile"):
                return next(attempts, None)
        except Exception as error:
            if isinstance(error, MechdesignError) or not self._fails("the router", error):
                raise
            return None

    def attempt(self, attempt: Attempt) -> RawSolution | None:
        """Solve by a route and take its answer; return it, or None if that failed."""
        raw = self._solved(attempt.route)
        return raw if raw is not None and self.take(raw, attempt.why) else None

    def _solved(self, route: Route) -> RawSolution | None:
        """Return the answer of a route; None if it failed."""
        try:
            with self._stopwatch.phase("solve"):
                return route.solve(self._problem, self._limits)
        except Exception as error:
            if not self._fails(route.name, error):
                raise
            return None

    def take(self, raw: RawSolution, why: str) -> bool:
        """Repair and prove a raw answer; return whether that was possible.

        Where its evidence proves nothing, the channel stands without it.
        """
        better = self._better(raw)
        if better is self._start and better is not raw and self.best is not None:
            return True  # nothing is better than what was there before
        bare = replace(better, proofs=())
        for answer in (better, bare):
            try:
                found = Candidate(self._problem, answer, why, self._limits)
                self.best = found if self.best is None else self.best.merged(found)
            except Exception as error:
                if not self._fails(better.route, error):
                    raise
            else:
                return True
        return False

    def _better(self, raw: RawSolution) -> RawSolution:
        """Return the answer with what the start has better in its place: channel or evidence.

        So one channel is repaired, not two, and one bound is proved beside it.
        """
        loss, start = self._problem.expected_loss, self._start
        if loss is None or start is None or start.value is None or raw is start:
            return raw
        if np.shape(raw.matrix) != (len(self._problem.domain), len(raw.outputs)):
            return raw  # the repair raises the error
        matrix, labels = remapped(self._problem, raw.matrix, raw.outputs)
        outputs = self._problem.outputs or ()
        cost = loss.cost(self._problem.domain, self._problem.prior, outputs)
        places = [outputs.index(label) for label in labels]
        value = float((cost[:, places] * matrix).sum())
        found = replace(raw, matrix=matrix, outputs=tuple(labels))
        channel = found if value <= start.value else start
        is_proved = bool(start.proofs) and self._limits.bound <= self._start_bound
        evidence = start if is_proved else found
        if channel is evidence:
            return channel
        return replace(
            evidence,
            matrix=channel.matrix,
            outputs=channel.outputs,
            route=f"{channel.route}; the bound by {evidence.route}",
            notes=[*channel.notes, *evidence.notes],
        )

    def _fails(self, name: str, error: Exception) -> bool:
        """Return whether an error is a failure of one attempt, and note it."""
        if not self._limits.is_failure(error):
            return False
        told = str(error) if isinstance(error, MechdesignError) else failure(error)
        told = told if isinstance(error, SolverError) else f"{name}: {told}"
        self._errors.append(error)
        if told not in self.failures:
            self.failures.append(told)
            self._notes.append(f"{name} gave no answer, as {_reason(error)}")
        return True

    def solution(
        self, considered: Iterable[RejectedRoute] = (), notes: Sequence[str] = ()
    ) -> Solution:
        """Return the best channel with its proof.

        Parameters
        ----------
        considered
            Closed forms that do not apply.
        notes
            What is said after the notes of the route.

        Raises
        ------
        SolverError
            If there is no answer.
        """
        if self.best is None:
            cause = self._errors[0] if self._errors else None
            raise SolverError("; ".join(self.failures) or "no route gave an answer") from cause
        ended = self._limits.ended
        if ended and not self.best.is_within(self._limits.gap):
            notes = [f"{EARLY}: {ended}", *notes]
        return self.best.solution(considered, [*dict.fromkeys(self._notes), *notes])


REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (MemoryError, "it ran out of memory"),
    (LimitError, "it needs more work than the limits allow"),
    (UnsupportedError, "it does not take this problem"),
    (CertificateError, "what it found could not be proved"),
)
"""Words of a report for an error: those of the first class that fits."""


def _reason(error: Exception) -> str:
    """Return why an attempt failed, in words."""
    named = (reason for kind, reason in REASONS if isinstance(error, kind))
    return next(named, "its solver stopped or returned unusable numbers")
