"""From raw answers to the solution: each is repaired and proved, and the best is kept.

raw channel and dual variables -> exactly private candidate -> best channel and best bound
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mechdesign.certify.problem import read_statement
from mechdesign.designs.candidate import Candidate
from mechdesign.designs.solution import Solution
from mechdesign.errors import CertificateError, SolverError
from mechdesign.problem import Problem
from mechdesign.routes import Attempt, Considered, RawSolution
from mechdesign.routes.limits import Limits

__all__ = ["Answers"]


class Answers:
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
        What went wrong, in sentences.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self._problem, self._limits, self._stopwatch = problem, limits, limits.stopwatch
        with self._stopwatch.phase("compile"):
            self._statement = read_statement(problem.to_table())
        self.best: Candidate | None = None
        self.failures: list[str] = []

    @property
    def are_enough(self) -> bool:
        """Whether the gap is as small as asked, or the search was ended."""
        enough = self.best is not None and self.best.is_within(self._limits.gap)
        return enough or self._limits.over()

    def attempt(self, attempt: Attempt) -> RawSolution | None:
        """Solve by a route and take its answer; return it, or None if that failed."""
        try:
            with self._stopwatch.phase("solve"):
                raw = attempt.route.solve(self._problem, self._limits)
        except SolverError as error:
            self.failures.append(str(error))
            return None
        return raw if self.take(raw, attempt.why) else None

    def take(self, raw: RawSolution, why: str) -> bool:
        """Repair and prove a raw answer; return whether that was possible.

        Raises
        ------
        CertificateError
            If it is not private after the repair. Where rows must differ, they may do so by less
            than the integers of a channel can tell: that is a failure of this answer only.
        """
        try:
            found = Candidate(self._problem, self._statement, raw, why, self._stopwatch)
        except CertificateError as error:
            if not self._problem.utility.tells_inputs_apart:
                raise
            self.failures.append(str(error))
            return False
        self.best = found if self.best is None else self.best.merged(found)
        return True

    def solution(
        self, considered: Iterable[Considered] = (), notes: Sequence[str] = ()
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
            raise SolverError("; ".join(self.failures) or "no route gave an answer")
        ended = self._limits.ended
        if ended and not self.best.is_within(self._limits.gap):
            notes = [f"ended early: {ended}", *notes]
        return self.best.solution(considered, [*self.failures, *notes])
