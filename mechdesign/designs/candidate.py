"""A candidate: the answer of a route, repaired to be exactly private, with its proof.

raw channel and dual variables -> exact channel -> value, bound, certificate -> solution
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from mechdesign.channel import Channel
from mechdesign.designs.solution import PrivacyClaim, Solution
from mechdesign.errors import CertificateError, LimitError
from mechdesign.evidence.facets import erasure
from mechdesign.evidence.unconstrained import nothing_constrained
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.claims import privacy_steps
from mechdesign.kernel.documents import OPTIMAL_GAP, relative_gap
from mechdesign.kernel.objectives import Reading
from mechdesign.kernel.schema import write
from mechdesign.kernel.statement import private
from mechdesign.kernel.value import value, value_steps
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.repair import mixed, repair
from mechdesign.resources import STEPS_PER_ENTRY, Resources, current, entries_of
from mechdesign.search import RawSolution, RejectedRoute
from mechdesign.search.coarse.groups import MOST_FACETS, grouped
from mechdesign.search.limits import OPTIMAL, Limits
from mechdesign.search.starts.remapping import remapped, without_rare

__all__ = ["Candidate", "too_long"]

RARE = 0.3
"""The share of the gap that outputs may cost which are left out as they are next to never sent."""

ROUNDING = 1e-8
"""A share of a value that rounding and the repair may change."""

STEPS_A_SECOND = 8_000_000
"""Steps of a proof that are taken in a second, at least."""

WIDE = 0.5
"""The gap from which on a bound is looked for that no search has found."""


class Candidate:
    """A repaired channel with its value, and the bound that a certificate proves.

    Parameters
    ----------
    problem
        What was asked.
    raw, why
        The answer of a route, and the reason for the route.
    limits
        What ends the proof, and measures it and the repair.
    as_given
        Whether every column keeps its label, so that none is remapped or left out as rare.

    Raises
    ------
    CertificateError
        If rows that should differ do so by less than the channel's integers can tell.
    """

    def __init__(
        self,
        problem: Problem,
        raw: RawSolution,
        why: str,
        limits: Limits,
        *,
        as_given: bool = False,
    ) -> None:
        self.raw, self.why, self.maximized = raw, why, problem.utility.is_maximized
        self.problem, self.compiled, self.limits = problem, problem.compiled, limits
        self.statement, self.notes = problem.compiled.statement, list[str]()
        self.certificate: Certificate | None = None
        self._steps = 0
        with limits.stopwatch.phase("repair"):
            matrix, outputs = raw.matrix, list(raw.outputs)
            if not as_given:
                matrix, outputs = remapped(problem, matrix, outputs)
                share = RARE * min(limits.gap, OPTIMAL)
                matrix, outputs = without_rare(problem, matrix, outputs, share)
            rows, self.kept = repair(problem.cone, matrix)
            if not problem.is_conic:
                rows = mixed(problem.cone, problem.channel_constraints, rows, problem.prior)
            labels = [outputs[y] for y in self.kept]
            if not as_given:
                rows, labels = remapped(problem, rows, labels)
        if problem.outputs is None:
            labels = list(range(len(self.kept)))
        self.channel = Channel(rows, inputs=problem.domain, outputs=labels)
        self._sign = -1 if self.maximized else 1
        if raw.numeric_bound is not None:
            self.value = problem.utility.value(self.channel, problem.prior, problem.outputs)
            sign = self._sign
            self.bound = sign * min(sign * raw.numeric_bound, sign * self.value)
            return
        allowed = list(problem.outputs or labels)
        self._columns = self.channel.columns()
        self._used = [allowed.index(label) for label in labels]
        self._readings: tuple[Fraction, ...] | None = None
        if isinstance(self.statement.objective, Reading):
            self._readings = tuple(problem.utility.decoder(self.channel, problem.prior) or ())
        with limits.stopwatch.phase("certify"):
            self._prove()

    def _value(self, certificate: Certificate | None) -> Fraction:
        """Return the objective, exactly; an estimator is made for the prior of the certificate."""
        reference = certificate.reference if certificate else None
        whole = 1 << self.channel.bits
        found = value(self.statement, self._columns, whole, self._used, self._readings, reference)
        return self._sign * found

    def _prove(self) -> None:
        """Take the certificate of the best bound that is proved in time.

        Raises
        ------
        CertificateError
            If there is none: every one is refused, and without any the objective is unbounded.
        """
        best, refused = None, list[str]()
        evident, blind = True, (grouped, _erasure, _unconstrained)
        for make in (*self.raw.proofs, *blind):
            is_evidence = make not in blind
            if best is not None and self.is_within(WIDE if make in blind[:-1] else 0.0):
                continue
            try:
                certificate = make(self.problem)
                if certificate is None:
                    continue
                most = current().proof_steps
                if is_evidence:
                    most = self.limits.proof_steps(most, STEPS_A_SECOND)
                steps = Steps(None if make is _unconstrained else most)
                with self.limits.proof():
                    found = certificate.bound(self.statement, steps)
            except LimitError as error:
                if not is_evidence:
                    continue
                self.notes.append(f"a closer bound is not proved, {too_long(error, self.limits)}")
            except (CertificateError, ArithmeticError, ValueError) as error:
                if is_evidence or make is _unconstrained:
                    refused.append(str(error))
            else:
                if best is None or found > best:
                    before, self.certificate = self.certificate, certificate
                    if before is None or before.reference != certificate.reference:
                        self.value = self._value(certificate)
                    best, evident, self.bound = found, is_evidence, self._sign * found
                    self._steps = steps.spent
        if best is None or (refused and not evident):
            raise CertificateError(refused[0] if refused else "no bound is proved")

    def _asked_of_readers(self) -> list[str]:
        """Return what a reader must allow, where the file asks for more work than usual."""
        n, usual = len(self.channel.outputs), Resources().steps
        needed = privacy_steps(self.compiled, n)
        if self.certificate is not None:
            needed = max(self._steps, needed + value_steps(self.statement, n))
        if needed > usual:  # the entries of the file allow more
            proof = [] if self.certificate is None else write(self.certificate)
            usual += STEPS_PER_ENTRY * (2 * self.channel.numerators.size + entries_of(proof))
        if needed <= usual:
            return []
        more = 10 ** len(str(needed))
        return [f"a reader must allow more work: verify with --allow steps={more}"]

    @property
    def reference(self) -> Prior:
        """The prior that estimators are made for: the problem's, or that of the certificate."""
        named = self.certificate.reference if self.certificate else None
        if named is not None:
            return Prior(named)
        return self.problem.utility.reference(self.problem.prior)

    def is_within(self, gap: float) -> bool:
        """Return whether the gap is what was asked for, or what counts as optimal if larger."""
        wanted = 0.999 * max(OPTIMAL_GAP, gap)
        return relative_gap(float(self.value), float(self.bound)) <= wanted

    def is_worse_than(self, value: float | None) -> bool:
        """Return whether a value in floats is better by more than rounding; True for None."""
        own, sign = float(self.value), -1 if self.maximized else 1
        return value is None or sign * value < sign * own - ROUNDING * abs(own)

    def merged(self, other: Candidate) -> Candidate:
        """Return the better channel of two with the better bound of the two."""
        sign = -1 if self.maximized else 1
        best = self if sign * self.value <= sign * other.value else other
        strongest = self if sign * self.bound >= sign * other.bound else other
        made_for = best.reference
        best.bound, best.certificate = strongest.bound, strongest.certificate
        best.notes, best._steps = strongest.notes, strongest._steps
        if best.reference != made_for:  # an estimator for another prior has another risk
            best.value = best._value(best.certificate)
        return best

    def solution(
        self, considered: Iterable[RejectedRoute] = (), notes: Sequence[str] = ()
    ) -> Solution:
        """Return the candidate as the answer.

        Parameters
        ----------
        considered
            Closed forms that do not apply.
        notes
            What is said after the notes of the route.

        Raises
        ------
        CertificateError
            If the kernel does not confirm a notion.
        """
        unused = _unused(self.problem, self.channel)
        with self.limits.stopwatch.phase("certify"):
            privacy = _claims(self.problem, self.channel)
        read = isinstance(self.statement.objective, Reading) and self.certificate is not None
        return Solution(
            problem=self.problem,
            channel=self.channel,
            value=self.value,
            bound=self.bound,
            privacy=privacy,
            route=self.raw.route,
            why=self.why,
            considered=tuple(considered),
            notes=(*self.raw.notes, *unused, *self.notes, *self._asked_of_readers(), *notes),
            certificate=self.certificate,
            readings=self._readings if read else None,
            seconds=self.limits.stopwatch.seconds,
            timings=dict(self.limits.stopwatch.timings),
        )


