"""Rows for all priors of a box or a ball at once: the same columns, proofs at one prior a side."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import mechdesign as md
from mechdesign.kernel.generators import Lift, Listed
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import PriorSet
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.lp.extended_formulation import family_rows
from problems.families import random_prior


def sets(k: int, seed: int) -> list[PriorSet]:
    prior = list(random_prior(k, seed, largest=9))
    fifth = Fraction(1, 5)
    return [
        md.PriorBall(prior, Fraction(seed, 10)),
        md.PriorBox([p * (1 - fifth) for p in prior], [min(1, p * (1 + fifth)) for p in prior]),
        md.PriorBox([0] * k, [1] * k),
    ]


@settings(max_examples=40)
@given(
    k=st.integers(2, 5),
    seed=st.integers(0, 10),
    n=st.integers(0, 3),
    draw=st.integers(0, 99),
    sides=st.sampled_from([(True, True), (True, False), (False, True)]),
)
def test_the_columns_are_those_of_all_vertices(
    k: int, seed: int, n: int, draw: int, sides: tuple[bool, bool]
) -> None:
    """The cheapest column with one sum is the same, and multipliers carried back prove it."""
    priors = sets(k, seed)[min(n, 2)]
    vertices = Listed(priors.vertices())
    (both,) = md.BoundedPriorLIP(1, priors).generators(md.Domain.range(k), None)
    assert isinstance(both, Lift)
    upper, lower = (Fraction(1) if side else None for side in sides)
    own, listed = (
        LiftRows("lift", Lift(lower, upper, given), Fraction(1, 2))
        for given in (vertices if n == 3 else both.priors, vertices)
    )
    costs, values = np.random.default_rng(draw).normal(size=k), []
    for family in (own, listed):
        short = family_rows(family, True)
        extra = np.zeros(short.A.shape[1] - k)
        model = LPModel(
            np.append(costs, extra),
            sp.csr_array(sp.vstack([short.A, np.append(np.ones(k), extra)[None]])),
            np.append(np.where(short.equal, 0.0, -np.inf), 1.0),
            np.append(np.zeros(len(short.equal)), 1.0),
        )
        found = solve_lp(model, "simplex")
        values.append(float(model.cost @ found.primal))
        reduced = costs[:, None].copy()
        for m in short.duals(np.maximum(-found.dual[:-1, None], 0.0)):
            family.add_terms(reduced, m)
            assert all(map(both.priors.has, m.priors))
        assert float(reduced.min()) == pytest.approx(values[0], abs=1e-8)
    assert values[0] == pytest.approx(values[1], abs=1e-9)


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
        prior=priors.member_near(np.full(k, 1 / k)),
    )
    solution = md.design(problem, route=f"linear-program:{method}")
    assert solution.gap < 1e-8
    assert all(claim.leakage <= 1 for claim in solution.privacy)


def test_a_ball_meets_its_vertices_and_another_notion() -> None:
    ball = md.PriorBall(random_prior(4), "1/10")
    prior, utility = ball.center, md.MeanAbsoluteError()
    values = [
        float(md.design(md.Problem(range(4), notions, utility, prior=prior)).value)
        for notions in (
            [md.BoundedPriorLIP(1, ball), md.LDP("3/2")],
            [md.BoundedPriorLIP(1, list(ball.vertices())), md.LDP("3/2")],
        )
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
