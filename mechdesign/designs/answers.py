"""From raw answers to the solution: repair and proof of each answer, and choice of the best.

raw channel and evidence -> exactly private channel, and a proved bound -> the best of each
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from mechdesign.channel import Channel
from mechdesign.designs.solution import EARLY, PrivacyClaim, Solution
from mechdesign.errors import (
    CertificateError,
    LimitError,
    MechdesignError,
    SolverError,
    UnsupportedError,
)
from mechdesign.evidence.formulas import nothing_constrained
from mechdesign.evidence.rows import Proof
from mechdesign.evidence.simplicial import erasure
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.claims import privacy_steps
from mechdesign.kernel.documents import OPTIMAL_GAP, relative_gap
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.objectives import Reading, Risk
from mechdesign.kernel.schema import write
from mechdesign.kernel.statement import private
from mechdesign.kernel.value import value, value_steps
from mechdesign.kernel.verify import allowance
from mechdesign.problem import Problem
from mechdesign.repair import mixed, repair
from mechdesign.resources import Resources, current
from mechdesign.search import RawSolution, RejectedRoute, Route
from mechdesign.search.coarse.groups import MOST_FACETS, grouped, of_few_inputs
from mechdesign.search.limits import OPTIMAL, STEPS_A_SECOND, Limits
from mechdesign.search.lp.program_size import FEWEST_OUTPUTS
from mechdesign.search.routes import Coarse, rows_of_all
from mechdesign.search.starts.remapping import remapped, without_rare
from mechdesign.search.starts.route import Start
from mechdesign.solver_guard import failure

PROOF_SECONDS, SET_SECONDS = 1e-5, 1e-4
"""Seconds of the proof for each input and output, and additional seconds for each box or ball of
priors, of which it may use two members for each output."""

RARE = 0.3
"""Largest share of the gap lost by dropping rare outputs."""

MANY_ROWS = 10**7
"""The number of rows from which a bound precedes the search, whatever the time limit."""

LARGEST_DIVISOR = 64
"""The largest divisor of a reader's steps that is looked for: denominators of 16,000 bits."""

NUMERICAL = (ArithmeticError, ValueError)
"""Exceptions of a certificate with unusable numbers."""

WIDE = 0.5
"""The gap above which the fallback bounds are tried."""


@dataclass
class _Answer:
    """An exactly private channel, and the indices of its columns in the raw answer.

    ``values`` has its objective by the reference prior, on which an estimator may depend.
    """

    raw: RawSolution
    why: str
    channel: Channel
    kept: list[int]
    readings: tuple[Fraction, ...] | None = None
    values: dict[tuple[Fraction, ...] | None, Fraction] = field(default_factory=dict)


@dataclass(frozen=True)
class _Proved:
    """A bound, its proof, the number of proof steps, and the route, if a route found it."""

    bound: Fraction
    certificate: Certificate | None
    steps: int
    route: str


