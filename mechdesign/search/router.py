"""The router: a loop over the registry of routes, which yields those to try, best first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mechdesign.errors import InputError, UnsupportedError, did_you_mean, shown
from mechdesign.problem import Problem
from mechdesign.search.closed_form import ClosedForms
from mechdesign.search.coarse.route import Coarse
from mechdesign.search.column_generation.route import ColumnGeneration
from mechdesign.search.conic.route import Cvxpy, NonConic
from mechdesign.search.decoders.route import DecoderGrid
from mechdesign.search.estimation_risk.route import Estimation
from mechdesign.search.interior.route import InteriorPoint
from mechdesign.search.lp.route import LinearProgram
from mechdesign.search.rays.route import ExtremeRays
from mechdesign.search.readings.route import UnbiasedReadings
from mechdesign.search.route import Attempt, RejectedRoute, Route, recommended, too_large
from mechdesign.utilities import BayesAccuracy, ConvexUtility

if TYPE_CHECKING:
    from mechdesign.search.presolve.symmetry_group import Symmetry

__all__ = ["AUTO", "NOISE", "NUMERIC", "ROUTES", "plan"]

AUTO = "auto"
"""The word for the router's own choice."""

NOISE = "noise"
"""The word for a structured mechanism, which has no matrix, in the place of a route."""

NUMERIC: tuple[Route, ...] = (
    ColumnGeneration(),
    Coarse(),
    InteriorPoint(),
    LinearProgram(),
    DecoderGrid(),
    ExtremeRays(),
    Estimation(),
    UnbiasedReadings(),
    NonConic(),
    Cvxpy(),
)
"""The routes that compute, in the order in which the router tries those that it recommends."""

ROUTES: dict[str, Route] = {route.name: route for route in (ClosedForms(), *NUMERIC)}
"""Every route by name."""


def plan(
    problem: Problem,
    route: str,
    considered: list[RejectedRoute],
    symmetry: Symmetry | None = None,
    memory: float = math.inf,
) -> Iterator[Attempt]:
    """Yield the routes to try on a problem, best first, each with the reason.

    Parameters
    ----------
    problem
        What to solve.
    route
        ``"auto"``, or one of :data:`ROUTES` by name, as in ``"cvxpy:CLARABEL"``.
    considered
        Filled with the closed forms that do not apply, and the routes that are too large.
    symmetry
        Symmetries that the user has named. What they leave comes first.
    memory
        Bytes that a route may hold.

    Raises
    ------
    InputError
        If there is no such route.
    UnsupportedError
        If no route solves the problem.
    """
    given: Any = route
    name, _, setting = route.partition(":") if isinstance(given, str) else ("", "", "")
    if name not in (AUTO, *ROUTES):
        known = (AUTO, *ROUTES, NOISE)
        hint = did_you_mean(name, known)
        raise InputError("route", f"one of {', '.join(known)}", shown(route), hint)
    if not problem.is_conic:
        _check_non_conic(problem, name)
    if symmetry is not None:
        yield from _by_symmetry(problem, name, symmetry)
    none, before = True, len(considered)
    for attempt in _attempts(problem, name, setting.strip(), considered, memory):
        none = False
        yield attempt
    if none and not any(one.name in ROUTES for one in considered[before:]):
        reasons = "; ".join(f"{c.name}: {c.reason}" for c in considered)
        raise UnsupportedError(
            "utility.objective" if name == AUTO else "route",
            "a problem that this route solves",
            f"{problem.utility.name} on {len(problem.domain)} inputs",
            reasons or ("no route applies" if name == AUTO else ROUTES[name].check(problem).reason),
        )


def _attempts(
    problem: Problem, name: str, setting: str, considered: list[RejectedRoute], memory: float
) -> Iterator[Attempt]:
    """Yield the route that is named with its alternatives, or all that are recommended."""
    if name == AUTO:
        if setting:
            raise InputError("route", "auto with nothing after it", shown(f"auto:{setting}"))
        formula = ROUTES[ClosedForms.name]
        considered += formula.check(problem).considered
        yield from recommended([formula], problem)
        yield from recommended(NUMERIC, problem, memory, considered)
        return
    route = ROUTES[name].configured(setting)
    verdict = route.check(problem)
    considered += verdict.considered
    if verdict.holds and route.memory(problem) > memory:
        considered.append(too_large(route, problem, memory))
    elif verdict.holds:
        yield Attempt(route, verdict.reason)
        if not setting:
            for other in route.alternatives(problem):
                yield Attempt(other, verdict.reason)


def _by_symmetry(problem: Problem, name: str, symmetry: Symmetry) -> Iterator[Attempt]:
    """Yield the routes that use symmetries named by the user."""
    using = {route.name: route.with_symmetry(symmetry) for route in NUMERIC}
    knowing = [AUTO, *(known for known, route in using.items() if route is not None)]
    if name not in knowing:
        raise UnsupportedError("route", f"one of {', '.join(knowing)}", name)
    for route in using.values():
        if route is not None and route.check(problem).holds:
            yield Attempt(route, "what the symmetries named leave is solved")


def _check_non_conic(problem: Problem, name: str) -> None:
    """Refuse what cannot be solved under a constraint on the whole channel."""
    notion, utility = problem.non_conic[0], problem.utility
    able = [AUTO, *(route.name for route in ROUTES.values() if route.allows_non_conic)]
    if name not in able:
        expected = f"one of {', '.join(able)}, as {notion} is about the whole channel"
        raise UnsupportedError("route", expected, name)
    convex = utility.linear_form is not None or isinstance(utility, ConvexUtility)
    if not convex and not ROUTES[ClosedForms.name].check(problem).holds:
        expected = f"an expected or worst-case loss, or {BayesAccuracy.name}, beside {notion}"
        given = f"{utility.name}, which is solved by extreme rays, and there are none"
        raise UnsupportedError("utility.objective", expected, given)
