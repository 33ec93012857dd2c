"""Interval arithmetic holds what mpmath computes with forty digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.accounting.continuous.enclosures import (
    FloatEnclosure,
    between,
    exponential,
    normal_density,
    normal_mass,
)
from mechdesign.exact import enclosures as rational
from mechdesign.exact.enclosures import Enclosure

NUMBERS = st.floats(-1e6, 1e6)
POINTS = st.floats(-45, 45)


@pytest.fixture(autouse=True)
def digits() -> object:
    with mpmath.workdps(40):
        yield


def holds(found: Enclosure, exact: object, relative: float) -> bool:
    low, high = found.ends
    return low <= exact <= high and high - low <= relative * abs(exact) + 1e-300


@given(st.floats(-690, 690))
def test_exponentials(x: float) -> None:
    assert holds(exponential(FloatEnclosure.of(x)), mpmath.exp(mpmath.mpf(x)), 1e-14)


@given(st.floats(-37, 37))
def test_normal_densities(z: float) -> None:
    assert holds(normal_density(FloatEnclosure.of(z)), mpmath.npdf(mpmath.mpf(z)), 1e-12)


@given(POINTS, POINTS)
@settings(max_examples=150)
def test_normal_masses_in_both_tails_and_across(a: float, b: float) -> None:
    a, b = min(a, b), max(a, b)
    found = normal_mass(FloatEnclosure.of(a), FloatEnclosure.of(b))
    if abs(a) < 37 and abs(b) < 37:
        near, far = sorted((abs(a), abs(b))) if a * b > 0 else (0, 0)
        exact = (mpmath.erfc(near / mpmath.sqrt(2)) - mpmath.erfc(far / mpmath.sqrt(2))) / 2
        if a * b <= 0:
            exact = mpmath.ncdf(mpmath.mpf(b)) - mpmath.ncdf(mpmath.mpf(a))
        low, high = found.ends
        assert low <= exact <= high
        scale = mpmath.erfc(near / mpmath.sqrt(2))
        assert high - low <= 1e-11 * scale
    whole = normal_mass(FloatEnclosure.of(-np.inf), FloatEnclosure.of(np.inf)).ends
    assert whole[0] <= 1 <= whole[1]


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.lists(NUMBERS, min_size=1, max_size=30))
def test_arithmetic_holds_what_fractions_say(one: list[float], two: list[float]) -> None:
    a, b = FloatEnclosure.of(one[0]), FloatEnclosure.of(two[0])
    x, y = Fraction(one[0]), Fraction(two[0])
    assert holds_fraction(a + b, x + y)
    assert holds_fraction(a - b, x - y)
    assert holds_fraction(a * b, x * y)
    assert holds_fraction(a.square(), x * x)
    if y > 1e-6:
        assert holds_fraction(a / b, x / y)
        assert b.root().low ** 2 <= two[0] * (1 + 1e-15)
        assert b.root().high ** 2 >= two[0] * (1 - 1e-15)
    assert holds_fraction(FloatEnclosure.of(one).sum(), sum(map(Fraction, one), Fraction(0)))


def holds_fraction(found: Enclosure, exact: Fraction) -> bool:
    low, high = found.ends
    return Fraction(low) <= exact <= Fraction(high)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.floats(0, 1), st.floats(0, 1))
def test_intervals_hold_all_that_their_members_give(
    a: float, b: float, c: float, d: float, s: float, t: float
) -> None:
    one, two = between(min(a, b), max(a, b)), between(min(c, d), max(c, d))
    x = min(max(a + s * (b - a), float(one.low)), float(one.high))
    y = min(max(c + t * (d - c), float(two.low)), float(two.high))
    for op in ("__add__", "__sub__", "__mul__"):
        exact = getattr(Fraction(x), op)(Fraction(y))
        assert holds_fraction(getattr(one, op)(two), exact)
    assert holds_fraction(one.square(), Fraction(x) ** 2)
    if two.low > 1e-6:
        assert holds_fraction(one / two, Fraction(x) / Fraction(y))


@pytest.mark.parametrize("text", ["0", "1", "1/3", "-7", "63/100", "40"])
def test_powers_of_e_and_their_logarithms(text: str) -> None:
    number = Fraction(text)
    power = rational.exponential(number)
    exact = mpmath.exp(mpmath.mpf(number.numerator) / number.denominator)
    assert holds(power, exact, 1e-15)
    back = rational.logarithm(power).ends
    assert back.low <= number <= back.high
    assert back.high - back.low <= 1e-14 * max(1, abs(number))


def test_normal_masses_agree_with_interval_arithmetic_of_mpmath() -> None:
    """By its exponential on many cells: another proof of the same number."""
    mpmath.iv.dps = 20
    steps, low, high = 400, mpmath.iv.mpf(0), mpmath.iv.mpf(0)
    for n in range(steps):
        a, b = mpmath.iv.mpf(2) * n / steps, mpmath.iv.mpf(2) * (n + 1) / steps
        width = (b - a) / mpmath.iv.sqrt(2 * mpmath.iv.pi)
        low += width * mpmath.iv.exp(-b * b / 2)
        high += width * mpmath.iv.exp(-a * a / 2)
    found = normal_mass(FloatEnclosure.of(0.0), FloatEnclosure.of(2.0)).ends
    assert low.a <= found[0] <= found[1] <= high.b
