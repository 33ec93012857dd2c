"""Interval arithmetic holds what fractions and mpmath with forty digits compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.accounting.continuous.enclosures import (
    FloatEnclosure,
    between,
    exponential,
    normal_density,
    normal_mass,
)
from mechdesign.exact import enclosures as rational
from mechdesign.exact.enclosures import Enclosure
from tests.strategies import examples

NUMBERS = st.floats(-1e6, 1e6)


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mpmath.workdps(40):
        yield


def holds(found: Enclosure, exact: Any, relative: float | None = None) -> bool:
    low, high = found.ends
    if isinstance(exact, Fraction):
        low, high = Fraction(low), Fraction(high)
    narrow = relative is None or high - low <= relative * abs(exact) + 1e-300
    return low <= exact <= high and narrow


@pytest.mark.parametrize(
    ("function", "reference", "farthest", "relative"),
    [(exponential, mpmath.exp, 690, 1e-14), (normal_density, mpmath.npdf, 37, 1e-12)],
)
@given(st.floats(-1, 1))
def test_functions(
    function: Callable[..., Any], reference: Any, farthest: float, relative: float, share: float
) -> None:
    x = share * farthest
    assert holds(function(FloatEnclosure.of(x)), reference(mpmath.mpf(x)), relative)


@given(st.floats(-45, 45), st.floats(-45, 45))
@examples(50)
def test_normal_masses_in_both_tails_and_across(a: float, b: float) -> None:
    a, b = min(a, b), max(a, b)
    found = normal_mass(FloatEnclosure.of(a), FloatEnclosure.of(b))
    if max(abs(a), abs(b)) < 37:
        near, far = sorted((abs(a), abs(b))) if a * b > 0 else (0, 0)
        exact = (mpmath.erfc(near / mpmath.sqrt(2)) - mpmath.erfc(far / mpmath.sqrt(2))) / 2
        if a * b <= 0:
            exact = mpmath.ncdf(mpmath.mpf(b)) - mpmath.ncdf(mpmath.mpf(a))
        assert holds(found, exact)
        assert found.ends.high - found.ends.low <= 1e-11 * mpmath.erfc(near / mpmath.sqrt(2))
    assert holds(normal_mass(FloatEnclosure.of(-np.inf), FloatEnclosure.of(np.inf)), 1)


@given(st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS), st.floats(0, 1), st.booleans())
def test_intervals_hold_all_that_their_members_give(
    first: tuple[float, float], second: tuple[float, float], t: float, points: bool
) -> None:
    """For single points as well; and the sum of many numbers."""
    if points:
        first, second = (first[0],) * 2, (second[0],) * 2
    one, two = (between(min(ends), max(ends)) for ends in (first, second))
    x, y = (Fraction(min(max(a + t * (b - a), min(a, b)), max(a, b))) for a, b in (first, second))
    for name in ("__add__", "__sub__", "__mul__"):
        assert holds(getattr(one, name)(two), getattr(x, name)(y))
    assert holds(one.square(), x * x)
    if two.low > 1e-6:
        assert holds(one / two, x / y)
        root = two.root()
        assert Fraction(float(root.low)) ** 2 <= y <= Fraction(float(root.high)) ** 2
    numbers = [*first, *second, t]
    assert holds(FloatEnclosure.of(numbers).sum(), sum(map(Fraction, numbers), Fraction(0)))


@given(st.fractions(max_denominator=50), st.fractions(max_denominator=50))
def test_rational_arithmetic_rounds_outward(a: Fraction, b: Fraction) -> None:
    one, other = Enclosure(a - 1, a + 1), Enclosure.of(b)
    for found, exact in ((one + other, a + b), (one - other, a - b), (one * other, a * b)):
        assert found.low <= exact <= found.high
    with pytest.raises(ZeroDivisionError):
        one / Enclosure(Fraction(-1), Fraction(1))


@pytest.mark.parametrize("text", ["0", "1", "1/3", "-7", "63/100", "40"])
def test_powers_of_e_and_their_logarithms(text: str) -> None:
    number = Fraction(text)
    power = rational.exponential(number)
    assert holds(power, mpmath.exp(mpmath.mpf(number.numerator) / number.denominator), 1e-15)
    back = rational.logarithm(power).ends
    assert back.low <= number <= back.high <= back.low + 1e-14 * max(1, abs(number))
