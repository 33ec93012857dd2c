"""A candidate: the answer of a route, repaired to be exactly private, with its proof.

raw channel and dual variables -> exact channel -> value, bound, certificate -> solution
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.certify.bounds.duality import value
from mechdesign.certify.bounds.readings import Readings
from mechdesign.certify.channel_file import OPTIMAL_GAP, relative_gap
from mechdesign.certify.privacy.check import check
from mechdesign.certify.problem import Statement
from mechdesign.certify.proof import prove
from mechdesign.channel import Channel
from mechdesign.designs.multiplier_tables import multiplier_tables
from mechdesign.designs.solution import PrivacyClaim, Solution
from mechdesign.errors import CertificateError, LimitError
from mechdesign.exact import fraction_text
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.repair import mixed, repair
from mechdesign.resources import STEPS_PER_ENTRY, Resources, allow, counted, entries_of
from mechdesign.routes import Considered, Dual, RawSolution
from mechdesign.routes.base import EstimationData
from mechdesign.routes.limits import OPTIMAL, Limits
from mechdesign.routes.starts.remapping import remapped, without_rare

__all__ = ["Candidate"]

SPARE = 0.1
"""The share of the gap that leaving out and rounding multipliers may cost."""

RARE = 0.3
"""The share of the gap that outputs may cost which are left out as they are next to never sent."""

ROUNDING = 1e-8
"""A share of a value that rounding and the repair may change."""

LEAST_NUMBER = 1e-290
"""Smaller numbers are written as 0: a bound holds for any dual variables."""


UNLIMITED = 10**18
READINGS = 4
"""How often a reader checks each notion, and one more time for what reading takes."""

NO_DATA: dict[str, Any] = {"theorem": None, "dual": None}
"""The certificate of the bound that needs none: that of the channel that tells everything."""


class Candidate:
    """A repaired channel with its value, and the bound that a certificate proves.

    Parameters
    ----------
    problem, statement
        What was asked, and the same as the checker reads it.
    raw, why
        The answer of a route, and the reason for the route.
    limits
        What ends the proof, and measures it and the repair.

    Raises
    ------
    CertificateError
        If rows that should differ do so by less than the channel's integers can tell.
    """

    def __init__(
        self,
        problem: Problem,
        statement: Statement,
        raw: RawSolution,
        why: str,
        limits: Limits,
    ) -> None:
        self.raw, self.why, self.maximized = raw, why, problem.utility.is_maximized
        self.problem, self.statement, self.limits = problem, statement, limits
        self.notes: list[str] = []
        self.steps = self.entries = 0
        self.readings: Readings | None = None
        with limits.stopwatch.phase("repair"):
            matrix, outputs = remapped(problem, raw.matrix, raw.outputs)
            share = RARE * min(limits.gap, OPTIMAL)
            matrix, outputs = without_rare(problem, matrix, outputs, share)
            rows, kept = repair(problem.cone, matrix)
            if not problem.is_conic:
                rows = mixed(problem.cone, problem.channel_constraints, rows, problem.prior)
            rows, labels = remapped(problem, rows, [outputs[y] for y in kept])
        if problem.outputs is None:
            labels = list(range(len(kept)))
        self.channel = Channel(rows, inputs=problem.domain, outputs=labels)
        if raw.numeric_bound is not None:
            self.certificate: dict[str, Any] = {**NO_DATA, "numeric": True}
            self.value = problem.utility.value(self.channel, problem.prior, problem.outputs)
            sign = -1 if self.maximized else 1
            self.bound = sign * min(sign * raw.numeric_bound, sign * self.value)
            return
        allowed = problem.outputs or labels
        used = [list(allowed).index(label) for label in labels]
        columns = self.channel.columns()
        self._columns, self._used = columns, used
        if problem.utility.states_decoder:
            self.readings = Readings.of(problem.utility.decoder(self.channel, problem.prior) or ())
        with limits.stopwatch.phase("certify"):
            dual = None if raw.dual is None else self._dual(raw.dual)
        self.certificate = {"theorem": raw.theorem, **raw.theorem_data, "dual": dual}
        self._prove()

    def _dual(self, given: Dual) -> dict[str, Any]:
        """Return dual variables as a file has them: feasible prices, and no needless multipliers.

        What multipliers may take off the bound is a share of the gap that was aimed at, or of that
        which the search left.
        """
        from mechdesign.routes.column_generation.feasible_prices import (  # scipy on demand
            feasible_prices,
            multiplier_bound,
        )

        problem, dual = self.problem, feasible_prices(self.problem, given)

        def spare() -> float:
            exact = value(
                self.statement,
                self._columns,
                self._used,
                self.channel.bits,
                readings=self.readings,
            )
            found = float(exact)
            loss = float(problem.utility.ceiling) - found if self.maximized else found
            bound = multiplier_bound(problem, dual)
            return SPARE * max(self.limits.gap * loss, 0.0 if bound is None else loss - bound)

        return _dual_table(problem, dual, spare)

    def _prove(self) -> None:
        """Compute the value, and the bound of the first certificate that is proved in time.

        A proof that takes more steps than `resources` allows, or more time than there is, is left
        for a cheaper one. The cheapest needs no data: it is that of the channel that tells
        everything.
        """
        self.steps = self.entries = 0
        stop = self.limits.proof_stop()
        with self.limits.stopwatch.phase("certify"):
            for certificate in list(self._certificates()):
                entries = entries_of(certificate)
                try:
                    with counted(self._in_file(entries), stop) as work:
                        self._take(certificate)
                except LimitError as error:
                    self.notes.append(f"a closer bound is not proved: {error}")
                else:
                    self.steps, self.entries = work.apart, entries
                    return
            self._take(NO_DATA)

    def _in_file(self, entries: int) -> int:
        """Return how many entries a file has at least: those of both matrices and of the proof."""
        return 2 * self.channel.numerators.size + entries

    def _most_steps(self) -> int:
        """Return how many steps a reader allows for the bound."""
        return Resources().steps + STEPS_PER_ENTRY * self._in_file(self.entries)

    def _certificates(self) -> Iterator[dict[str, Any]]:
        """Yield the certificate, and then its parts."""
        given = self.certificate
        yield given
        if given["theorem"] is not None and given["dual"] is not None:
            yield {**given, "dual": None}
            yield {"theorem": None, "dual": given["dual"]}

    def _take(self, certificate: dict[str, Any]) -> None:
        self.value, self.bound = prove(
            self.statement,
            certificate,
            self._columns,
            self._used,
            self.channel.bits,
            self.readings,
        )
        self.certificate = certificate

    @property
    def reference(self) -> Prior:
        """The prior that estimators are made for: the problem's, or that of the certificate."""
        named = (self.certificate["dual"] or {}).get("prior")
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
        best.notes, best.steps = strongest.notes, strongest.steps
        best.entries = strongest.entries
        if best.reference != made_for:  # an estimator for another prior has another risk
            best._prove()
        return best

    def solution(
        self, considered: Iterable[Considered] = (), notes: Sequence[str] = ()
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
            If the checker does not confirm a notion.
        """
        unused = _unused(self.problem, self.channel)
        with (
            self.limits.stopwatch.phase("certify"),
            allow(steps=UNLIMITED),
            counted() as work,
        ):
            privacy = _claims(self.problem, self.statement, self.channel)
        needed = max(self.steps, READINGS * work.spent)
        if needed > self._most_steps():
            more = 10 ** len(str(needed))
            notes = [*notes, f"a reader must allow more work: verify with --allow steps={more}"]
        return Solution(
            problem=self.problem,
            channel=self.channel,
            value=self.value,
            bound=self.bound,
            privacy=privacy,
            route=self.raw.route,
            why=self.why,
            considered=tuple(considered),
            notes=(*self.raw.notes, *unused, *self.notes, *notes),
            certificate=self.certificate,
            decoder=(
                self.problem.utility.decoder(self.channel, self.reference)
                if self.readings is None
                else tuple(self.readings.numbers)
            ),
            seconds=self.limits.stopwatch.seconds,
            timings=dict(self.limits.stopwatch.timings),
        )


def _dual_table(problem: Problem, dual: Dual, spare: Callable[[], float]) -> dict[str, Any]:
    """Return dual variables as a saved file has them; `spare` is for `multiplier_tables`."""
    counted_by = dual.decoders or problem.guesses
    rows = multiplier_tables(problem, dual.families, len(counted_by), spare)
    on_inputs = dual.input_multipliers
    weights = None if on_inputs is None else (on_inputs / on_inputs.sum()).tolist()
    table: dict[str, Any] = {"weights": weights, "rows": rows, **dual.evidence}
    if dual.information is not None:
        multipliers = {str(n): value for n, value in dual.information.multipliers.items()}
        levels = _listed(dual.information.potentials)
        table["information"] = {"multipliers": multipliers, "levels": levels}
    if dual.decoders is not None:
        table["decoders"] = [fraction_text(s) for s in dual.decoders]
    if dual.potentials is not None and dual.search:
        table |= {"potential": _listed(dual.potentials), "search": dual.search}
        if dual.decoder_potentials is not None:
            table["levels"] = _listed(dual.decoder_potentials)
        if dual.tree is not None:
            table["tree"] = dual.tree.to_list()
        if dual.estimation is not None:
            table |= _estimation_table(dual.estimation)
        if dual.priors:
            table["priors"] = {
                str(n): [[fraction_text(p) for p in prior] for prior in priors]
                for n, priors in dual.priors.items()
            }
    return table


def _listed(numbers: FloatArray) -> list[Any]:
    """Return dual variables as lists; those that the checker would not read as numbers as 0."""
    found: list[Any] = np.where(np.abs(numbers) < LEAST_NUMBER, 0.0, numbers).tolist()
    return found


def _estimation_table(data: EstimationData) -> dict[str, Any]:
    """Return the evidence for a risk of estimation as a saved file has it."""
    table: dict[str, Any] = {"estimator": _listed(data.rows)}
    if data.tangents is not None:
        table["tangents"] = data.tangents.tolist()
    if data.prior is not None:
        table["prior"] = [fraction_text(p) for p in data.prior]
    return table


def _claims(problem: Problem, statement: Statement, channel: Channel) -> tuple[PrivacyClaim, ...]:
    """Let the checker confirm every notion, and measure the leakage of each."""
    columns = channel.columns()
    claims = []
    asked = zip(
        problem.privacy,
        statement.privacy,
        problem.cone.families,
        problem.channel_constraints,
        strict=True,
    )
    for notion, table, family, constraint in asked:
        broken = check(statement, table, columns)
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
    return [f"{unused} of the {len(problem.outputs)} outputs allowed {verb} never used: left out"]
