"""The frontier: what design gives at every budget, and fewer steps for the large ones."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from mechdesign import (
    LDP,
    LIP,
    BayesAccuracy,
    ContextAwareLDP,
    HammingLoss,
    LiftBounds,
    MetricPrivacy,
    PosteriorMeanSquaredError,
    Problem,
    design,
    design_frontier,
)
from mechdesign.errors import InputError
from mechdesign.routes.large_programs import solve_interior
from mechdesign.routes.limits import Limits, Progress
from problems import families

PROBLEMS = {
    "ldp, small": families.ldp_numeric(6),
    "ldp, large": families.ldp_numeric(45),
    "lip, large": families.lip_numeric(40),
    "grid": families.euclidean_grid(5, seed=2),
    "grid, by symmetry": families.euclidean_grid(5),
    "line": families.line_metric(60),
    "a survey": Problem(["yes", "no"], LIP(1), PosteriorMeanSquaredError([1, 0]), prior=[0.1, 0.9]),
    "accuracy": Problem(
        families.euclidean_grid(4).domain,
        MetricPrivacy(1, "euclidean"),
        BayesAccuracy(),
        prior=families.random_prior(16),
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_is_what_design_gives_at_each_budget(name: str) -> None:
    problem, budgets = PROBLEMS[name], [1, "0.5", Fraction(4, 5)]
    found = design_frontier(problem, budgets)
    for budget, solution in zip(budgets, found, strict=True):
        alone = design(problem.at(budget))
        assert solution.problem.privacy == problem.at(budget).privacy
        assert solution.status == "optimal"
        assert math.isclose(float(solution.value), float(alone.value), rel_tol=2e-6)
        assert solution.problem.privacy[0].holds(solution.channel, solution.problem.prior)
    sign = -1 if problem.utility.is_maximised else 1
    losses = [sign * float(s.value) for s in (found[1], found[2], found[0])]
    assert losses[0] >= losses[1] - 1e-9
    assert losses[1] >= losses[2] - 1e-9


def steps(problem: Problem, path: object = None) -> tuple[int, object]:
    seen: list[Progress] = []
    raw = solve_interior(problem, Limits(watch=seen.append), path=path)  # type: ignore[arg-type]
    assert seen[-1].gap <= 1e-8
    return seen[-1].rounds, raw.path


def test_a_path_spares_steps_and_changes_nothing() -> None:
    below, above = families.euclidean_grid(6, seed=0), families.euclidean_grid(6, "0.74", seed=0)
    _, path = steps(below)
    assert steps(above, path)[0] < steps(above)[0]


def test_a_path_that_is_outside_or_of_another_shape_is_left_alone() -> None:
    _, path = steps(families.euclidean_grid(5, seed=0))
    smaller, other = families.euclidean_grid(5, "0.3", seed=0), families.euclidean_grid(4, seed=0)
    assert steps(smaller, path)[0] == steps(smaller)[0]
    assert steps(other, path)[0] == steps(other)[0]


def test_budgets_may_be_none() -> None:
    assert design_frontier(PROBLEMS["grid"], []) == []


@pytest.mark.parametrize(
    ("problem", "epsilons", "message"),
    [
        (Problem(range(2), LiftBounds(1, 1), HammingLoss(), prior=[0.5, 0.5]), [1], "privacy"),
        (Problem(range(2), ContextAwareLDP([[0, 1], [1, 0]]), HammingLoss()), [1], "privacy"),
        (families.lip_and_ldp(3), [1], "privacy"),
        (Problem(range(2), LDP(1), HammingLoss()), [1, -1], "epsilon"),
        (Problem(range(2), LDP(1), HammingLoss()), ["much"], r"epsilons\[0\]"),
        (Problem(range(2), LDP(1), HammingLoss()), 1, "epsilons: expected a list"),
    ],
    ids=["two budgets", "a matrix", "two notions", "below 0", "no number", "no list"],
)
def test_what_has_no_frontier_is_refused(problem: Problem, epsilons: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        design_frontier(problem, epsilons)  # type: ignore[arg-type]
