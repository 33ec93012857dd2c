"""Routes: ways to find the best channel, and the router that picks one and says why.

A route proposes; the repair and the checker dispose. To add one, write it in a file of its own and
name it in :data:`ROUTES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mechdesign.closed_forms import CLOSED_FORMS, ClosedForm
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import InputError, SolverError, UnsupportedError, did_you_mean, shown
from mechdesign.notions import LIP, LiftBounds
from mechdesign.notions.excess_rule import ExcessRule
from mechdesign.notions.lift_rows import LiftRows
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.conic import solve_conic
from mechdesign.utilities import (
    BayesAccuracy,
    ColumnUtility,
    ConvexUtility,
    EstimationRisk,
    LinearUtility,
    PosteriorMeanSquaredError,
)

__all__ = ["ROUTES", "Attempt", "Considered", "Dual", "RawSolution", "plan"]

NUMERIC_BOUND_UP_TO, NUMERIC_ERROR_BOUND_UP_TO = 64, 16
"""Up to so many inputs a closed form gets a numeric bound beside its theorem: linear loss, and
posterior-mean squared error, where it takes longer."""


USED = 1e-12
"""A column all of whose entries are below this is left out."""


Solve = Callable[[Problem, str], RawSolution]

CONIC_SOLVERS = ("CLARABEL", "ECOS", "SCS")
"""Solvers for a bound on information, the most precise first."""


@dataclass(frozen=True)
class Considered:
    """A closed form that a reader would expect to hear of, and why it was not taken."""

    name: str
    reason: str


@dataclass(frozen=True)
class Attempt:
    """One way to solve the problem.

    Attributes
    ----------
    run
        Finds a raw solution.
    why
        Why this way, in a sentence.
    theorem
        A bound that the checker can prove without data; None if the dual must do.
    theorem_data
        What the certificate must name for the theorem.
    numeric_bound
        Finds dual weights in another way, to stand beside the theorem.
    """

    run: Callable[[], RawSolution]
    why: str
    theorem: str | None = None
    theorem_data: Mapping[str, Any] = field(default_factory=dict)
    numeric_bound: Callable[[], Dual | None] | None = None


def _linear(problem: Problem, method: str) -> RawSolution:
    from mechdesign.routes.linear_program import solve_linear  # scipy and HiGHS on demand

    return solve_linear(problem, method)


def _whole(problem: Problem, method: str) -> RawSolution:
    from mechdesign.routes.whole_channel import solve_whole

    return solve_whole(problem, method)


def _best_guess(problem: Problem, method: str, solve: Solve = _linear) -> RawSolution:
    """Release the guess itself, which is as good as anything that it can be made from."""
    guesses = Problem(problem.domain, problem.privacy, BayesAccuracy.as_loss, prior=problem.prior)
    raw = solve(guesses, method)
    matrix = raw.matrix[:, raw.matrix.max(axis=0) > USED]
    return replace(raw, matrix=matrix, outputs=name_outputs(problem, matrix.shape[1]))


def _by_rays(problem: Problem) -> RawSolution:
    from mechdesign.routes.extreme_rays import solve_by_rays

    return solve_by_rays(problem)


def _by_estimation(problem: Problem) -> RawSolution:
    from mechdesign.routes.estimation import solve_estimation

    return solve_estimation(problem)


def _class_dual(problem: Problem) -> Dual | None:
    from mechdesign.routes.estimation import class_dual

    return class_dual(problem)


def _is_scalar_error(problem: Problem) -> bool:
    utility = problem.utility
    return isinstance(utility, PosteriorMeanSquaredError) and not utility.histogram


def _by_decoders(problem: Problem) -> RawSolution:
    from mechdesign.routes.decoder_grid import solve_decoder_grid

    return solve_decoder_grid(problem)


def _closed_forms(problem: Problem, considered: list[Considered]) -> Iterator[Attempt]:
    chosen: Attempt | None = None
    if isinstance(problem.utility, ConvexUtility):
        return
    for form in CLOSED_FORMS:
        if not (problem.is_conic or form.heeds_rules):
            continue
        verdict = form.check(problem)
        if verdict.holds and chosen is None:
            chosen = _closed_form_attempt(problem, form, verdict.reason)
        if not verdict.holds and verdict.relevant:
            considered.append(Considered(form.name, verdict.reason))
    if chosen is not None:
        yield chosen


def _closed_form_attempt(problem: Problem, form: ClosedForm, why: str) -> Attempt:
    def run() -> RawSolution:
        found = form.formula(problem)
        return RawSolution(found.matrix, found.outputs, None, f"closed-form: {form.name}")

    linear = isinstance(problem.utility, LinearUtility)
    solve = next((way.run for way in _numeric(problem)), None)

    def numeric_bound() -> Dual | None:
        try:
            if by_classes:
                return _class_dual(problem)
            return None if solve is None else solve().dual
        except (SolverError, UnsupportedError):
            return None

    large = len(problem.domain) > NUMERIC_ERROR_BOUND_UP_TO
    by_classes = isinstance(problem.utility, EstimationRisk) and (large or form.theorem is None)
    most = NUMERIC_BOUND_UP_TO if linear else NUMERIC_ERROR_BOUND_UP_TO
    beside = not form.theorem_is_tight and (by_classes or len(problem.domain) <= most)
    data = form.theorem_data(problem)
    return Attempt(run, why, form.theorem, data, numeric_bound if beside else None)


def _linear_programs(problem: Problem) -> Iterator[Attempt]:
    why, solve = "the loss and the notion are linear in the channel", _linear
    if isinstance(problem.utility, BayesAccuracy):
        why, solve = "releasing the best guess itself makes the accuracy linear", _best_guess
    elif not isinstance(problem.utility, LinearUtility):
        return
    again = f"{why}; a second method for a smaller gap"
    yield Attempt(lambda: solve(problem, "auto"), why)
    yield Attempt(lambda: solve(problem, "ipm"), again)
    yield Attempt(lambda: solve(problem, "simplex"), again)


def _decoder_grids(problem: Problem) -> Iterator[Attempt]:
    if _is_scalar_error(problem):
        why = "for fixed decoders the error is linear in the channel"
        yield Attempt(lambda: _by_decoders(problem), why)


def _ray_programs(problem: Problem) -> Iterator[Attempt]:
    if isinstance(problem.utility, ColumnUtility) and not _is_scalar_error(problem):
        why = "the objective is a sum over outputs, best at extreme rays of the cone"
        yield Attempt(lambda: _by_rays(problem), why)


def _estimations(problem: Problem) -> Iterator[Attempt]:
    if isinstance(problem.utility, EstimationRisk):
        why = "the risk is convex in the weights of the extreme rays of the cone"
        theorem = "erasure" if _bounds_lift_from_below(problem) else None
        yield Attempt(lambda: _by_estimation(problem), why, theorem)


def _bounds_lift_from_below(problem: Problem) -> bool:
    """Return whether a notion bounds the lift for the problem's prior from below."""
    return any(
        isinstance(notion, LIP | LiftBounds) and "lower" in dict(family.sides())
        for notion, family in zip(problem.privacy, problem.cone.families, strict=True)
        if isinstance(family, LiftRows)
    )


