"""The facade: find, repair, certify.

problem -> rows and cost -> raw matrix and dual -> exact channel -> certified solution
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from mechdesign.certify.privacy import check
from mechdesign.certify.saved import OPTIMAL_GAP, prove, relative_gap
from mechdesign.certify.statement import Statement, read_statement
from mechdesign.channel import Channel
from mechdesign.errors import CertificateError, InputError, SolverError, shown
from mechdesign.exact import fraction_text
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.repair import mixed, repair
from mechdesign.routes import Attempt, Considered, Dual, RawSolution, plan
from mechdesign.routes.base import EstimationData
from mechdesign.solution import PrivacyClaim, Solution

if TYPE_CHECKING:
    from mechdesign.routes.custom import OwnTerms

__all__ = ["design"]

WORTH_SAVING = 1e-16
"""Dual weights below this share of the largest are left out."""


def design(
    problem: Problem,
    *,
    route: str = "auto",
    constraints: Iterable[Any] = (),
    objective: Any = None,
) -> Solution:
    """Design the best private channel for a problem, and prove both.

    Parameters
    ----------
    problem
        What to keep secret and what to keep useful.
    route
        ``"auto"``, ``"closed-form"``, ``"linear-program"``, ``"decoder-grid"``, ``"extreme-rays"``,
        or ``"cvxpy:NAME"`` for a solver that cvxpy knows. Whatever the route, the channel is
        repaired and certified in the same way.
    constraints
        Constraints of your own, in cvxpy, on ``problem.Q`` and ``problem.law``. The channel is
        private exactly; your constraints hold to what the report says.
    objective
        An objective of your own, ``cp.Minimize(...)``, ``cp.Maximize(...)`` or an expression to be
        minimised, in place of the problem's utility.

    Returns
    -------
    Solution
        Its channel satisfies every notion exactly; its bound is rigorous, or, with terms of your
        own, computed in floating point.

    Raises
    ------
    InputError, UnsupportedError
        If the route does not exist or does not solve such a problem.
    SolverError
        If every way that the route has to try failed.

    Examples
    --------
    >>> from mechdesign.notions import LIP
    >>> from mechdesign.utilities import PosteriorMeanSquaredError
    >>> survey = Problem(["yes", "no"], LIP(1), PosteriorMeanSquaredError(values=[1, 0]),
    ...                  prior=[0.1, 0.9])
    >>> solution = design(survey)
    >>> solution.status, round(float(solution.value), 7), solution.route
    ('optimal', 0.0791384, 'closed-form: binary universal')

    With a constraint of your own, that the reports are distributed as the answers are:

    >>> from mechdesign.utilities import HammingLoss
    >>> survey = Problem(["yes", "no"], LIP(1), HammingLoss(), prior=[0.1, 0.9])
    >>> fair = design(survey, constraints=[survey.law == [0.1, 0.9]])
    >>> fair.status, round(float(fair.value), 6), fair.bound_proved
    ('optimal', 0.145634, False)
    """
    start = time.perf_counter()
    own = _own_terms(problem, constraints, objective)
    problem = problem if own is None else own.problem
    statement = read_statement(problem.to_table())
    considered: list[Considered] = []
    failures: list[str] = []
    best: _Proved | None = None
    attempts = (
        plan(problem, route, considered)
        if own is None
        else iter([Attempt(lambda: own.solve(route), own.why())])
    )
    for attempt in attempts:
        try:
            raw = attempt.run()
        except SolverError as error:
            failures.append(str(error))
            continue
        more = None if attempt.numeric_bound is None else attempt.numeric_bound()
        dual = raw.dual or more
        try:
            proved = _Proved(problem, statement, raw, attempt, dual)
        except CertificateError as error:
            if not problem.utility.tells_inputs_apart:
                raise
            failures.append(str(error))  # rows that should differ by less than 2**-62
            continue
        best = proved if best is None else best.merged(proved)
        if best.is_optimal:
            break
    if best is None:
        raise SolverError("; ".join(failures) or "no route gave an answer")
    notes = [*best.raw.notes, *_notes(problem, best.channel), *failures]
    if own is not None:
        notes += own.notes(best.channel)
    return Solution(
        problem=problem,
        channel=best.channel,
        value=best.value,
        bound=best.bound,
        privacy=_claims(problem, statement, best.channel),
        route=best.raw.route,
        why=best.why,
        considered=tuple(considered),
        notes=tuple(notes),
        certificate=best.certificate,
        decoder=problem.utility.decoder(best.channel, best.reference),
        seconds=time.perf_counter() - start,
    )


def _own_terms(problem: Problem, constraints: Iterable[Any], objective: Any) -> OwnTerms | None:
    """Return the terms of the user's own, None if there are none."""
    try:
        listed = tuple(constraints)
    except TypeError:
        expected = "a list of cvxpy constraints"
        raise InputError("constraints", expected, shown(constraints)) from None
    if objective is None and not listed:
        return None
    from mechdesign.routes.custom import OwnTerms  # cvxpy on demand

    return OwnTerms(problem, listed, objective)


