"""Ways to solve a problem, each with the reason for it: formulas first, then what computes.

What is slow to import, scipy and the solvers, is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mechdesign.closed_forms import CLOSED_FORMS, ClosedForm
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions.non_conic.excess_constraint import ExcessConstraint
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.conic.cvxpy_solver import CONIC_SOLVERS, solve_conic
from mechdesign.routes.limits import Limits
from mechdesign.utilities import (
    BayesAccuracy,
    ColumnUtility,
    ConvexUtility,
    EstimationRisk,
    LinearUtility,
    PosteriorMeanSquaredError,
)

if TYPE_CHECKING:
    from mechdesign.routes.interior.method import Path
    from mechdesign.routes.presolve.symmetry_group import Symmetry

__all__ = [
    "Attempt",
    "Considered",
    "by_highs",
    "by_rays",
    "closed_forms",
    "columns",
    "decoder_grids",
    "estimations",
    "for_loss",
    "interior",
    "is_by_interior",
    "linear",
    "linear_programs",
    "numeric",
    "own",
    "symmetric",
    "whole_channels",
]

NUMERIC_BOUND_UP_TO, NUMERIC_ERROR_BOUND_UP_TO = 64, 16
"""Up to so many inputs a closed form gets a numeric bound beside its theorem: linear loss, and
posterior-mean squared error, where it takes longer."""


MIDDLE, LARGE, MOST_FOR_HIGHS = 400, 3_000, 200_000
"""Rows for all outputs, compressed: from the first on rays come first on a line, from the second on
the interior-point method does in general, and up to the third HiGHS is tried after it."""

MOST_SEARCHED_TWICE = 64
"""Inputs up to which decoders are searched for by a second way, where the first ends short."""

USED = 1e-12
"""A column all of whose entries are below this is left out."""


Solve = Callable[[Problem, str, Limits], RawSolution]


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
        Finds a raw solution within limits, as far as its method heeds them.
    why
        Why this way, in a sentence.
    theorem
        A bound that the checker can prove without data; None if the dual must do.
    theorem_data
        What the certificate must name for the theorem.
    numeric_bound
        Finds dual weights in another way, to stand beside the theorem.
    """

    run: Callable[[Limits], RawSolution]
    why: str
    theorem: str | None = None
    theorem_data: Mapping[str, Any] = field(default_factory=dict)
    numeric_bound: Callable[[Limits], Dual | None] | None = None


def linear(problem: Problem, method: str, limits: Limits) -> RawSolution:
    """Solve the linear program, by a method of HiGHS."""
    from mechdesign.routes.lp.linear_program import solve_linear  # scipy and HiGHS on demand

    return solve_linear(problem, method, limits)


def interior(
    problem: Problem,
    limits: Limits,
    symmetry: Symmetry | None = None,
    path: Path | None = None,
) -> RawSolution:
    """Solve the linear program by the interior-point method made for it, where that can be."""
    from mechdesign.routes.interior.solve import solve_interior

    try:
        return solve_interior(problem, limits, symmetry, path)
    except UnsupportedError:  # a cone without an inside, or too many priors
        return linear(problem, "auto", limits)


def by_symmetry(problem: Problem, limits: Limits, symmetry: Symmetry | None = None) -> RawSolution:
    """Solve by HiGHS what symmetries leave; without any, the whole."""
    from mechdesign.routes.presolve.find_symmetries import symmetries
    from mechdesign.routes.presolve.orbit_reduction import solve_orbits

    symmetry = symmetry or symmetries(problem)
    if symmetry is None:
        return linear(problem, "auto", limits)
    return solve_orbits(problem, symmetry, "ipm", limits)


def symmetric(problem: Problem, symmetry: Symmetry) -> Iterator[Attempt]:
    """Yield ways to solve a problem with a linear loss by symmetries that the user has named."""
    why = "what the symmetries named leave is solved"
    if not problem.utility.worst_case:
        yield for_loss(problem, partial(interior, symmetry=symmetry), why)
    yield for_loss(problem, partial(by_symmetry, symmetry=symmetry), why)


def columns(problem: Problem, limits: Limits) -> RawSolution:
    """Solve by column generation over extreme rays."""
    from mechdesign.routes.column_generation.search import solve_columns

    return solve_columns(problem, limits)


def _whole(problem: Problem, method: str, limits: Limits) -> RawSolution:
    from mechdesign.routes.conic.non_conic import solve_whole

    return solve_whole(problem, method, limits)


def best_guess(
    problem: Problem, solve: Callable[[Problem, Limits], RawSolution], limits: Limits
) -> RawSolution:
    """Release the guess itself, which is as good as anything that it can be made from.

    The gap of the loss is to be as small as makes that of the accuracy small: it is at least that
    of guessing the likeliest input.
    """
    guesses = Problem(
        problem.domain, problem.privacy, BayesAccuracy().linear_form, prior=problem.prior
    )
    within = limits.part(unit=1.0)
    within.gap = limits.gap * float(max(problem.prior))
    raw = solve(guesses, within)
    matrix = raw.matrix[:, raw.matrix.max(axis=0) > USED]
    return replace(raw, matrix=matrix, outputs=name_outputs(problem, matrix.shape[1]))