def _whole_channels(problem: Problem) -> Iterator[Attempt]:
    """Yield ways that reckon with notions about the whole channel, for a loss that is linear."""
    why, guess = "a notion speaks of the whole channel, convexly", False
    if isinstance(problem.utility, BayesAccuracy):
        why, guess = "releasing the best guess itself makes the accuracy linear", True
    elif not isinstance(problem.utility, LinearUtility):
        return

    def attempt(solve: Solve, name: str, tail: str = "") -> Attempt:
        if guess:
            return Attempt(lambda: _best_guess(problem, name, solve), why + tail)
        return Attempt(lambda: solve(problem, name), why + tail)

    again = "; another method for a smaller gap"
    if all(rule is None or isinstance(rule, ExcessRule) for rule in problem.rules):
        yield attempt(_whole, "simplex")
        yield attempt(_whole, "ipm", again)
        again = "; another solver for a smaller gap"
        yield attempt(solve_conic, CONIC_SOLVERS[0], again)
        return
    if len(problem.privacy) > 1:
        yield attempt(_whole, "simplex", "; the bound on information is left out at first")
    for n, name in enumerate(CONIC_SOLVERS):
        yield attempt(solve_conic, name, again if n else "")


def _own(problem: Problem, solver: str) -> RawSolution:
    from mechdesign.routes.conic import solver_named
    from mechdesign.routes.custom import solve_custom

    return solve_custom(problem, (), solver_named(solver))


