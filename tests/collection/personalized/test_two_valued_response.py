"""The two-valued responder: exactly unbiased, exactly private, and no more private than that."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, InputError, Prior
from mechdesign.collection.personalized import TwoValuedResponder
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.reports import Tally
from tests.strategies import examples

budgets = st.integers(1, 600).map(lambda n: Fraction(n, 100))
ends = st.fractions(-1000, 1000, max_denominator=50)
shares = st.fractions(0, 1, max_denominator=997)


@examples(200)
@given(budgets, ends, st.fractions("1/7", 1000, max_denominator=7), shares)
def test_the_expected_report_is_the_scaled_value_exactly(
    epsilon: Fraction, low: Fraction, width: Fraction, share: Fraction
) -> None:
    one = TwoValuedResponder(low, low + width, epsilon)
    value = low + share * width
    p = one.probability(value)
    mean_report = one.size * p - one.size * (1 - p)
    assert mean_report == 2 * share - 1 == one.scaled(value)
    # theory, section 8: the corrected mean is the value, exactly
    assert low + width * (mean_report + 1) / 2 == value
    # the published one is 2 value - low - high: right by chance only
    assert width * mean_report == 2 * value - low - (low + width)


@examples(200)
@given(budgets, shares, shares)
def test_any_two_values_are_private_and_the_ends_use_the_budget_up(
    epsilon: Fraction, share: Fraction, other: Fraction
) -> None:
    one = TwoValuedResponder(0, 1, epsilon)
    p, q = one.probability(share), one.probability(other)
    assert p <= exp_lower(epsilon) * q
    assert 1 - p <= exp_lower(epsilon) * (1 - q)
    top, bottom = one.probability(1), one.probability(0)
    assert top + bottom == 1
    assert bottom <= min(p, q)
    assert max(p, q) <= top
    assert top > exp_upper(epsilon - Fraction(1, 10**12)) * bottom
    assert float(epsilon) - 1e-12 < one.leakage <= math.nextafter(float(epsilon), math.inf)


@pytest.mark.parametrize("epsilon", ["0.01", "3", "30"])
def test_the_channel_is_private_at_epsilon_and_not_below(epsilon: str) -> None:
    one = TwoValuedResponder(-5, 5, epsilon)
    channel = one.channel([-5, "1/3", 5])
    assert LDP(epsilon).holds(channel)
    # at 30 the smaller mass is 431 thousand units of 2**-62: known to 2e-6 of itself
    assert not LDP(Fraction(epsilon) - Fraction(1, 10**5)).holds(channel)


def test_the_example_of_the_paper() -> None:
    """$800 in $0-$10000 at 0.2: +10.03 with probability 0.46."""
    one = TwoValuedResponder(0, 10_000, "0.2")
    assert one.scaled(800) == Fraction(-84, 100)
    assert float(one.size) == pytest.approx((math.exp(0.2) + 1) / (math.exp(0.2) - 1), rel=1e-15)
    formula = (-0.84 * (math.exp(0.2) - 1) + math.exp(0.2) + 1) / (2 * math.exp(0.2) + 2)
    assert float(one.probability(800)) == pytest.approx(formula, rel=1e-15)
    assert f"{float(one.size):.2f} {formula:.2f}" == "10.03 0.46"


def test_the_estimate_of_a_tally_is_exact() -> None:
    one = TwoValuedResponder(10, 20, 1)
    tally = Tally(np.array([1, 3]), 4)
    assert one.mean_value(tally) == 10 + 10 * (one.size / 2 + 1) / 2
    with pytest.raises(InputError, match="at least one report"):
        one.mean_value(Tally(np.array([0, 0]), 0))


def test_the_expected_estimate_over_all_reports_is_the_mean_exactly() -> None:
    """All 2**3 reports of three values, each with its exact probability."""
    values = [Fraction(1, 3), Fraction(22, 7), Fraction(5)]
    one = TwoValuedResponder(0, 5, "0.7")
    mean = Fraction(0)
    for pattern in range(8):
        bits = [pattern >> j & 1 for j in range(3)]
        chance = math.prod(
            one.probability(v) if bit else 1 - one.probability(v)
            for v, bit in zip(values, bits, strict=True)
        )
        mean += chance * one.mean_value(Tally(np.array([3 - sum(bits), sum(bits)]), 3))
    assert mean == sum(values) / 3


def test_draws_have_the_law() -> None:
    one = TwoValuedResponder(0, 1, 1)
    for value in (0, 1 / 3, 1):
        n, p = 200_000, float(one.probability(value))
        hits = int(one.tally(one.privatize([value] * n, rng=12)).counts[1])
        assert abs(hits - n * p) < 4 * math.sqrt(n * p * (1 - p))


def test_the_minimum_cannot_be_read() -> None:
    """All in the middle, or half at either end: the same law of the reports, another minimum."""
    channel = TwoValuedResponder(0, 10, 1).channel([0, 5, 10])
    middle, halves = Prior([0, 1, 0]), Prior(["1/2", 0, "1/2"])
    assert channel.output_distribution(middle) == channel.output_distribution(halves)


def test_values_outside_are_refused_or_clipped() -> None:
    one = TwoValuedResponder(0, 10, 1)
    for values, place in (([3, 11], 1), (np.array([3.0, 0.5, -1.0]), 2)):
        with pytest.raises(InputError, match=rf"values\[{place}\]"):
            one.privatize(values)
    clipped, inside = (one.privatize(v, 3, outside="clip") for v in ([3, 11, -4], [3, 10, 0]))
    assert clipped.data.tolist() == inside.data.tolist()


@pytest.mark.parametrize(
    ("low", "high", "epsilon", "key"),
    [
        (1, 1, 1, "high"),
        (0, "x", 1, "high"),
        (0, 1, 0, "epsilon"),
        (0, 1, 31, "epsilon"),
        (0, 1, "1e-30", "epsilon"),
    ],
)
def test_wrong_parameters_are_named(low: object, high: object, epsilon: object, key: str) -> None:
    with pytest.raises(InputError) as caught:
        TwoValuedResponder(low, high, epsilon)  # type: ignore[arg-type]
    assert caught.value.key == key
    with pytest.raises(InputError, match="values"):
        TwoValuedResponder(0, 1, 1).privatize([float("nan")])
    with pytest.raises(InputError, match="values"):
        TwoValuedResponder(0, 1, 1).privatize("0.5")
