"""Routes: ways to find the best channel, and the router that picks one and says why.

A route proposes; the repair and the checker dispose. To add one, write it in a file of its own, say
in `ways` when it is the way to go, and name it in :data:`ROUTES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mechdesign.errors import InputError, UnsupportedError, did_you_mean, shown
from mechdesign.problem import Problem
from mechdesign.routes import ways
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.conic.cvxpy_solver import solve_conic
from mechdesign.routes.ways import Attempt, Considered
from mechdesign.utilities import BayesAccuracy, ColumnUtility, ConvexUtility, LinearUtility

if TYPE_CHECKING:
    from mechdesign.routes.presolve.symmetry_group import Symmetry

__all__ = ["ROUTES", "Attempt", "Considered", "Dual", "RawSolution", "plan"]


def _decoder_grid(
    problem: Problem, option: str, _considered: list[Considered]
) -> Iterator[Attempt]:
    _no_option("decoder-grid", option)
    yield from ways.decoder_grids(problem)


def _extreme_rays(
    problem: Problem, option: str, _considered: list[Considered]
) -> Iterator[Attempt]:
    _no_option("extreme-rays", option)
    if isinstance(problem.utility, ColumnUtility):
        yield Attempt(lambda limits: ways.by_rays(problem, limits), ASKED)


def _estimation(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("estimation", option)
    yield from ways.estimations(problem)


ASKED = "asked for"

Route = Callable[[Problem, str, list[Considered]], Iterator[Attempt]]


def _no_option(route: str, option: str) -> None:
    if option:
        raise InputError("route", f"{route} with nothing after it", shown(f"{route}:{option}"))


def _auto(problem: Problem, option: str, considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("auto", option)
    yield from ways.closed_forms(problem, considered)
    yield from ways.numeric(problem)


def _closed_form(problem: Problem, option: str, considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("closed-form", option)
    yield from ways.closed_forms(problem, considered)


def _linear_program(
    problem: Problem, option: str, _considered: list[Considered]
) -> Iterator[Attempt]:
    methods = ("simplex", "ipm")
    if option and option not in methods:
        expected = f"linear-program:METHOD with METHOD one of {', '.join(methods)}"
        raise InputError("route", expected, f"linear-program:{option}")
    if isinstance(problem.utility, LinearUtility | BayesAccuracy):
        for method in (option,) if option else ("auto", "ipm", "simplex"):
            yield ways.for_loss(problem, ways.by_highs(method), ASKED)


def _interior(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("interior", option)
    if isinstance(problem.utility, LinearUtility | BayesAccuracy):
        yield ways.for_loss(problem, ways.interior, ASKED)


def _columns(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("columns", option)
    if isinstance(problem.utility, LinearUtility | BayesAccuracy):
        yield ways.for_loss(problem, ways.columns, ASKED)


def _conic(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("conic", option)
    yield from ways.whole_channels(problem)


def _cvxpy(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    if not option:
        raise InputError("route", "cvxpy:NAME, as in cvxpy:CLARABEL", "cvxpy")
    if isinstance(problem.utility, ConvexUtility):
        yield Attempt(lambda limits: ways.own(problem, option, limits), ASKED)
    else:
        yield ways.for_loss(problem, lambda loss, limits: solve_conic(loss, option, limits), ASKED)


ROUTES: dict[str, Route] = {
    "auto": _auto,
    "closed-form": _closed_form,
    "linear-program": _linear_program,
    "interior": _interior,
    "columns": _columns,
    "decoder-grid": _decoder_grid,
    "extreme-rays": _extreme_rays,
    "estimation": _estimation,
    "conic": _conic,
    "cvxpy": _cvxpy,
}
"""Every route by the word for it; what follows a colon is passed on to it."""


ROUTES_FOR_RULES = ("auto", "closed-form", "conic", "cvxpy")
"""The routes that reckon with notions about the whole channel; the others work on columns."""


ROUTES_FOR_SYMMETRY = ("auto", "interior", "linear-program")
"""The routes that reckon with symmetries that the user names."""


def _check_whole(problem: Problem, route: str) -> None:
    """Refuse what cannot be solved under a notion about the whole channel."""
    notion = problem.binding[0]
    if route not in ROUTES_FOR_RULES:
        expected = f"one of {', '.join(ROUTES_FOR_RULES)}, as {notion} is about the whole channel"
        raise UnsupportedError("route", expected, route)
    convex = isinstance(problem.utility, LinearUtility | BayesAccuracy | ConvexUtility)
    if not convex and next(ways.closed_forms(problem, []), None) is None:
        expected = f"an expected or worst-case loss, or {BayesAccuracy.name}, beside {notion}"
        given = f"{problem.utility.name}, which is solved by extreme rays, and there are none"
        raise UnsupportedError("utility.objective", expected, given)


def plan(
    problem: Problem,
    route: str,
    considered: list[Considered],
    symmetry: Symmetry | None = None,
) -> Iterator[Attempt]:
    """Yield ways to solve a problem, best first.

    Parameters
    ----------
    problem
        What to solve.
    route
        One of :data:`ROUTES`, as in ``"auto"`` or ``"cvxpy:CLARABEL"``.
    considered
        Filled with the closed forms that were looked at and do not apply.
    symmetry
        Symmetries that the user has named. They come first with the routes that know them.

    Raises
    ------
    InputError
        If there is no such route.
    UnsupportedError
        If no route solves the problem.
    """
    name, _, option = route.partition(":")
    if name not in ROUTES:
        hint = did_you_mean(name, ROUTES)
        raise InputError("route", f"one of {', '.join(ROUTES)}", shown(route), hint)
    if not problem.is_conic:
        _check_whole(problem, name)
    if symmetry is not None:
        if name not in ROUTES_FOR_SYMMETRY:
            raise UnsupportedError("route", f"one of {', '.join(ROUTES_FOR_SYMMETRY)}", name)
        yield from ways.symmetric(problem, symmetry)
    none = True
    for attempt in ROUTES[name](problem, option.strip(), considered):
        none = False
        yield attempt
    if none:
        reasons = "; ".join(f"{c.name}: {c.reason}" for c in considered)
        raise UnsupportedError(
            "utility.objective" if name == "auto" else "route",
            "a problem that this route solves",
            f"{problem.utility.name} on {len(problem.domain)} inputs",
            reasons or "no closed form and no linear program applies",
        )