def _numeric(problem: Problem) -> Iterator[Attempt]:
    if isinstance(problem.utility, ConvexUtility):
        for name in CONIC_SOLVERS:
            yield Attempt(partial(_own, problem, name), "a loss of your own, convex in the channel")
        return
    if not problem.is_conic:
        yield from _whole_channels(problem)
        return
    yield from _linear_programs(problem)
    yield from _decoder_grids(problem)
    yield from _ray_programs(problem)
    yield from _estimations(problem)


def _decoder_grid(
    problem: Problem, option: str, _considered: list[Considered]
) -> Iterator[Attempt]:
    _no_option("decoder-grid", option)
    yield from _decoder_grids(problem)


def _extreme_rays(
    problem: Problem, option: str, _considered: list[Considered]
) -> Iterator[Attempt]:
    _no_option("extreme-rays", option)
    if isinstance(problem.utility, ColumnUtility):
        yield Attempt(lambda: _by_rays(problem), "asked for")


def _estimation(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("estimation", option)
    yield from _estimations(problem)


Route = Callable[[Problem, str, list[Considered]], Iterator[Attempt]]


def _no_option(route: str, option: str) -> None:
    if option:
        raise InputError("route", f"{route} with nothing after it", shown(f"{route}:{option}"))


def _auto(problem: Problem, option: str, considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("auto", option)
    yield from _closed_forms(problem, considered)
    yield from _numeric(problem)


def _closed_form(problem: Problem, option: str, considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("closed-form", option)
    yield from _closed_forms(problem, considered)


def _linear_program(
    problem: Problem, option: str, _considered: list[Considered]
) -> Iterator[Attempt]:
    methods = ("simplex", "ipm")
    if option and option not in methods:
        expected = f"linear-program:METHOD with METHOD one of {', '.join(methods)}"
        raise InputError("route", expected, f"linear-program:{option}")
    if option:
        solve = _best_guess if isinstance(problem.utility, BayesAccuracy) else _linear
        yield Attempt(lambda: solve(problem, option), "asked for")
    else:
        yield from _linear_programs(problem)


def _conic(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    _no_option("conic", option)
    yield from _whole_channels(problem)


def _cvxpy(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    if not option:
        raise InputError("route", "cvxpy:NAME, as in cvxpy:CLARABEL", "cvxpy")
    if isinstance(problem.utility, BayesAccuracy):
        yield Attempt(lambda: _best_guess(problem, option, solve_conic), "asked for")
    elif isinstance(problem.utility, ConvexUtility):
        yield Attempt(lambda: _own(problem, option), "asked for")
    else:
        yield Attempt(lambda: solve_conic(problem, option), "asked for")


ROUTES: dict[str, Route] = {
    "auto": _auto,
    "closed-form": _closed_form,
    "linear-program": _linear_program,
    "decoder-grid": _decoder_grid,
    "extreme-rays": _extreme_rays,
    "estimation": _estimation,
    "conic": _conic,
    "cvxpy": _cvxpy,
}
"""Every route by the word for it; what follows a colon is passed on to it."""


ROUTES_FOR_RULES = ("auto", "closed-form", "conic", "cvxpy")
"""The routes that reckon with notions about the whole channel; the others work on columns."""


def _check_whole(problem: Problem, route: str) -> None:
    """Refuse what cannot be solved under a notion about the whole channel."""
    notion = problem.binding[0]
    if route not in ROUTES_FOR_RULES:
        expected = f"one of {', '.join(ROUTES_FOR_RULES)}, as {notion} is about the whole channel"
        raise UnsupportedError("route", expected, route)
    convex = isinstance(problem.utility, LinearUtility | BayesAccuracy | ConvexUtility)
    if not convex and next(_closed_forms(problem, []), None) is None:
        expected = f"an expected or worst-case loss, or {BayesAccuracy.name}, beside {notion}"
        given = f"{problem.utility.name}, which is solved by extreme rays, and there are none"
        raise UnsupportedError("utility.objective", expected, given)


def plan(problem: Problem, route: str, considered: list[Considered]) -> Iterator[Attempt]:
    """Yield ways to solve a problem, best first.

    Parameters
    ----------
    problem
        What to solve.
    route
        One of :data:`ROUTES`, as in ``"auto"`` or ``"cvxpy:CLARABEL"``.
    considered
        Filled with the closed forms that were looked at and do not apply.

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
