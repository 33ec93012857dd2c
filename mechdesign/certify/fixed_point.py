"""Fixed-point arithmetic: rationals as integers over a power of 2, rounded as the name says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from mechdesign.resources import spend

__all__ = [
    "BITS",
    "SCALE",
    "dot",
    "fraction_steps",
    "longest",
    "over_one_denominator",
    "product_steps",
    "ratio",
    "scaled_down",
    "scaled_up",
    "total",
]

BITS = 160
"""Bits beyond the point: as many as the bounds of :mod:`mechdesign.exact` have."""

SCALE = 1 << BITS


def scaled_down(value: Fraction, bits: int = BITS) -> int:
    """Return ``value * 2**bits``, rounded down."""
    return (value.numerator << bits) // value.denominator


def scaled_up(value: Fraction, bits: int = BITS) -> int:
    """Return ``value * 2**bits``, rounded up."""
    return -((-value.numerator << bits) // value.denominator)


def over_one_denominator(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return integers and the one denominator that they are over."""
    whole = 1
    for bottom in {number.denominator for number in numbers}:
        spend(fraction_steps(whole.bit_length(), bottom.bit_length()), "a common denominator")
        whole = lcm(whole, bottom)
    spend(len(numbers) * (3 + product_steps(whole)), "a common denominator")
    return [number.numerator * (whole // number.denominator) for number in numbers], whole


def total(numbers: Sequence[Fraction]) -> Fraction:
    """Return the sum of numbers, exactly, by their common denominator."""
    parts, whole = over_one_denominator(numbers)
    return Fraction(sum(parts), whole)


def ratio(top: int | Fraction, bottom: int | Fraction) -> Fraction:
    """Return top / bottom, exactly, and count the steps of reducing it: both may be long."""
    top, bottom = Fraction(top), Fraction(bottom)
    spend(fraction_steps(longest([top]), longest([bottom])), "a ratio")
    return top / bottom


def product_steps(*numbers: int) -> int:
    """Return the steps of the product of a number of one word or three with a long one."""
    return 1 + max(map(int.bit_length, numbers), default=0) // 512


def fraction_steps(bits: int, other: int | None = None) -> int:
    """Return the steps of a sum or product of two rationals of so many bits, which are reduced."""
    return 20 + (bits // 64) * ((bits if other is None else other) // 64) // 3


def longest(numbers: Iterable[Fraction]) -> int:
    """Return the bits of the longest of some rationals, both integers together; 0 if there is none.

    Examples
    --------
    >>> longest([Fraction(1, 2), Fraction(-5)])
    4
    """
    return max((n.numerator.bit_length() + n.denominator.bit_length() for n in numbers), default=0)


def dot(a: Sequence[Fraction], b: Sequence[Any]) -> Fraction:
    """Return the inner product ``a . b``, exactly; zeros cost nothing."""
    return sum((s * t for s, t in zip(a, b, strict=True) if s and t), Fraction(0))
