"""Fixed-point arithmetic: rationals as integers over a power of 2, rounded as the name says."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

__all__ = ["BITS", "SCALE", "dot", "over_one_denominator", "scaled_down", "scaled_up"]

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
    whole = lcm(*(number.denominator for number in numbers))
    return [number.numerator * (whole // number.denominator) for number in numbers], whole


def dot(a: Sequence[Fraction], b: Sequence[Any]) -> Fraction:
    """Return the inner product ``a . b``, exactly; zeros cost nothing."""
    return sum((s * t for s, t in zip(a, b, strict=True) if s and t), Fraction(0))