class _Proved:
    """A repaired channel with its value, and the bound that a certificate proves."""

    def __init__(
        self,
        problem: Problem,
        statement: Statement,
        raw: RawSolution,
        attempt: Attempt,
        dual: Dual | None,
    ) -> None:
        self.raw, self.why, self.maximised = raw, attempt.why, problem.utility.is_maximised
        self.problem = problem
        rows, kept = repair(problem.cone, raw.matrix)
        if not problem.is_conic:
            rows = mixed(problem.cone, problem.rules, rows, problem.prior)
        labels = [raw.outputs[y] for y in kept]
        if problem.outputs is None:
            labels = list(range(len(kept)))
        self.channel = Channel(rows, inputs=problem.domain, outputs=labels)
        self.certificate: dict[str, Any] = {
            "theorem": attempt.theorem,
            **attempt.theorem_data,
            "dual": None if dual is None else _dual_table(problem, dual),
        }
        if raw.numeric_bound is not None:
            self.certificate = {"theorem": None, "dual": None, "numeric": True}
            self.value = problem.utility.value(self.channel, problem.prior, problem.outputs)
            sign = -1 if self.maximised else 1
            self.bound = sign * min(sign * raw.numeric_bound, sign * self.value)
            return
        allowed = problem.outputs or labels
        used = [list(allowed).index(label) for label in labels]
        columns = self.channel.columns()
        self._prove = partial(prove, statement, columns=columns, used=used, bits=self.channel.bits)
        self.value, self.bound = self._prove(self.certificate)

    @property
    def reference(self) -> Prior:
        """The prior that estimators are made for: the problem's, or that of the certificate."""
        named = (self.certificate["dual"] or {}).get("prior")
        if named is not None:
            return Prior(named)
        return self.problem.utility.reference(self.problem.prior)

    @property
    def is_optimal(self) -> bool:
        return relative_gap(float(self.value), float(self.bound)) <= 0.999 * OPTIMAL_GAP

    def merged(self, other: _Proved) -> _Proved:
        """Return the better channel of two with the better bound of the two."""
        sign = -1 if self.maximised else 1
        best = self if sign * self.value <= sign * other.value else other
        strongest = self if sign * self.bound >= sign * other.bound else other
        made_for = best.reference
        best.bound, best.certificate = strongest.bound, strongest.certificate
        if best.reference != made_for:  # an estimator for another prior has another risk
            best.value, best.bound = best._prove(best.certificate)
        return best


def _dual_table(problem: Problem, dual: Dual) -> dict[str, Any]:
    """Return dual weights as a saved file has them."""
    rows = []
    for family in dual.families:
        own_prior = family.priors == (problem.prior.probabilities,)
        top = max((float(m.weight.max(initial=0.0)) for m in family.multipliers), default=0.0)
        for side in dict.fromkeys(m.side for m in family.multipliers):
            block: dict[str, Any] = {"notion": family.notion, "side": side}
            block |= {"output": [], "x": [], "other": [], "weight": []}
            for m in family.multipliers:
                if m.side == side:
                    kept = m.weight > WORTH_SAVING * top
                    for key in ("output", "x", "other", "weight"):
                        block[key] += getattr(m, key)[kept].tolist()
            if family.priors and not own_prior:
                block["priors"] = [[fraction_text(p) for p in prior] for prior in family.priors]
            rows.append(block)
    weights = None if dual.weights is None else (dual.weights / dual.weights.sum()).tolist()
    table: dict[str, Any] = {"weights": weights, "rows": rows}
    if dual.information is not None:
        multipliers = {str(n): price for n, price in dual.information.multipliers.items()}
        levels = dual.information.levels.tolist()
        table["information"] = {"multipliers": multipliers, "levels": levels}
    if dual.decoders is not None:
        table["decoders"] = [fraction_text(s) for s in dual.decoders]
    if dual.potential is not None:
        table["potential"], table["search"] = dual.potential.tolist(), dual.search
        if dual.levels is not None:
            table["levels"] = dual.levels.tolist()
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


def _estimation_table(data: EstimationData) -> dict[str, Any]:
    """Return the evidence for a risk of estimation as a saved file has it."""
    table: dict[str, Any] = {"estimator": data.rows.tolist()}
    if data.tangents is not None:
        table["tangents"] = data.tangents.tolist()
    if data.prior is not None:
        table["prior"] = [fraction_text(p) for p in data.prior]
    return table


def _claims(problem: Problem, statement: Statement, channel: Channel) -> tuple[PrivacyClaim, ...]:
    """Let the checker confirm every notion, and measure the leakage of each."""
    columns = channel.columns()
    claims = []
    asked = zip(problem.privacy, problem.cone.families, problem.rules, strict=True)
    for notion, family, rule in asked:
        broken = check(statement, notion.to_table(), columns)
        if broken is not None:
            raise CertificateError(f"{notion.name}: the repaired channel is not private: {broken}")
        claims.append(PrivacyClaim(notion, (rule or family).leakage(channel)))
    return tuple(claims)


def _notes(problem: Problem, channel: Channel) -> list[str]:
    if problem.outputs is None:
        return []
    unused = len(problem.outputs) - len(channel.outputs)
    if not unused:
        return []
    verb = "is" if unused == 1 else "are"
    return [f"{unused} of the {len(problem.outputs)} outputs allowed {verb} never used: left out"]
