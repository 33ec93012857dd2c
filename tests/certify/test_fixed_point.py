"""Fixed-point arithmetic: what is rounded lies within one unit, on the side that the name says."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import pytest
from hypothesis import given, strategies as st

from mechdesign.certify.fixed_point import (
    BITS,
    SCALE,
    dot,
    fraction_steps,
    over_one_denominator,
    product_steps,
    scaled_down,
    scaled_up,
    total,
)

rationals = st.fractions(-50, 50, max_denominator=10**6)


@given(rationals, st.integers(0, 200))
def test_scaled_numbers_lie_within_one_unit_of_the_value(value: Fraction, bits: int) -> None:
    exact = value * 2**bits
    low, high = scaled_down(value, bits), scaled_up(value, bits)
    assert low <= exact <= high
    assert high - low == (0 if exact.denominator == 1 else 1)


def test_without_a_number_of_bits_the_unit_is_that_of_the_module() -> None:
    assert SCALE == 2**BITS == 2**160
    third = Fraction(1, 3)
    assert scaled_down(third) == SCALE // 3
    assert scaled_up(third) == SCALE // 3 + 1
    assert scaled_down(Fraction(1)) == scaled_up(Fraction(1)) == SCALE


@given(st.lists(rationals, max_size=6))
def test_numbers_over_one_denominator_are_the_numbers(values: list[Fraction]) -> None:
    parts, whole = over_one_denominator(values)
    assert [Fraction(part, whole) for part in parts] == values
    assert whole == lcm(*(value.denominator for value in values))
    assert gcd(whole, *parts) == 1
    assert total(values) == sum(values)


@given(st.lists(st.tuples(rationals, rationals), max_size=6))
def test_the_inner_product_is_exact(pairs: list[tuple[Fraction, Fraction]]) -> None:
    a, b = [a for a, _ in pairs], [b for _, b in pairs]
    assert dot(a, b) == sum(s * t for s, t in pairs)
    assert isinstance(dot(a, b), Fraction)


def test_vectors_of_unequal_length_have_no_inner_product() -> None:
    with pytest.raises(ValueError, match="zip"):
        dot([Fraction(1)], [1, 2])


def test_steps_of_a_product_grow_with_its_words_and_those_of_rationals_with_the_square() -> None:
    assert product_steps() == product_steps(0) == product_steps(2**511 - 1) == 1
    assert product_steps(2**511) == product_steps(3, -(2**511)) == 2
    assert product_steps(2**5119) == 11
    assert fraction_steps(0) == fraction_steps(63) == 20
    assert fraction_steps(640) == fraction_steps(640, 640) == 20 + 100 // 3
    assert fraction_steps(640, 64 * 30) == 20 + 10 * 30 // 3
