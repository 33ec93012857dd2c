"""The route by closed forms: the first formula whose condition holds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mechdesign import outside
from mechdesign.closed_forms import CLOSED_FORMS, ClosedForm
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.cones.price_search import price_search
from mechdesign.routes.limits import Limits
from mechdesign.routes.route import Considered, Route, Verdict, recommended
from mechdesign.utilities import ColumnUtility, ConvexUtility, EstimationRisk

__all__ = ["ClosedForms"]

BOUND_UP_TO_LINEAR, BOUND_UP_TO = 64, 16
"""Inputs up to which a numeric bound is sought beside that of a theorem: for a linear loss, and for
other utilities, where it takes longer."""


class _Choice(NamedTuple):
    """The first closed form that holds, with the reason, and those that do not."""

    form: ClosedForm | None
    reason: str
    considered: tuple[Considered, ...]


class ClosedForms(Route):
    """Takes the first closed form whose condition holds.

    A theorem bounds the optimum with room for the rounding of its exponentials. On small problems
    the dual variables of a numeric route are given beside it, since their bound may be closer.

    Parameters
    ----------
    numeric
        The routes that such dual variables come from.
    """

    name = "closed-form"
    summary = "a formula, where the condition under which it is optimal holds"
    allows_non_conic = True

    def __init__(self, numeric: Sequence[Route]) -> None:
        self._numeric = numeric

    def check(self, problem: Problem) -> Verdict:
        """Ask every closed form."""
        form, reason, considered = _choose(problem)
        return Verdict(form is not None, reason, considered=considered)

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Evaluate the formula."""
        form, reason, _ = _choose(problem)
        if form is None:
            raise UnsupportedError("route", "a problem with a closed form", reason)
        found, utility = form.formula(problem), problem.utility
        route = f"closed-form: {form.name}"
        if isinstance(utility, ColumnUtility) and not utility.exact:
            gain = utility.on(problem.domain).gain(found.matrix, problem.prior.array)
            best = utility.objective_at(float(gain.sum()), problem.domain, problem.prior)
            return RawSolution(found.matrix, found.outputs, None, route, numeric_bound=best)
        return RawSolution(
            found.matrix,
            found.outputs,
            self._dual(problem, form, limits),
            route,
            theorem=form.theorem,
            theorem_data=form.theorem_data(problem),
        )

    def _dual(self, problem: Problem, form: ClosedForm, limits: Limits) -> Dual | None:
        """Return the form's own, or those of a numeric route; None where none are needed."""
        prices = form.prices(problem)
        if prices is not None:
            return Dual((), potentials=prices, search=price_search(problem))
        size, utility = len(problem.domain), problem.utility
        risk = isinstance(utility, EstimationRisk)
        by_classes = risk and (size > BOUND_UP_TO or form.theorem is None)
        most = BOUND_UP_TO_LINEAR if utility.linear_form is utility else BOUND_UP_TO
        if form.theorem_is_tight or not (by_classes or size <= most):
            return None
        try:
            if by_classes:
                from mechdesign.routes.estimation_risk.solve import class_dual  # scipy on demand

                return class_dual(problem, limits)
            first = next(recommended(self._numeric, problem), None)
            return None if first is None else first.route.solve(problem, limits).dual
        except Exception as error:
            if not limits.is_failure(error):
                raise
            return None


@lru_cache(maxsize=4)
def _choose(problem: Problem) -> _Choice:
    """Ask every closed form; cached, since a route is checked before it solves."""
    considered: list[Considered] = []
    chosen, why = None, "no closed form applies"
    if isinstance(problem.utility, ConvexUtility):
        return _Choice(None, why, ())
    for form in CLOSED_FORMS:
        if not (problem.is_conic or form.allows_non_conic):
            continue
        if problem.utility.states_decoder and not form.allows_readings:
            continue
        try:
            verdict = form.check(problem)
        except (SolverError, *outside.NUMERICAL) as error:
            considered.append(Considered(form.name, f"not decided: {outside.failure(error)}"))
            continue
        if verdict.holds and chosen is None:
            chosen, why = form, verdict.reason
        if not verdict.holds and verdict.relevant:
            considered.append(Considered(form.name, verdict.reason))
    return _Choice(chosen, why, tuple(considered))
