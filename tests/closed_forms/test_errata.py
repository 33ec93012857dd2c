"""Where the papers are wrong, shown on both sides: what they state fails, what we do holds.

CNS is Jiang et al. 2018, arXiv its extended version, TIFS Jiang et al. 2021.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, strategies as st
from scipy.optimize import linprog

from mechdesign.channel import Channel
from mechdesign.designs.design import design
from mechdesign.mechanisms.randomized_response import in_region, leakage_of_formula
from mechdesign.notions import LDP, LIP, BoundedPriorLIP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import MeanAbsoluteError, PosteriorMeanSquaredError
from tests.documents import proved
from tests.strategies import examples

SURVEY = PosteriorMeanSquaredError(values=[1, 0])

budgets = st.integers(5, 400).map(lambda n: Fraction(n, 100))
priors = st.lists(st.integers(1, 60), min_size=2, max_size=5).map(Prior.from_counts)
shares = st.integers(1, 99).map(lambda n: Fraction(n, 100))


def lip_randomized_response(prior: Prior, epsilon: float) -> Channel:
    """CNS Theorem 2, arXiv Theorem 3, TIFS (19): the truth, or else a fresh draw from the prior."""
    k, shrink = len(prior), math.exp(-epsilon)
    return Channel.from_matrix((1 - shrink) * np.eye(k) + shrink * np.tile(prior.array, (k, 1)))


def claimed(share: float, epsilon: float) -> float:
    """CNS (19): the error that Theorem 2 claims."""
    return share * (1 - share) * (2 * math.exp(-epsilon) - math.exp(-2 * epsilon))


def symmetric(flip: float) -> Channel:
    return Channel.from_matrix([[1 - flip, flip], [flip, 1 - flip]])


# CNS Theorem 2, arXiv Theorems 2, 3 and 5, TIFS (19): LIP randomized response for every prior.


@examples(30)
@given(priors, budgets)
@example(Prior([0.01, 0.99]), Fraction(1))
@example(Prior.uniform(3), Fraction(1))
@example(Prior.uniform(4), Fraction(1))
def test_lip_randomized_response_is_private_exactly_on_its_region(
    prior: Prior, epsilon: Fraction
) -> None:
    e, least = float(epsilon), float(prior.minimum)
    assume(abs(least * (math.exp(e) + 1) - 1) > 1e-6)
    channel = lip_randomized_response(prior, e)
    leakage = LIP(epsilon).leakage(channel, prior)
    inside = least >= 1 / (math.exp(e) + 1)
    assert inside == in_region(prior, epsilon)
    assert inside == (leakage <= e + 1e-12)
    largest_lift = (math.exp(e) - 1 + least) / (math.exp(e) * least)
    assert leakage == pytest.approx(max(e, math.log(largest_lift)), rel=1e-9)
    assert leakage == pytest.approx(leakage_of_formula(prior, epsilon), rel=1e-9)
    # Both halves of privacy, a little beside what it leaks.
    assert LIP(Fraction(leakage) + Fraction(1, 10**9)).holds(channel, prior)
    assert not LIP(Fraction(leakage) - Fraction(1, 100)).holds(channel, prior)


def test_at_prior_ten_percent_its_claim_is_out_of_reach() -> None:
    prior = Prior([0.1, 0.9])
    channel = lip_randomized_response(prior, 1.0)
    assert LIP(1).leakage(channel, prior) == pytest.approx(1.9, abs=0.01)
    assert claimed(0.1, 1.0) == pytest.approx(0.054038, abs=1e-6)
    assert float(SURVEY.value(channel, prior)) == pytest.approx(claimed(0.1, 1.0), rel=1e-12)
    solution = proved(Problem(["yes", "no"], LIP(1), SURVEY, prior=prior))
    assert float(solution.value) == pytest.approx(0.0791384, abs=1e-7)
    assert solution.bound > claimed(0.1, 1.0)
    assert not LIP(0.99).holds(solution.channel, prior)


@examples(15)
@given(shares, budgets)
def test_the_survey_optimum_is_the_claim_exactly_on_the_region(
    share: Fraction, epsilon: Fraction
) -> None:
    prior = Prior([share, 1 - share])
    solution = proved(Problem(["yes", "no"], LIP(epsilon), SURVEY, prior=prior))
    claim = claimed(float(share), float(epsilon))
    if in_region(prior, epsilon):
        assert float(solution.value) == pytest.approx(claim, rel=1e-9)
    else:
        assert float(solution.bound) > claim * (1 - 1e-9)


# CNS Proposition 3: Warner's randomized response is the optimal LDP channel of the survey (true),
# and its comparison with LIP.


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_ldp_optimum_of_the_survey_is_as_published(share: float, epsilon: float) -> None:
    e, variance = math.exp(epsilon), share * (1 - share)
    published = variance - (variance * (1 - e)) ** 2 / (
        (1 - share + share * e) * (e - share * e + share)
    )
    ldp = design(Problem(["yes", "no"], LDP(epsilon), SURVEY, prior=[share, 1 - share]))
    assert float(ldp.value) == pytest.approx(published, rel=1e-9)
    lip = design(Problem(["yes", "no"], LIP(epsilon), SURVEY, prior=[share, 1 - share]))
    assert lip.value <= ldp.value


# The LIP-versus-LDP comparison there takes GRR for the optimal LDP channel.


def grr(k: int, epsilon: float) -> Channel:
    off = 1 / (math.exp(epsilon) + k - 1)
    return Channel.from_matrix(np.full((k, k), off) + (1 - k * off) * np.eye(k))


def ray_optimum(prior: Prior, f: np.ndarray, epsilon: float) -> float:
    """The least posterior error under LDP, by a linear program over all 2**k - 2 extreme rays."""
    entries = itertools.product((1.0, math.exp(epsilon)), repeat=len(prior))
    rays = np.array([r for r in entries if len(set(r)) == 2])
    rays /= rays @ prior.array[:, None]  # so that P . r = 1
    gain = (rays @ (prior.array * f)) ** 2
    found = linprog(-gain, A_eq=rays.T, b_eq=np.ones(len(prior)), method="highs")
    assert found.status == 0
    return float(prior.array @ f**2 + found.fun)


def excess_of_grr(k: int, f: list[float], epsilon: float) -> float:
    """How far, relative to it, the posterior error of GRR is above the optimum."""
    prior = Prior.uniform(k)
    error = PosteriorMeanSquaredError(values=f).value(grr(k, epsilon), prior)
    return float(error) / ray_optimum(prior, np.array(f), epsilon) - 1


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_grr_is_optimal_for_a_survey_of_two_inputs_and_of_no_more(epsilon: float) -> None:
    assert LDP(epsilon).leakage(grr(4, epsilon)) == pytest.approx(epsilon, abs=1e-9)
    for k in (2, 3, 4, 5, 6):
        excess = excess_of_grr(k, [1.0] + [0.0] * (k - 1), epsilon)
        if k == 2:
            assert excess == pytest.approx(0, abs=1e-9)
        else:
            assert excess > 0.02


# TIFS, the optimal mechanism for an uncertain prior Pr(X = 1) in [a, b].


def tifs_uncertain_prior(a: float, b: float, epsilon: float) -> Channel:
    q01, q10 = (share / (b - a + math.exp(epsilon)) for share in (b, 1 - a))
    return Channel.from_matrix([[1 - q01, q01], [q10, 1 - q10]])


def test_the_published_optimum_for_an_uncertain_prior_is_not_private() -> None:
    published = tifs_uncertain_prior(0.1, 0.3, 0.5)
    notion = BoundedPriorLIP(0.5, lower=[0.7, 0.1], upper=[0.9, 0.3])
    assert notion.leakage(published) == pytest.approx(1.91 * 0.5, abs=0.005)
    assert not notion.at(0.95).holds(published)
    for share in (0.1, 0.2, 0.3):
        prior = Prior([1 - share, share])
        solution = proved(Problem([0, 1], notion, PosteriorMeanSquaredError(), prior=prior))
        assert not notion.at(0.49).holds(solution.channel)
        error = PosteriorMeanSquaredError().value(published, prior)
        assert error < solution.bound  # better than any private channel: that is the defect


@examples(15)
@given(shares, shares, budgets)
def test_it_is_private_where_both_ends_of_the_interval_allow(
    one: Fraction, other: Fraction, epsilon: Fraction
) -> None:
    a, b = sorted((one, other))
    published = tifs_uncertain_prior(float(a), float(b), float(epsilon))
    notion = BoundedPriorLIP(epsilon, lower=[1 - b, a], upper=[1 - a, b])
    e = math.exp(epsilon)
    q01, q10 = float(b) / (float(b - a) + e), float(1 - a) / (float(b - a) + e)
    # The largest lift from above is at the prior where the input is least likely.
    lifts = [
        (1 - q10) / (float(a) * (1 - q10) + float(1 - a) * q01),
        (1 - q01) / (float(1 - b) * (1 - q01) + float(b) * q10),
    ]
    assume(all(abs(lift - e) > 1e-6 for lift in lifts))
    private = notion.leakage(published) <= float(epsilon) + 1e-9
    assert private == (max(lifts) <= e)


# arXiv Proposition 3, the mean absolute error, holds on the region only.


def test_off_the_region_the_linear_program_beats_the_formula_in_absolute_error() -> None:
    prior = Prior([0.6, 0.4])
    formula = lip_randomized_response(prior, 0.1)
    assert not in_region(prior, Fraction(1, 10))
    assert float(MeanAbsoluteError().value(formula, prior)) == pytest.approx(0.434, abs=5e-4)
    assert not LIP(0.1).holds(formula, prior)
    solution = proved(Problem([0, 1], LIP(0.1), MeanAbsoluteError(), prior=prior))
    assert float(solution.value) == pytest.approx(0.4, rel=1e-9)


# CNS Proposition 4, the symmetric model: its channel is correct for every prior and budget.


def published_flip(share: float, epsilon: float) -> float:
    e = math.exp(epsilon)
    return (1 - share) / (e - 2 * share + 1) if share <= 0.5 else share / (e + 2 * share - 1)


@examples(30)
@given(shares, budgets)
def test_the_symmetric_model_is_private_and_tight(share: Fraction, epsilon: Fraction) -> None:
    prior = Prior([1 - share, share])
    flip = published_flip(float(share), float(epsilon))
    assert 0 < flip <= 0.5
    assert LIP(epsilon).leakage(symmetric(flip), prior) == pytest.approx(float(epsilon), abs=1e-9)
    assert not LIP(epsilon).holds(symmetric(flip - 1e-4), prior)