def for_loss(
    problem: Problem, solve: Callable[[Problem, Limits], RawSolution], why: str
) -> Attempt:
    """Return the attempt of what solves linear losses, on one of those or on the accuracy."""
    if isinstance(problem.utility, BayesAccuracy):
        return Attempt(lambda limits: best_guess(problem, solve, limits), why)
    return Attempt(lambda limits: solve(problem, limits), why)


def by_rays(problem: Problem, limits: Limits) -> RawSolution:
    """Solve by extreme rays of the cone."""
    from mechdesign.routes.rays.extreme_rays import solve_by_rays

    return solve_by_rays(problem, limits)


def _by_estimation(problem: Problem, limits: Limits) -> RawSolution:
    from mechdesign.routes.estimation_risk.solve import solve_estimation

    return solve_estimation(problem, limits)


def _class_dual(problem: Problem, limits: Limits) -> Dual | None:
    from mechdesign.routes.estimation_risk.solve import class_dual

    return class_dual(problem, limits)


def _is_scalar_error(problem: Problem) -> bool:
    utility = problem.utility
    return isinstance(utility, PosteriorMeanSquaredError) and not utility.histogram


def _by_decoders(problem: Problem, limits: Limits, *, by_bands: bool = True) -> RawSolution:
    from mechdesign.routes.decoders.decoder_grid import solve_decoder_grid

    return solve_decoder_grid(problem, limits, by_bands=by_bands)


def closed_forms(problem: Problem, considered: list[Considered]) -> Iterator[Attempt]:
    """Yield the first closed form that holds; say of the others why they do not."""
    chosen: Attempt | None = None
    if isinstance(problem.utility, ConvexUtility):
        return
    for form in CLOSED_FORMS:
        if not (problem.is_conic or form.allows_non_conic):
            continue
        verdict = form.check(problem)
        if verdict.holds and chosen is None:
            chosen = _closed_form_attempt(problem, form, verdict.reason)
        if not verdict.holds and verdict.relevant:
            considered.append(Considered(form.name, verdict.reason))
    if chosen is not None:
        yield chosen


def _closed_form_attempt(problem: Problem, form: ClosedForm, why: str) -> Attempt:
    def run(_limits: Limits) -> RawSolution:
        found = form.formula(problem)
        return RawSolution(found.matrix, found.outputs, None, f"closed-form: {form.name}")

    linear = isinstance(problem.utility, LinearUtility)
    solve = next((way.run for way in numeric(problem)), None)

    def numeric_bound(limits: Limits) -> Dual | None:
        try:
            if by_classes:
                return _class_dual(problem, limits)
            return None if solve is None else solve(limits).dual
        except (SolverError, UnsupportedError):
            return None

    large = len(problem.domain) > NUMERIC_ERROR_BOUND_UP_TO
    by_classes = isinstance(problem.utility, EstimationRisk) and (large or form.theorem is None)
    most = NUMERIC_BOUND_UP_TO if linear else NUMERIC_ERROR_BOUND_UP_TO
    beside = not form.theorem_is_tight and (by_classes or len(problem.domain) <= most)
    data = form.theorem_data(problem)
    return Attempt(run, why, form.theorem, data, numeric_bound if beside else None)


def linear_programs(problem: Problem) -> Iterator[Attempt]:
    """Yield linear programs, for losses that are linear in the channel: best first by structure.

    Small programs go to the simplex method, whose channels are vertices, with few outputs. Lines go
    to rays, which are priced one input after the other. Large programs go to the interior-point
    method that takes them apart by outputs, and to HiGHS after it only where that ends in time.
    """
    why = "the loss and the notion are linear in the channel"
    if isinstance(problem.utility, BayesAccuracy):
        why = "releasing the best guess itself makes the accuracy linear"
    elif not isinstance(problem.utility, LinearUtility):
        return
    again, program = f"{why}; a second method for a smaller gap", _Program.of(problem)
    if program.rays:
        yield for_loss(problem, columns, f"{why}; {program.rays}")
    if program.is_expected and program.is_large:
        yield for_loss(problem, interior, f"{why}; it is large, and falls apart by outputs")
        if program.rows > MOST_FOR_HIGHS:
            return
    if program.is_large and not program.is_expected:
        yield for_loss(problem, by_symmetry, f"{why}; by its symmetries, if there are any")
    else:
        yield for_loss(
            problem, by_highs("auto"), again if program.rays or program.is_large else why
        )
    yield for_loss(problem, by_highs("ipm"), again)
    yield for_loss(problem, by_highs("simplex"), again)


