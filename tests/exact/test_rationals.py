"""Bounds on exponentials and roots hold, and are tight; numbers are what they print as."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from mechdesign import InputError
from mechdesign.exact import (
    as_fraction,
    exp_lower,
    exp_upper,
    fraction_text,
    log_lower,
    log_upper,
    short_text,
    sqrt_lower,
    sqrt_upper,
)
from tests.independent.rationals import exp, ln, root
from tests.strategies import examples

WIDE = decimal.Context(prec=80, Emin=-(10**9), Emax=10**9)
EXACTLY_SO = Fraction(1, 10**70)
"""What 80 digits may be off by, relatively; the bounds are right to 45 digits."""

exponents = st.one_of(
    st.fractions(-30, 30, max_denominator=10**6),
    st.fractions(-4096, 4096, max_denominator=1000),
    st.builds(lambda n, e: Fraction(n, 10**e), st.integers(-999, 999), st.integers(3, 70)),
    st.builds(Fraction, st.floats(-50, 50)),
)


Bounds = Callable[[Fraction], tuple[Fraction, Fraction]]


def truth(exponent: Fraction) -> Fraction:
    quotient = WIDE.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(WIDE.exp(quotient))


BOTH: dict[str, tuple[Bounds, Bounds, Bounds]] = {
    "the library": (
        lambda a: (exp_lower(a), exp_upper(a)),
        lambda v: (log_lower(v), log_upper(v)),
        lambda v: (sqrt_lower(v), sqrt_upper(v)),
    ),
    "the second verifier": (exp, ln, root),
}
"""Bounds on exponentials, logarithms and roots, from below and above."""


@pytest.mark.parametrize("whose", BOTH)
@examples(60)
@given(exponents)
def test_exponentials_are_bracketed_from_both_sides(whose: str, a: Fraction) -> None:
    assume(abs(a) < 3000)
    exponential, _, _ = BOTH[whose]
    (low, high), between = exponential(a), truth(a)
    assert 0 < low <= between * (1 + EXACTLY_SO)
    assert high >= between * (1 - EXACTLY_SO)
    assert low <= high <= low * (1 + Fraction(1, 2**150))
    least, most = exponential(-a)
    assert low * least <= 1 <= high * most
    assert exponential(a + Fraction(1, 2**99))[0] > high


@pytest.mark.parametrize("whose", BOTH)
@examples(60)
@given(st.fractions(Fraction(1, 10**9), 10**9, max_denominator=10**12))
def test_logarithms_are_bracketed_from_both_sides(whose: str, value: Fraction) -> None:
    low, high = BOTH[whose][1](value)
    quotient = WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    between = Fraction(WIDE.ln(quotient))
    assert low - EXACTLY_SO <= between <= high + EXACTLY_SO
    assert low <= high <= low + Fraction(1, 2**150)


def test_exponential_of_nothing_is_exactly_one() -> None:
    assert exp_lower(Fraction(0)) == exp_upper(Fraction(0)) == 1


@pytest.mark.parametrize("exponent", [4096, -4096, Fraction(1, 10**400), Fraction(-1, 10**400)])
def test_ends_of_the_range(exponent: int | Fraction) -> None:
    a = Fraction(exponent)
    low, high = exp_lower(a), exp_upper(a)
    assert 0 < low < high <= low * (1 + Fraction(1, 2**150))
    if abs(a) < 1:
        assert low <= 1 + a * (1 + abs(a))
        assert high >= 1 + a
    else:
        assert low * (1 - EXACTLY_SO) <= truth(a) <= high * (1 + EXACTLY_SO)


def test_far_outside_the_range_the_bounds_still_hold() -> None:
    assert exp_lower(Fraction(5000)) == exp_lower(Fraction(4096)) <= truth(Fraction(5000))
    assert exp_lower(Fraction(-5000)) == 0
    assert exp_upper(Fraction(-5000)) >= truth(Fraction(-5000))
    with pytest.raises(OverflowError):
        exp_upper(Fraction(5000))


@pytest.mark.parametrize("whose", BOTH)
@examples(60)
@given(st.fractions(0, 10**6), st.integers(-20, 20))
def test_roots_are_bracketed_and_exact_where_rational(
    whose: str, value: Fraction, scale: int
) -> None:
    scaled = value * Fraction(10) ** scale
    low, high = BOTH[whose][2](scaled)
    assert 0 <= low * low <= scaled <= high * high
    assert high - low <= Fraction(1, 2**150)
    if whose == "the library":
        assert sqrt_lower(value * value) == sqrt_upper(value * value) == value
        assert high - low <= Fraction(1, 2**160) / scaled.denominator


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (1e-20, Fraction(1, 10**20)),
        (-0.5, Fraction(-1, 2)),
        ("1/3", Fraction(1, 3)),
        (" 0.25 ", Fraction(1, 4)),
        ("1e-3", Fraction(1, 1000)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(2, 6), Fraction(1, 3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(7), Fraction(7)),
        (np.uint8(7), Fraction(7)),
        (np.float32(0.1), Fraction(1, 10)),
        (10**30, Fraction(10**30)),
        ("1e-300", Fraction(1, 10**300)),
        (10**100, Fraction(10**100)),
    ],
)
def test_numbers_stand_for_what_they_print_as(value: object, exact: Fraction) -> None:
    found = as_fraction(value)
    assert found == exact
    assert type(found.numerator) is int
    assert type(found.denominator) is int


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        np.bool_(True),
        None,
        math.nan,
        math.inf,
        -math.inf,
        np.float64("nan"),
        np.float64("inf"),
        Decimal("NaN"),
        Decimal("Infinity"),
        "",
        "one",
        "nan",
        "inf",
        "1/0",
        "1 / 3 / 5",
        1j,
        [1],
        b"1",
    ],
)
def test_infinite_numbers_are_refused_by_name(value: object) -> None:
    with pytest.raises(InputError, match=r"^alpha: expected a finite number, given"):
        as_fraction(value, "alpha")


@pytest.mark.parametrize(
    "value", ["1e30000000", "1e-30000000", 10**101, 1e101, "1" * 10**6, 5e-324]
)
def test_numbers_of_absurd_size_are_refused_at_once(value: object) -> None:
    with pytest.raises(InputError, match="number: expected a finite number"):
        as_fraction(value)


@examples(80)
@given(st.fractions())
def test_text_of_a_rational_round_trips(value: Fraction) -> None:
    assert as_fraction(fraction_text(value)) == value


@examples(80)
@given(st.floats(-1e100, 1e100).filter(lambda v: v == 0 or abs(v) > 1e-290))
def test_text_of_a_float_round_trips(value: float) -> None:
    assert as_fraction(fraction_text(as_fraction(value))) == as_fraction(value)
    assert float(as_fraction(value)) == value


def test_text_is_the_shortest() -> None:
    assert fraction_text(Fraction(1, 8)) == "0.125"
    assert fraction_text(Fraction(1, 3)) == "1/3"
    assert fraction_text(Fraction(-4)) == "-4"
    assert fraction_text(Fraction(10**400 + 1, 2)) == f"{10**400 + 1}/2"
    assert short_text(Fraction(10**20 + 1, 3 * 10**20)) == "0.333333"
