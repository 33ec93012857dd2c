"""Ways to solve a problem, each with the reason for it: formulas first, then what computes.

What is slow to import, scipy and the solvers, is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mechdesign.closed_forms import CLOSED_FORMS, ClosedForm
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions import LIP, LiftBounds
from mechdesign.notions.excess_rule import ExcessRule
from mechdesign.notions.lift_rows import LiftRows
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.conic import CONIC_SOLVERS, solve_conic
from mechdesign.utilities import (
    BayesAccuracy,
    ColumnUtility,
    ConvexUtility,
    EstimationRisk,
    LinearUtility,
    PosteriorMeanSquaredError,
)

__all__ = [
    "Attempt",
    "Considered",
    "best_guess",
    "by_rays",
    "closed_forms",
    "decoder_grids",
    "estimations",
    "linear",
    "linear_programs",
    "numeric",
    "own",
    "whole_channels",
]

NUMERIC_BOUND_UP_TO, NUMERIC_ERROR_BOUND_UP_TO = 64, 16
"""Up to so many inputs a closed form gets a numeric bound beside its theorem: linear loss, and
posterior-mean squared error, where it takes longer."""


USED = 1e-12
"""A column all of whose entries are below this is left out."""


Solve = Callable[[Problem, str], RawSolution]


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


def linear(problem: Problem, method: str) -> RawSolution:
    """Solve the linear program, by a method of HiGHS."""
    from mechdesign.routes.linear_program import solve_linear  # scipy and HiGHS on demand

    return solve_linear(problem, method)


def _whole(problem: Problem, method: str) -> RawSolution:
    from mechdesign.routes.whole_channel import solve_whole

    return solve_whole(problem, method)


def best_guess(problem: Problem, method: str, solve: Solve = linear) -> RawSolution:
    """Release the guess itself, which is as good as anything that it can be made from."""
    guesses = Problem(problem.domain, problem.privacy, BayesAccuracy.as_loss, prior=problem.prior)
    raw = solve(guesses, method)
    matrix = raw.matrix[:, raw.matrix.max(axis=0) > USED]
    return replace(raw, matrix=matrix, outputs=name_outputs(problem, matrix.shape[1]))


def by_rays(problem: Problem) -> RawSolution:
    """Solve by extreme rays of the cone."""
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


def closed_forms(problem: Problem, considered: list[Considered]) -> Iterator[Attempt]:
    """Yield the first closed form that holds; say of the others why they do not."""
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
    solve = next((way.run for way in numeric(problem)), None)

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


def linear_programs(problem: Problem) -> Iterator[Attempt]:
    """Yield linear programs, for losses that are linear in the channel."""
    why, solve = "the loss and the notion are linear in the channel", linear
    if isinstance(problem.utility, BayesAccuracy):
        why, solve = "releasing the best guess itself makes the accuracy linear", best_guess
    elif not isinstance(problem.utility, LinearUtility):
        return
    again = f"{why}; a second method for a smaller gap"
    yield Attempt(lambda: solve(problem, "auto"), why)
    yield Attempt(lambda: solve(problem, "ipm"), again)
    yield Attempt(lambda: solve(problem, "simplex"), again)


def decoder_grids(problem: Problem) -> Iterator[Attempt]:
    """Yield the search over decoders, for the posterior-mean error of a scalar."""
    if _is_scalar_error(problem):
        why = "for fixed decoders the error is linear in the channel"
        yield Attempt(lambda: _by_decoders(problem), why)


def _ray_programs(problem: Problem) -> Iterator[Attempt]:
    if isinstance(problem.utility, ColumnUtility) and not _is_scalar_error(problem):
        why = "the objective is a sum over outputs, best at extreme rays of the cone"
        yield Attempt(lambda: by_rays(problem), why)


def estimations(problem: Problem) -> Iterator[Attempt]:
    """Yield the convex program over rays, for risks of estimation."""
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


def whole_channels(problem: Problem) -> Iterator[Attempt]:
    """Yield ways that reckon with notions about the whole channel, for a loss that is linear."""
    why, guess = "a notion speaks of the whole channel, convexly", False
    if isinstance(problem.utility, BayesAccuracy):
        why, guess = "releasing the best guess itself makes the accuracy linear", True
    elif not isinstance(problem.utility, LinearUtility):
        return

    def attempt(solve: Solve, name: str, tail: str = "") -> Attempt:
        if guess:
            return Attempt(lambda: best_guess(problem, name, solve), why + tail)
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


def own(problem: Problem, solver: str) -> RawSolution:
    """Solve with a loss of the user's own, by a solver that cvxpy knows."""
    from mechdesign.routes.conic import solver_named
    from mechdesign.routes.custom import solve_custom

    return solve_custom(problem, (), solver_named(solver))


def numeric(problem: Problem) -> Iterator[Attempt]:
    """Yield every way that computes, best first."""
    if isinstance(problem.utility, ConvexUtility):
        for name in CONIC_SOLVERS:
            yield Attempt(partial(own, problem, name), "a loss of your own, convex in the channel")
        return
    if not problem.is_conic:
        yield from whole_channels(problem)
        return
    yield from linear_programs(problem)
    yield from decoder_grids(problem)
    yield from _ray_programs(problem)
    yield from estimations(problem)
