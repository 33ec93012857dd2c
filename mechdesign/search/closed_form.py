"""The route by closed forms: the first formula whose condition holds."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

from mechdesign import solver_guard
from mechdesign.closed_forms import CLOSED_FORMS, ClosedForm, Optimum
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import Proof
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import RejectedRoute, Route
from mechdesign.utilities import ColumnUtility, ConvexUtility, EstimationRisk


class _Choice(NamedTuple):
    """The first closed form that applies, and those that do not."""

    form: ClosedForm | None
    optimum: Optimum | None
    rejected: tuple[RejectedRoute, ...]


class ClosedForms(Route):
    """Takes the first closed form whose condition holds, with the form's own certificate."""

    name = "closed-form"
    summary = "a formula, if the condition for its optimality holds"
    allows_non_conic = True

    matrices = 3

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Return the reason of the first closed form that applies."""
        optimum = _choose(problem).optimum
        return None if optimum is None else optimum.reason

    def rejected(self, problem: Problem) -> tuple[RejectedRoute, ...]:
        """Return the closed forms that a reader would expect, and why they do not apply."""
        return _choose(problem).rejected

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Evaluate the formula."""
        form, optimum, rejected = _choose(problem)
        if form is None or optimum is None:
            reasons = "; ".join(f"{one.name}: {one.reason}" for one in rejected)
            raise UnsupportedError("route", "a problem with a closed form", reasons or "another")
        found, utility = optimum.formula(), problem.utility
        route = f"closed-form: {form.name}"
        if isinstance(utility, ColumnUtility) and not utility.exact:
            gain = utility.on(problem.domain).gain(found.matrix, problem.prior.array)
            best = utility.objective_at(float(gain.sum()), problem.domain, problem.prior)
            return RawSolution(found.matrix, found.outputs, (), route, numeric_bound=best)
        proofs: list[Proof] = [lambda _: optimum.certificate()]
        if optimum.prices is not None:
            from mechdesign.search.cones.proofs import linear_proof  # scipy

            prices = optimum.prices()
            proofs = [linear_proof((), found.matrix, limits.gap, potentials=prices)]
        elif isinstance(utility, EstimationRisk):
            from mechdesign.search.estimation_risk.proofs import channel_proof  # scipy

            proofs.append(partial(channel_proof, found.matrix))
        return RawSolution(found.matrix, found.outputs, proofs, route)


@lru_cache(maxsize=4)
def _choose(problem: Problem) -> _Choice:
    """Try every closed form; cached, since a route is checked before it solves."""
    rejected: list[RejectedRoute] = []
    chosen, optimum = None, None
    if isinstance(problem.utility, ConvexUtility):
        return _Choice(None, None, ())
    for form in CLOSED_FORMS:
        if not (problem.is_conic or form.allows_non_conic):
            continue
        if problem.utility.states_decoder and not form.allows_readings:
            continue
        try:
            found = form.decide(problem)
        except (SolverError, *solver_guard.NUMERICAL) as error:
            rejected.append(RejectedRoute(form.name, f"not decided: {solver_guard.failure(error)}"))
            continue
        if isinstance(found, Optimum):
            if chosen is None:
                chosen, optimum = form, found
        elif found:
            rejected.append(RejectedRoute(form.name, found))
    return _Choice(chosen, optimum, tuple(rejected))
