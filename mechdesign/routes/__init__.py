"""Routes: ways to find the best channel, and the router that picks one and says why.

A route proposes; the repair and the checker dispose. To add one, write it in a file of its own and
name it in :data:`ROUTES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from mechdesign.closed_forms import CLOSED_FORMS, ClosedForm
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import InputError, SolverError, UnsupportedError, did_you_mean, shown
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.conic import solve_conic
from mechdesign.utilities import (
    BayesAccuracy,
    ColumnUtility,
    LinearUtility,
    PosteriorMeanSquaredError,
)

__all__ = ["ROUTES", "Attempt", "Considered", "Dual", "RawSolution", "plan"]

NUMERIC_BOUND_UP_TO, NUMERIC_ERROR_BOUND_UP_TO = 64, 16
"""Up to so many inputs a closed form gets a numeric bound beside its theorem: linear loss, and
posterior-mean squared error, where it takes longer."""


USED = 1e-12
"""A column all of whose entries are below this is left out."""


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
    numeric_bound
        Finds dual weights in another way, to stand beside the theorem.
    """

    run: Callable[[], RawSolution]
    why: str
    theorem: str | None = None
    numeric_bound: Callable[[], Dual | None] | None = None


def _linear(problem: Problem, method: str) -> RawSolution:
    from mechdesign.routes.linear_program import solve_linear  # scipy and HiGHS on demand

    return solve_linear(problem, method)


def _best_guess(problem: Problem, method: str) -> RawSolution:
    """Release the guess itself, which is as good as anything that it can be made from."""
    from mechdesign.routes.linear_program import solve_linear

    guesses = Problem(problem.domain, problem.privacy, BayesAccuracy.as_loss, prior=problem.prior)
    raw = solve_linear(guesses, method)
    matrix = raw.matrix[:, raw.matrix.max(axis=0) > USED]
    return replace(raw, matrix=matrix, outputs=name_outputs(problem, matrix.shape[1]))


def _by_rays(problem: Problem) -> RawSolution:
    from mechdesign.routes.extreme_rays import solve_by_rays

    return solve_by_rays(problem)


def _is_scalar_error(problem: Problem) -> bool:
    utility = problem.utility
    return isinstance(utility, PosteriorMeanSquaredError) and not utility.histogram


def _by_decoders(problem: Problem) -> RawSolution:
    from mechdesign.routes.decoder_grid import solve_decoder_grid

    return solve_decoder_grid(problem)


def _closed_forms(problem: Problem, considered: list[Considered]) -> Iterator[Attempt]:
    chosen: Attempt | None = None
    for form in CLOSED_FORMS:
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
            return None if solve is None else solve().dual
        except (SolverError, UnsupportedError):
            return None

    most = NUMERIC_BOUND_UP_TO if linear else NUMERIC_ERROR_BOUND_UP_TO
    return Attempt(run, why, form.theorem, numeric_bound if len(problem.domain) <= most else None)


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


def _numeric(problem: Problem) -> Iterator[Attempt]:
    yield from _linear_programs(problem)
    yield from _decoder_grids(problem)
    yield from _ray_programs(problem)


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
        yield Attempt(lambda: _linear(problem, option), "asked for")
    else:
        yield from _linear_programs(problem)


def _cvxpy(problem: Problem, option: str, _considered: list[Considered]) -> Iterator[Attempt]:
    if not option:
        raise InputError("route", "cvxpy:NAME, as in cvxpy:CLARABEL", "cvxpy")
    yield Attempt(lambda: solve_conic(problem, option), "asked for")


ROUTES: dict[str, Route] = {
    "auto": _auto,
    "closed-form": _closed_form,
    "linear-program": _linear_program,
    "decoder-grid": _decoder_grid,
    "extreme-rays": _extreme_rays,
    "cvxpy": _cvxpy,
}
"""Every route by the word for it; what follows a colon is passed on to it."""


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
