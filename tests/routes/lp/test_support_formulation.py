"""Rows for all priors of a box or a ball at once: the same columns, proofs at one prior a side."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mechdesign as md
from mechdesign.prior_sets import PriorSet
from mechdesign.routes.highs import LPModel, solve_lp
from mechdesign.routes.lp.extended_formulation import extended_formulation
from problems.families import random_prior


def sets(k: int, seed: int) -> list[PriorSet]:
    prior = list(random_prior(k, seed, largest=9))
    fifth = Fraction(1, 5)
    return [
        md.PriorBall(prior, Fraction(seed, 10)),
        md.PriorBox([p * (1 - fifth) for p in prior], [min(1, p * (1 + fifth)) for p in prior]),
        md.PriorBox([0] * k, [1] * k),
    ]


@settings(max_examples=20)
@given(k=st.integers(2, 5), seed=st.integers(0, 10), n=st.integers(0, 2), draw=st.integers(0, 99))
def test_the_columns_are_those_of_all_vertices(k: int, seed: int, n: int, draw: int) -> None:
    """The cheapest column with one sum is the same, whatever the costs."""
    priors = sets(k, seed)[n]
    own, listed = (
        md.BoundedPriorLIP(Fraction(1, 2), given).family(md.Domain.range(k))
        for given in (priors, list(priors.vertices()))
    )
    costs = np.random.default_rng(draw).normal(size=k)
    found = []
    for A in (
        extended_formulation(own).A,
        extended_formulation(listed, listed.priors.members).A,
    ):
        equal = np.zeros(A.shape[0], dtype=bool)
        if A.shape[1] == k + len(listed.priors.members):
            equal = extended_formulation(listed, listed.priors.members).equal
        one = np.zeros((1, A.shape[1]))
        one[:, :k] = 1
        model = LPModel(
            np.concatenate([costs, np.zeros(A.shape[1] - k)]),
            type(A)(np.concatenate([A.toarray(), one])),
            np.append(np.where(equal, 0.0, -np.inf), 1.0),
            np.append(np.zeros(len(equal)), 1.0),
        )
        found.append(float(model.cost @ solve_lp(model, "simplex").primal))
    assert found[0] == pytest.approx(found[1], abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("seed", [0, 1, 5, 10])
@pytest.mark.parametrize("method", ["simplex", "ipm"])
def test_the_optimum_is_proved(n: int, seed: int, method: str) -> None:
    k = 6
    priors = sets(k, seed)[n]
    problem = md.Problem(
        md.Domain.range(k),
        md.BoundedPriorLIP(1, priors),
        md.MeanAbsoluteError(),
        prior=priors.middle,
    )
    solution = md.design(problem, route=f"linear-program:{method}")
    assert solution.gap < 1e-8
    assert all(claim.leakage <= 1 for claim in solution.privacy)


def test_a_ball_meets_its_vertices_and_another_notion() -> None:
    ball = md.PriorBall(random_prior(4), "1/10")
    prior, utility = ball.middle, md.MeanAbsoluteError()
    values = [
        float(md.design(md.Problem(range(4), notions, utility, prior=prior)).value)
        for notions in (
            [md.BoundedPriorLIP(1, ball), md.LDP("3/2")],
            [md.BoundedPriorLIP(1, list(ball.vertices())), md.LDP("3/2")],
        )
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