def _erasure(problem: Problem) -> Certificate | None:
    """Prove the bound that a lower bound on the lift implies, for few inputs."""
    return erasure(problem.compiled) if len(problem.domain) <= MOST_FACETS else None


def too_long(error: LimitError, limits: Limits) -> str:
    """Return why a proof was not finished."""
    if limits.interrupted:
        return "because of an interrupt"
    if math.isfinite(limits.seconds):
        return "because the time is over"
    return f"because {error.key} takes {error.given} steps; {error.hint}"


def _unconstrained(problem: Problem) -> Certificate:
    """Prove the bound that ignores privacy."""
    return nothing_constrained(problem.compiled)


def _claims(problem: Problem, channel: Channel) -> tuple[PrivacyClaim, ...]:
    """Let the kernel confirm every notion, and measure the leakage of each."""
    compiled, columns, whole = problem.compiled, channel.columns(), 1 << channel.bits
    claims = []
    asked = zip(
        problem.privacy,
        compiled.table.privacy,
        problem.cone.families,
        problem.channel_constraints,
        strict=True,
    )
    for notion, table, family, constraint in asked:
        broken = private(compiled.alone(table), columns, whole)
        if broken is not None:
            raise CertificateError(f"{notion.name}: the repaired channel is not private: {broken}")
        claims.append(PrivacyClaim(notion, (constraint or family).leakage(channel)))
    return tuple(claims)


def _unused(problem: Problem, channel: Channel) -> list[str]:
    if problem.outputs is None:
        return []
    unused = len(problem.outputs) - len(channel.outputs)
    if not unused:
        return []
    verb = "is" if unused == 1 else "are"
    return [
        f"{unused} of the {len(problem.outputs)} outputs allowed {verb} never sent and left out"
    ]