class SolutionPool:
    """The answers to one problem: the best channel, and the best bound.

    A raw answer is repaired, valued and proved; a failure of any step is a failure of its route.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self._problem, self._limits = problem, limits
        if math.isfinite(limits.seconds):
            size = len(problem.domain) * len(problem.outputs or problem.domain)
            lifts = [family.lift_rows() for family in problem.cone.families]
            sets = sum(rows is not None and not rows.priors.members for rows in lifts)
            limits.keep(size * (PROOF_SECONDS + sets * SET_SECONDS))
        with self._limits.phase("compile"):
            self._check_work(problem.table.steps())
            self._statement = problem.compiled.statement  # cached, and timed in this phase
            self._check_work(self._least_work())
        self._sign = -1 if problem.utility.is_maximized else 1
        self.best: _Answer | None = None
        self.proof: _Proved | None = None
        self.failures: dict[str, str] = {}
        """Error messages of failed attempts, each with its note."""
        self._bound_before = math.nan
        """The bound before the search; NaN for none, below which no bound is."""
        self._blind = [(of_few_inputs, OPTIMAL_GAP), (grouped, WIDE), (_erasure, WIDE)]
        self._blind += [(_unconstrained, OPTIMAL_GAP)]
        """Fallback bounds that need no search, each with the gap above which it is tried."""
        self._unproved: list[str] = []
        self._errors: list[Exception] = []

    def _check_work(self, steps: int) -> None:
        """Reject a problem whose exact value and checks take half of the time.

        With the number of inputs the steps grow at least as the square.
        """
        k, limits = len(self._problem.domain), self._limits
        share = 2 * steps / STEPS_A_SECOND / limits.longest
        if share > 1:
            raise SolverError(
                f"exact values and checks with {k:,} inputs take too long: for a time limit of "
                f"{limits.seconds:g} s there may be {int(k / math.sqrt(share)):,}"
            )

    def _least_work(self) -> int:
        """Return the steps for a channel of the least number of outputs that has a small loss.

        Few are enough under notions on columns: each has its own check.
        """
        aim, n = self._statement.objective, len(self._problem.outputs or self._problem.domain)
        few = min(n, FEWEST_OUTPUTS)
        checks = privacy_steps(self._problem.compiled, few if self._problem.is_conic else n)
        valued = few if isinstance(aim, Gain) else 2 * n if isinstance(aim, Risk) else n
        return checks + value_steps(self._statement, valued)

    def _work(self, n_outputs: int) -> int:
        """Return the steps of the exact value and the checks of a channel."""
        checks = privacy_steps(self._problem.compiled, n_outputs)
        return checks + value_steps(self._statement, n_outputs)

    @property
    def value(self) -> Fraction:
        """The value of the best channel."""
        assert self.best is not None  # noqa: S101 (for mypy)
        return self._value(self.best)

    def is_within(self, gap: float) -> bool:
        """Return whether the gap is at most this, or at most the threshold of optimality."""
        return self.best is not None and self._gap(self.best) <= 0.999 * max(OPTIMAL_GAP, gap)

    def _gap(self, answer: _Answer) -> float:
        """Return the gap between the value of a channel and the best bound."""
        if self.proof is None:
            return math.inf
        return relative_gap(float(self._value(answer)), float(self.proof.bound))

    @property
    def are_enough(self) -> bool:
        """Whether the gap is as small as requested, or the search has ended."""
        return self._limits.expired() or self.is_within(self._limits.gap)

    @contextmanager
    def _attempt(self, name: str, unless: type[Exception] | tuple[()] = ()) -> Iterator[None]:
        """Record an error that is a failure of an attempt, so that the next one follows."""
        try:
            yield
        except Exception as error:
            if isinstance(error, unless) or not self._limits.is_failure(error):
                raise
            told = str(error) if isinstance(error, MechdesignError) else failure(error)
            told = told if isinstance(error, SolverError) else f"{name}: {told}"
            self._errors.append(error)
            self.failures.setdefault(told, f"{name} gave no answer, as {_reason(error)}")

    def run(self, attempts: Iterator[tuple[Route, str]], last: Start) -> None:
        """Try one route after the other until an answer is good enough.

        The start is used if there is no answer, or no better one; it precedes a search that is
        surely long, with a first bound if time is limited, so that an early interrupt returns it.
        """
        start, why = self._opening(last), last.suits(self._problem)
        if start is not None and start.value is not None:
            self._limits.incumbent, self._limits.start = start.value, start
            self.take(start, "a channel and a bound before the search" if start.proofs else why)
            if start.proofs and self.best is not None:
                self._bound_before = self._limits.bound
        while not (start and self._limits.expired()) and (attempt := self._next(attempts)):
            raw, reason = self._solved(attempt[0]), attempt[1]
            if raw is not None and self.best is None and self._is_late(raw):
                start = start or self._solved(last)
                if start is not None:
                    self.take(start, why)
            if raw is not None:
                self.take(raw, reason)
            if self.are_enough:
                break
        refused = [isinstance(error, UnsupportedError) for error in self._errors]
        if self.best is None and refused and all(refused):
            raise self._errors[0]
        if self.best is None or not (start or self.is_within(self._limits.gap)):
            raw = start or self._solved(last)
            if raw is not None and self._is_better(raw):
                self.take(raw, why)
        if self.best is None:
            error = self._errors[-1]
            if not isinstance(error, MechdesignError | MemoryError):
                raise error  # raised by the user's own function: no solver was called

    def _opening(self, start: Start) -> RawSolution | None:
        """Return the answer before a search that is surely long; else None."""
        if not start.is_first(self._problem):
            return None
        raw, coarse, problem = None, Coarse(most_rounds=1), self._problem
        if (
            (math.isfinite(self._limits.seconds) or rows_of_all(problem) >= MANY_ROWS)
            and coarse.suits(problem, named=True)
            and not coarse.suits(problem)  # otherwise it is the search itself
        ):
            raw = self._solved(coarse)
        return raw or self._solved(start)

    def _next(self, attempts: Iterator[tuple[Route, str]]) -> tuple[Route, str] | None:
        """Return the next attempt; None if there is none, or choosing it failed."""
        attempt = None
        with self._attempt("the router", unless=MechdesignError), self._limits.phase("compile"):
            attempt = next(attempts, None)
        return attempt  # noqa: RET504 (None after a failure)

    def attempt(self, route: Route, why: str) -> None:
        """Solve by a route and take its answer."""
        raw = self._solved(route)
        if raw is not None:
            self.take(raw, why)

    def _solved(self, route: Route) -> RawSolution | None:
        """Return the answer of a route; None if it failed."""
        raw = None
        with self._attempt(route.name), self._limits.phase("solve"):
            raw = route.solve(self._problem, self._limits)
        return raw  # noqa: RET504 (None after a failure)

    def take(self, raw: RawSolution, why: str, *, as_given: bool = False) -> None:
        """Repair a raw answer, prove its bound, and keep the better of each.

        A channel that is known to be worse than the best is not repaired. With ``as_given`` every
        column keeps its label, without remapping or dropping rare outputs.
        """
        with self._attempt(raw.route):
            answer = self.best
            if answer is None or self._is_better(raw):
                answer = self._repaired(raw, why, as_given=as_given)
            with self._limits.phase("certify"):
                self._prove(raw, answer)
                if self.best is None or self._sign * (self._value(answer) - self.value) < 0:
                    self.best = answer

    def _is_late(self, raw: RawSolution) -> bool:
        """Return whether the exact value of a raw answer would end too late."""
        steps = value_steps(self._statement, int(raw.matrix.any(axis=0).sum()))
        return steps / STEPS_A_SECOND > self._limits.grace

    def _is_better(self, raw: RawSolution) -> bool:
        """Return whether a float value is better by more than rounding, or not known.

        An answer whose exact value would end too late is not better than another one.
        """
        if self.best is None:
            return True
        if self._is_late(raw):
            return False
        if raw.value is None:
            return True
        best = float(self.value)
        return self._sign * raw.value < self._sign * best - OPTIMAL * abs(best)

    def _repaired(self, raw: RawSolution, why: str, *, as_given: bool) -> _Answer:
        """Return an exactly private channel near that of a raw answer."""
        problem, matrix, outputs = self._problem, raw.matrix, list(raw.outputs)
        with self._limits.phase("repair"):
            if not as_given:
                matrix, outputs = remapped(problem, matrix, outputs)
                share = RARE * min(self._limits.gap, OPTIMAL)
                matrix, outputs = without_rare(problem, matrix, outputs, share)
            rows, kept = repair(problem.cone, matrix)
            if not problem.is_conic:
                rows = mixed(problem.cone, problem.channel_constraints, rows, problem.prior)
            labels = [outputs[y] for y in kept]
            if not as_given:
                rows, labels = remapped(problem, rows, labels)
        if problem.outputs is None:
            labels = list(range(len(labels)))
        found = _Answer(raw, why, Channel(rows, inputs=problem.domain, outputs=labels), kept)
        if isinstance(self._statement.objective, Reading):
            found.readings = tuple(problem.utility.decoder(found.channel, problem.prior) or ())
        return found

    def _value(self, answer: _Answer) -> Fraction:
        """Return the exact objective; an estimator is that of the prior of the certificate."""
        certificate, channel = self.proof and self.proof.certificate, answer.channel
        reference = certificate.reference if certificate else None
        if reference in answer.values:
            return answer.values[reference]
        problem, allowed = self._problem, self._problem.outputs
        if self._statement.objective is None:
            found = problem.utility.value(channel, problem.prior, allowed)
        else:
            place = {y: n for n, y in enumerate(allowed or channel.outputs)}
            used = [place[label] for label in channel.outputs]
            given = channel.columns(), 1 << channel.bits, used, answer.readings, reference
            found = self._sign * value(self._statement, *given)
        return answer.values.setdefault(reference, found)

    def _offer(self, proof: _Proved) -> None:
        """Take a bound if it is the best so far."""
        if self.proof is None or self._sign * proof.bound > self._sign * self.proof.bound:
            self.proof = proof

    def _prove(self, raw: RawSolution, answer: _Answer) -> None:
        """Take the best bound that is proved in time; if it is loose, try the fallback bounds.

        A bound that is not better than that before the search is not proved.
        """
        if raw.numeric_bound is not None:
            bounds = (self._sign * raw.numeric_bound, self._sign * self._value(answer))
            self._offer(_Proved(self._sign * min(bounds), None, 0, raw.route))
            return
        proved, refused = 0, list[Exception]()
        self._unproved.clear()
        is_closer = not self._limits.bound <= self._bound_before  # NaN: no bound
        for make in raw.proofs if is_closer else ():
            if proved and self._gap(answer) <= OPTIMAL_GAP:
                break
            try:
                after = value_steps(self._statement, len(answer.kept))
                most = self._limits.proof_steps(current().proof_steps, after)
                proved += self._take_proof(make, raw.route, most)
            except LimitError as error:
                late = too_long(error, self._limits)
                self._unproved.append(f"a closer bound is not proved, {late}")
            except (CertificateError, *NUMERICAL) as error:
                refused.append(error)
        if refused and not proved:
            with self._attempt(raw.route):
                raise refused[0]
        for make, far in tuple(self._blind):
            if self._gap(answer) > far:
                is_needed = make is _unconstrained and self.proof is None
                failures = () if is_needed else (LimitError, CertificateError, *NUMERICAL)
                with suppress(*failures):
                    steps = None if make is _unconstrained else current().proof_steps
                    self._take_proof(make, "", steps)
                    self._blind.remove((make, far))

    def _take_proof(self, make: Proof, route: str, most: int | None) -> bool:
        """Make a certificate and take its bound; return whether there is one."""
        certificate = make(self._problem)
        if certificate is None:
            return False
        steps = Steps(most)
        with self._limits.proof():
            bound = certificate.bound(self._statement, steps)
        self._offer(_Proved(self._sign * bound, certificate, steps.spent, route))
        return True

    def _claims(self, channel: Channel) -> Iterator[PrivacyClaim]:
        """Check every notion in the kernel, and yield its claim."""
        problem, columns = self._problem, channel.columns()
        parts = problem.compiled.table.privacy, problem.cone.families, problem.channel_constraints
        for notion, table, family, constraint in zip(problem.privacy, *parts, strict=True):
            broken = private(problem.compiled.alone(table), columns, 1 << channel.bits)
            if broken is not None:
                told = f"{notion.name}: the repaired channel is not private: {broken}"
                raise CertificateError(told)
            yield PrivacyClaim(notion, partial((constraint or family).leakage, channel))

    def solution(
        self, considered: Iterable[RejectedRoute] = (), notes: Sequence[str] = ()
    ) -> Solution:
        """Return the best channel with the best bound."""
        best, proof, limits = self.best, self.proof, self._limits
        if best is None or proof is None:
            cause = self._errors[0] if self._errors else None
            raise SolverError("; ".join(self.failures) or "no route gave an answer") from cause
        with limits.phase("certify"):
            privacy = tuple(self._claims(best.channel))
        route, found = best.raw.route, list(best.raw.notes)
        if proof.route not in ("", route):
            route = f"{route}; the bound by {proof.route}"
        found += [*_unused(self._problem, best.channel), *self._unproved]
        found += self._asked_of_readers(best.channel, proof)
        if limits.ended and not self.is_within(limits.gap):
            found.append(f"{EARLY}: {limits.ended}")
        return Solution(
            problem=self._problem,
            channel=best.channel,
            value=self.value,
            bound=proof.bound,
            privacy=privacy,
            route=route,
            why=best.why,
            considered=tuple(considered),
            notes=(*found, *dict.fromkeys(self.failures.values()), *notes),
            certificate=proof.certificate,
            readings=best.readings if proof.certificate else None,
            seconds=limits.elapsed,
            timings=dict(limits.timings),
        )

    def _asked_of_readers(self, channel: Channel, proof: _Proved) -> list[str]:
        """Return the limits that a reader must raise, if the file needs more than the default."""
        needed = privacy_steps(self._problem.compiled, len(channel.outputs))
        if proof.certificate is not None:
            needed = max(proof.steps, self._work(len(channel.outputs)))
        if needed <= Resources().steps // LARGEST_DIVISOR:
            return []
        table, rows = self._problem.to_table(), channel.numerators.tolist()
        written = proof.certificate and write(proof.certificate)
        return asked_of_readers(needed, problem=table, channel=[rows, rows], certificate=written)


def asked_of_readers(needed: int, **document: Any) -> list[str]:
    """Return a note on the limit of steps, if a file with these contents needs a larger one."""
    try:
        extra, share = allowance(document)
    except LimitError as error:
        return [f"no reader accepts the file: {error}"]
    least = needed * share - extra
    allowed = 10 ** len(str(least))
    told = f"a reader must allow more work: verify with --allow steps={allowed}"
    return [told] * (least > Resources().steps)


def _erasure(problem: Problem) -> Certificate | None:
    """Prove the bound implied by a lower bound on the lift, for few inputs."""
    return erasure(problem.compiled) if len(problem.domain) <= MOST_FACETS else None


def _unconstrained(problem: Problem) -> Certificate:
    """Prove the bound that ignores privacy."""
    return nothing_constrained(problem.compiled)


def too_long(error: LimitError, limits: Limits) -> str:
    """Return the reason why a proof was not finished."""
    if limits.interrupted:
        return "because of an interrupt"
    if math.isfinite(limits.seconds):
        return "because the time is over"
    return f"because {error.key} takes {error.given} steps; {error.hint}"


def _unused(problem: Problem, channel: Channel) -> list[str]:
    unused = len(problem.outputs or ()) - len(channel.outputs)
    if problem.outputs is None or not unused:
        return []
    verb = "is" if unused == 1 else "are"
    return [
        f"{unused} of the {len(problem.outputs)} outputs allowed {verb} never sent and left out"
    ]


REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (MemoryError, "it ran out of memory"),
    (LimitError, "it needs more work than the limits allow"),
    (UnsupportedError, "it does not take this problem"),
    (CertificateError, "what it found could not be proved"),
)
"""Descriptions of an error in reports, by the first matching class."""


def _reason(error: Exception) -> str:
    """Return the reason why an attempt failed."""
    named = (reason for kind, reason in REASONS if isinstance(error, kind))
    return next(named, "its solver stopped or returned unusable numbers")
