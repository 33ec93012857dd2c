"""The router: it selects routes from the registry, the best first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from mechdesign.errors import InputError, UnsupportedError, did_you_mean, shown
from mechdesign.problem import Problem
from mechdesign.search.closed_form import ClosedForms
from mechdesign.search.conic.route import Cvxpy, NonConic
from mechdesign.search.limits import Limits
from mechdesign.search.route import RejectedRoute, Route
from mechdesign.search.routes import (
    Coarse,
    ColumnGeneration,
    DecoderGrid,
    Estimation,
    ExtremeRays,
    InteriorPoint,
    LinearProgram,
    UnbiasedReadings,
)
from mechdesign.utilities import BayesAccuracy, ConvexUtility, GVulnerability

AGAIN = "; another method for a smaller gap"

AUTO = "auto"
"""The name of the router's own choice."""

NOISE = "noise"
"""The name of a structured mechanism without a matrix, in place of a route."""

FORMULAS = ClosedForms()

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
"""The numerical routes, in the order in which the router tries them."""

ROUTES: dict[str, Route] = {route.name: route for route in (FORMULAS, *NUMERIC)}
"""All routes by name."""


def plan(
    problem: Problem, route: str, limits: Limits, rejected: list[RejectedRoute]
) -> Iterator[tuple[Route, str]]:
    """Yield the routes to try on a problem, best first, each with the reason.

    Parameters
    ----------
    problem
        The problem.
    route
        ``"auto"``, or one of :data:`ROUTES` by name, as in ``"cvxpy:CLARABEL"``.
    limits
        The memory limit of a route, and the user's symmetries.
    rejected
        Filled with the closed forms that do not apply, and the routes that are too large.

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
        words = (AUTO, *ROUTES, NOISE)
        hint = did_you_mean(name, words)
        raise InputError("route", f"one of {', '.join(words)}", shown(route), hint)
    if not problem.is_conic:
        _check_non_conic(problem, name)
    setting = setting.strip()
    if name != AUTO:
        routes = [ROUTES[name].configured(setting)]
    elif setting:
        raise InputError("route", "auto with nothing after it", shown(f"auto:{setting}"))
    else:
        routes = list(ROUTES.values())
    if limits.symmetry is not None:
        routes = [known for known in routes if known.uses_symmetry]
        if not routes:
            using = [AUTO, *(known.name for known in ROUTES.values() if known.uses_symmetry)]
            raise UnsupportedError("route", f"one of {', '.join(using)}", name)
    elif name in (AUTO, FORMULAS.name):
        rejected += FORMULAS.rejected(problem)
    none, again = True, ""
    for one in routes:
        if not (problem.is_conic or one.allows_non_conic):
            continue
        reason = one.suits(problem, name != AUTO or limits.symmetry is not None)
        if reason is None:
            continue
        none, needed = False, one.memory(problem)
        if needed > limits.memory:
            sizes = f"{needed / 1e9:.2g} GB of memory, and {limits.memory / 1e9:.2g} GB"
            rejected.append(RejectedRoute(one.name, f"it needs about {sizes} are allowed"))
            continue
        for attempt in chain([one], () if setting else one.alternatives(problem)):
            yield attempt, reason + again
            again = AGAIN
    if none:
        reasons = [f"{each.name}: {each.reason}" for each in rejected]
        reasons += [f"it is {one.summary}" for one in routes if name != AUTO]
        raise UnsupportedError(
            "utility.objective" if name == AUTO else "route",
            "a problem that this route solves",
            f"{problem.utility.name} on {len(problem.domain)} inputs",
            "; ".join(reasons) or "no route applies",
        )


def _check_non_conic(problem: Problem, name: str) -> None:
    """Reject a route that does not support constraints on the whole channel."""
    notion, utility = problem.non_conic[0], problem.utility
    able = [AUTO, *(route.name for route in ROUTES.values() if route.allows_non_conic)]
    if name not in able:
        expected = f"one of {', '.join(able)}, as {notion} is about the whole channel"
        raise UnsupportedError("route", expected, name)
    convex = utility.linear_form is not None or isinstance(utility, ConvexUtility)
    if not convex and FORMULAS.suits(problem) is None:
        gains = f"{BayesAccuracy.name} or {GVulnerability.name}"
        expected = f"a loss between input and output, {gains}, beside {notion}"
        given = f"{utility.name}, which is solved over extreme rays, and this notion has none"
        raise UnsupportedError("utility.objective", expected, given)
