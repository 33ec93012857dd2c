"""Notions in cvxpy: what they take, what their duals are, and sweeps that are compiled once."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import mechdesign as md
from mechdesign import InputError, Problem, UnsupportedError, design
from mechdesign.sweeps import design_frontier
from tests.refusals_support import check_refused

INPUTS = ["a", "b", "c"]
PRIOR = [0.5, 0.3, 0.2]
LINEAR = [
    md.LDP(1),
    md.LIP(1),
    md.PML(1),
    md.HighLowLDP(1, ["a"]),
    md.BlockLDP(1, [["a", "b"], ["c"]]),
    md.BoundedPriorLIP(1, priors=[PRIOR, [0.2, 0.4, 0.4]]),
]


def program(rows: list[Any], Q: cp.Variable) -> cp.Problem:
    loss = 1 - sum(p * Q[x, x] for x, p in enumerate(PRIOR))
    return cp.Problem(cp.Minimize(loss), [*rows, cp.sum(Q, axis=1) == 1])


@pytest.mark.parametrize(
    ("domain", "prior"),
    [
        (range(3), PRIOR),
        (3, np.array(PRIOR)),
        (INPUTS, pd.Series([0.2, 0.5, 0.3], index=["c", "a", "b"])),
        (pd.Series(INPUTS), {"b": 0.3, "a": 0.5, "c": 0.2}),
        (md.Domain(INPUTS), md.Prior(PRIOR)),
    ],
)
def test_a_domain_and_a_prior_are_taken_as_by_a_problem(domain: Any, prior: Any) -> None:
    Q = cp.Variable((3, 3), nonneg=True)
    value = program(md.LIP(1).constraints(Q, domain, prior), Q).solve(solver="CLARABEL")
    best = design(Problem(INPUTS, md.LIP(1), md.HammingLoss(), prior=PRIOR))
    assert value == pytest.approx(float(best.value), rel=1e-6)


@pytest.mark.parametrize("given", [md.Prior(PRIOR), {"a": 0.5}, "abc", np.eye(3)[0, 0]])
def test_a_prior_is_refused_as_a_domain(given: Any) -> None:
    check_refused("", lambda: md.LIP(1).constraints(cp.Variable((3, 3)), given, PRIOR))


def test_the_variable_has_a_row_for_each_input() -> None:
    with pytest.raises(InputError, match=r"Q: expected a row for each of 3 inputs"):
        md.LDP(1).constraints(cp.Variable((2, 3)), INPUTS)


@pytest.mark.parametrize("notion", [md.LDP(1), md.LIP(1)], ids=str)
def test_duals_are_the_multipliers_of_the_named_rows(notion: md.LDP | md.LIP) -> None:
    """Each row that binds has the multiplier that the certificate of the library has."""
    Q = cp.Variable((3, 3), nonneg=True)
    prior = md.Prior(PRIOR)
    (rows,) = notion.constraints(Q, INPUTS, prior)
    program([rows], Q).solve(solver="CLARABEL")
    cone = notion.cone(md.Domain(INPUTS), prior)
    listed = list(cone.rows())
    assert rows.dual_value.shape == (len(listed), 3)
    slack = cone.matrix() @ Q.value
    assert abs(rows.dual_value * slack).max() < 1e-6  # complementary slackness
    shrink = np.array([[np.exp(-float(row.exponent))] for row in listed])
    left = np.array([[float(row.left.get(x, 0)) for x in range(3)] for row in listed])
    right = np.array([[float(row.right.get(x, 0)) for x in range(3)] for row in listed])
    assert np.allclose(shrink * left - right, cone.matrix().toarray())


@pytest.mark.parametrize("notion", LINEAR, ids=str)
def test_a_sweep_by_a_parameter_is_the_frontier(notion: Any) -> None:
    Q, budget = cp.Variable((3, 3), nonneg=True), cp.Parameter(nonneg=True)
    sweep = program(notion.constraints(Q, INPUTS, PRIOR, epsilon=budget), Q)
    assert sweep.is_dcp(dpp=True)
    problem = Problem(INPUTS, notion, md.HammingLoss(), prior=PRIOR)
    budgets = [0.5, 1, 2]
    for epsilon, best in zip(budgets, design_frontier(problem, budgets), strict=True):
        budget.value = epsilon
        assert sweep.solve(solver="CLARABEL") == pytest.approx(float(best.value), abs=1e-6)


@pytest.mark.parametrize(
    "notion", [md.MetricPrivacy(1, "absolute"), md.ApproximateLDP(1, 0.1), md.AsymmetricLift(1, 1)]
)
def test_rows_that_are_not_linear_in_the_parameter_are_refused(notion: Any) -> None:
    with pytest.raises(UnsupportedError, match="epsilon: expected a notion whose rows are linear"):
        notion.constraints(cp.Variable((3, 3)), range(3), PRIOR, epsilon=cp.Parameter())


@pytest.mark.parametrize("epsilon", [2, cp.Parameter(2), cp.Variable()], ids=str)
def test_only_a_scalar_parameter_is_taken_for_epsilon(epsilon: Any) -> None:
    with pytest.raises(InputError, match=r"epsilon: expected a scalar cvxpy\.Parameter"):
        md.LDP(1).constraints(cp.Variable((3, 3)), range(3), epsilon=epsilon)
