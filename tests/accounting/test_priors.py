"""Wrong priors: the papers' bounds against exact leakages, and designs from samples."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import LIP, Channel, PosteriorMeanSquaredError, Prior, Problem, design
from mechdesign.accounting.priors import (
    family_bound,
    log_ratio_bound,
    prior_ball,
    prior_mismatch,
    robust_problem,
    sample_radius,
    total_variation,
)
from tests.strategies import channels, examples, priors

HISTOGRAM = PosteriorMeanSquaredError(histogram=True)


def exact_lip(channel: Channel, prior: Prior) -> float:
    """The largest absolute log lift, by the definition."""
    Q, p = channel.matrix, prior.array
    return float(np.abs(np.log(Q / (p @ Q))).max())


@given(st.data())
@examples(40)
def test_the_bounds_hold_for_every_channel(data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 4))
    assumed, true = data.draw(priors(k, least=1)), data.draw(priors(k, least=1))
    channel = data.draw(channels(k, least=1))
    found = prior_mismatch(channel, assumed, true)
    assert found.assumed == pytest.approx(exact_lip(channel, assumed), abs=1e-12)
    assert found.true == pytest.approx(exact_lip(channel, true), abs=1e-12)
    assert found.difference <= found.sharper + 1e-12
    assert found.sharper <= found.shift + 1e-12
    assert found.true <= found.bound + 1e-12
    assert family_bound(assumed, [true]) == family_bound(true, [assumed])
    other = data.draw(priors(k, least=1))
    whole = family_bound(assumed, [true, other])
    assert whole >= max(family_bound(assumed, [prior]) for prior in (true, other))


def test_lemma_3_written_out() -> None:
    p, q = Prior([0.25, 0.25, 0.5]), Prior([0.1, 0.4, 0.5])
    assert total_variation(p, q) == Fraction(3, 20)
    assert family_bound(p, [q]) == pytest.approx(math.log(1 + 0.15 / 0.1))
    assert log_ratio_bound(p, q) == pytest.approx(math.log(2.5))
    assert family_bound(p, [p]) == log_ratio_bound(p, p) == 0
    assert family_bound(p, [Prior([0, 0.5, 0.5])]) == math.inf
    assert log_ratio_bound(p, Prior([0, 0.5, 0.5])) == math.inf
    assert log_ratio_bound(Prior([0, 0.5, 0.5]), Prior([0, 0.25, 0.75])) == pytest.approx(
        math.log(2)
    )


def test_the_difference_can_be_all_that_the_ratios_allow() -> None:
    """An output that is likely for a single input x has probability close to P_x."""
    p, q = Prior([0.5, 0.5]), Prior([0.25, 0.75])
    tiny = Fraction(1, 10**6)
    channel = Channel.from_matrix([[1 - tiny, tiny], [tiny, 1 - tiny]])
    found = prior_mismatch(channel, p, q)
    below = math.log(float(Fraction(3, 4) / tiny)) - math.log(float(Fraction(1, 2) / tiny))
    assert found.difference == pytest.approx(below, abs=1e-5)
    assert found.sharper == pytest.approx(math.log(2))


# --- samples ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "samples", "beta"), [(2, 10, 0.05), (4, 1000, 0.1), (30, 50, 0.5)]
)
def test_the_radius_is_that_of_the_inequality(size: int, samples: int, beta: float) -> None:
    radius = float(sample_radius(size, samples, beta))
    exact = math.sqrt((math.log(2**size - 2) - math.log(beta)) / (2 * samples))
    assert min(1, exact) <= radius <= min(1, exact + 2e-9)
    published = 0.5 * math.sqrt(2 * (size - math.log(beta)) / samples)
    assert radius <= published + 2e-9 or radius == 1


@pytest.mark.parametrize("p", [0.5, 0.1, 0.03])
def test_the_ball_has_its_confidence(p: float) -> None:
    """Exactly, for two inputs: the binomial chance that |count/n - p| passes the radius."""
    for n, beta in ((20, 0.05), (200, 0.3)):
        radius = float(sample_radius(2, n, beta))
        chances = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
        outside = sum(chance for c, chance in enumerate(chances) if abs(c / n - p) > radius)
        assert outside <= beta


def test_a_ball_from_counts() -> None:
    ball = prior_ball([30, 0, 70], "0.05")
    assert ball.center == (Fraction(3, 10), Fraction(0), Fraction(7, 10))
    assert ball.radius == sample_radius(3, 100, "0.05")
    assert prior_ball([1, 0], "0.01").radius == 1
    assert prior_ball([5], 0.5).radius == 0


def test_robustness_costs_less_with_more_samples() -> None:
    """The robust channel uses its budget at the edge of the ball; the naive one exceeds it."""
    costs = []
    for n in (1, 10, 100):
        problem = robust_problem(["yes", "no"], [20 * n, 80 * n], 1, HISTOGRAM)
        trusting = design(Problem(problem.domain, LIP(1), HISTOGRAM, prior=problem.prior))
        robust, notion = design(problem), problem.privacy[0]
        costs.append(float(robust.value) - float(trusting.value))
        assert 1 - 1e-9 < notion.leakage(robust.channel) <= 1 < notion.leakage(trusting.channel)
    assert costs[0] > costs[1] > costs[2] > 0