@dataclass(frozen=True)
class _Program:
    """What decides how the linear program of a problem is solved.

    Attributes
    ----------
    rows
        Rows for all outputs, compressed.
    is_expected
        Whether the loss is an expected one, not that of the worst case.
    rays
        Why it goes to columns over rays, if it does.
    """

    rows: int
    is_expected: bool
    rays: str | None

    @classmethod
    def of(cls, problem: Problem) -> _Program:
        from mechdesign.routes.column_generation.search import suits
        from mechdesign.routes.interior.conversion import program_rows

        rows, rays = program_rows(problem), None
        if problem.expected_loss is not None and rows >= MIDDLE:
            rays = suits(problem, small=rows < LARGE)
        guess = isinstance(problem.utility, BayesAccuracy)
        return cls(rows, guess or problem.expected_loss is not None, rays)

    @property
    def is_large(self) -> bool:
        """Whether the simplex method would take long."""
        return self.rows >= LARGE


def is_by_interior(problem: Problem) -> bool:
    """Return whether the interior-point method comes first."""
    if not problem.is_conic or not isinstance(problem.utility, LinearUtility | BayesAccuracy):
        return False
    if next(closed_forms(problem, []), None) is not None:
        return False
    program = _Program.of(problem)
    return program.is_expected and program.is_large and not program.rays


def by_highs(method: str) -> Callable[[Problem, Limits], RawSolution]:
    """Return what solves linear programs by a method of HiGHS, within limits."""
    return lambda problem, limits: linear(problem, method, limits)


def decoder_grids(problem: Problem) -> Iterator[Attempt]:
    """Yield the search over decoders, for the posterior-mean error of a scalar."""
    if _is_scalar_error(problem):
        why = "for fixed decoders the error is linear in the channel"
        yield Attempt(lambda limits: _by_decoders(problem, limits), why)
        from mechdesign.routes.decoders.bands import Band

        if len(problem.domain) <= MOST_SEARCHED_TWICE and Band.of(problem) is not None:
            again = f"{why}; another search for a smaller gap"
            yield Attempt(lambda limits: _by_decoders(problem, limits, by_bands=False), again)


def _ray_programs(problem: Problem) -> Iterator[Attempt]:
    if isinstance(problem.utility, ColumnUtility) and not _is_scalar_error(problem):
        why = "the objective is a sum over outputs, best at extreme rays of the cone"
        yield Attempt(lambda limits: by_rays(problem, limits), why)


def estimations(problem: Problem) -> Iterator[Attempt]:
    """Yield the convex program over rays, for risks of estimation."""
    if isinstance(problem.utility, EstimationRisk):
        why = "the risk is convex in the weights of the extreme rays of the cone"
        lifts = any(notion.bounds_lift_from_below for notion in problem.privacy)
        theorem = "erasure" if lifts else None
        yield Attempt(lambda limits: _by_estimation(problem, limits), why, theorem)


def whole_channels(problem: Problem) -> Iterator[Attempt]:
    """Yield ways that reckon with notions about the whole channel, for a loss that is linear."""
    why = "a notion speaks of the whole channel, convexly"
    if isinstance(problem.utility, BayesAccuracy):
        why = "releasing the best guess itself makes the accuracy linear"
    elif not isinstance(problem.utility, LinearUtility):
        return

    def attempt(solve: Solve, name: str, tail: str = "") -> Attempt:
        return for_loss(problem, lambda loss, limits: solve(loss, name, limits), why + tail)

    again = "; another method for a smaller gap"
    if all(
        rule is None or isinstance(rule, ExcessConstraint) for rule in problem.channel_constraints
    ):
        yield attempt(_whole, "simplex")
        yield attempt(_whole, "ipm", again)
        again = "; another solver for a smaller gap"
        yield attempt(solve_conic, CONIC_SOLVERS[0], again)
        return
    if len(problem.privacy) > 1:
        yield attempt(_whole, "simplex", "; the bound on information is left out at first")
    for n, name in enumerate(CONIC_SOLVERS):
        yield attempt(solve_conic, name, again if n else "")


def own(problem: Problem, solver: str, limits: Limits) -> RawSolution:
    """Solve with a loss of the user's own, by a solver that cvxpy knows."""
    from mechdesign.routes.conic.cvxpy_solver import solver_named
    from mechdesign.routes.conic.user_terms import solve_custom

    return solve_custom(problem, (), solver_named(solver), limits)


def numeric(problem: Problem) -> Iterator[Attempt]:
    """Yield every way that computes, best first."""
    if isinstance(problem.utility, ConvexUtility):
        for name in CONIC_SOLVERS:
            why = "a loss of your own, convex in the channel"
            yield Attempt(partial(own, problem, name), why)
        return
    if not problem.is_conic:
        yield from whole_channels(problem)
        return
    yield from linear_programs(problem)
    yield from decoder_grids(problem)
    yield from _ray_programs(problem)
    yield from estimations(problem)
