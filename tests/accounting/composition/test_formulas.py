"""Conversion bounds compared with eighty-digit arithmetic: never below, hardly above."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, InputError, Prior
from mechdesign.accounting import (
    approximate_delta,
    compose,
    prior_mismatch,
    privacy_profile,
    product,
)
from mechdesign.accounting.conversions.formulas import (
    added,
    lip_composition_bound,
    lip_to_ldp,
    posterior_ratio,
    through_ldp,
)
from tests.strategies import examples

BUDGETS = st.one_of(st.just(0.0), st.floats(1e-9, 40), st.floats(-9, 2).map(lambda e: 10.0**e))
LEAST = st.one_of(
    st.floats(1e-6, 1, exclude_max=True), st.floats(-15, -1).map(lambda e: 1 - 10.0**e)
)


def decimal(value: float | Fraction) -> Decimal:
    exact = Fraction(repr(value)) if isinstance(value, float) else value
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def check_above(found: float, truth: Decimal) -> None:
    """A bound is at least the exact value, and at most two floats above it."""
    assert Decimal(found) >= truth - Decimal("1e-60")
    assert Decimal(math.nextafter(math.nextafter(found, 0.0), 0.0)) <= truth + Decimal("1e-44")


@given(BUDGETS, LEAST)
@examples(200)
def test_each_formula_is_rounded_up(epsilon: float, least: float) -> None:
    """Near P_min = 1 a formula in floats has lost all digits."""
    with localcontext(prec=80):
        e, p = decimal(epsilon), decimal(least)
        ratio = ((e.exp() - 1 + p) / p).ln()
        check_above(through_ldp(epsilon, least), (p + e.exp() * (1 - p)).ln())
        check_above(posterior_ratio(epsilon, least), ratio)
        check_above(lip_to_ldp(epsilon, least), min(2 * e, ratio))
        composed = Decimal(lip_composition_bound([epsilon] * 3, least))
        truth = (p + (3 * min(2 * e, ratio)).exp() * (1 - p)).ln()
        assert truth - Decimal("1e-60") <= composed
        assert composed <= truth * (1 + Decimal("1e-14")) + Decimal("1e-44")


def test_budgets_without_end_and_priors_of_one_input() -> None:
    assert through_ldp(math.inf, 0.5) == lip_to_ldp(math.inf, 0.5) == math.inf
    assert lip_composition_bound([1, math.inf], 0.5) == math.inf
    assert through_ldp(math.inf, 1) == lip_composition_bound([math.inf], 1) == 0
    assert posterior_ratio(math.inf, 0.5) == posterior_ratio(1, 0) == math.inf
    assert lip_composition_bound([], 0.5) == 0
    with pytest.raises(InputError, match="least"):
        through_ldp(1, math.nan)


@given(st.integers(2, 4), st.data())
@examples(25)
def test_no_bound_is_below_what_it_bounds(k: int, data: st.DataObject) -> None:
    """Warner's channel with the uniform prior, and channels near it, attain their bounds."""
    counts = data.draw(st.lists(st.integers(1, 9), min_size=k, max_size=k))
    own = data.draw(st.integers(1, 40))
    rows = [[Fraction(own if x == y else 1, own + k - 1) for y in range(k)] for x in range(k)]
    channel, prior = Channel.from_matrix(rows), Prior.from_counts(counts)
    for row in compose([channel] * data.draw(st.integers(1, 3)), prior).rows:
        assert row.exact <= row.bound
    found = prior_mismatch(channel, Prior.uniform(k), prior)
    assert found.true <= found.bound


@pytest.mark.parametrize("epsilon", [700, 709, 710, 1000, 5000])
def test_profiles_at_budgets_whose_exponentials_are_no_floats(epsilon: int) -> None:
    """A report of a single input has an infinite ratio: delta is its probability, or half of it."""
    channel = Channel.from_matrix([["1/4", "3/4"], [0, 1]])
    found = privacy_profile(channel, [epsilon], Prior(["1/2", "1/2"]))
    assert found.ldp == (Fraction(1, 4),)
    assert found.lip == (Fraction(1, 8),)
    assert privacy_profile(product([channel, channel]), [epsilon]).ldp[0] == 7 / 16


def test_reports_that_one_input_alone_sends_tell_all() -> None:
    clear = Channel.from_matrix([[1, 0], [0, 1]])
    assert approximate_delta([clear, clear], 1) == (1.0, 1.0)
    assert privacy_profile(product([clear, clear]), [1]).ldp[0] == 1
    rare = Channel.from_matrix([["0.999999999", "1e-9", 0], [0, "1e-9", "0.999999999"]])
    below, above = approximate_delta([rare, rare], 1)
    assert below <= privacy_profile(product([rare, rare]), [1]).ldp[0] <= above <= 1 + 1e-12


@given(st.lists(st.floats(0, 40), max_size=5))
@examples(50)
def test_bounds_are_added_as_the_floats_that_they_are(parts: list[float]) -> None:
    """The shortest decimal of a float rounded up may be below the bounded value."""
    assert added(parts) == sum((Fraction(*part.as_integer_ratio()) for part in parts), Fraction(0))
    assert added([*parts, math.inf]) == math.inf
