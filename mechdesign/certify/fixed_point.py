"""Rationals as integers: over one denominator, or over 2**160, rounded as the name says."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

__all__ = ["BITS", "SCALE", "over_one_denominator", "scaled_down", "scaled_up"]

BITS = 160
SCALE = 1 << BITS


def scaled_down(value: Fraction) -> int:
    """Return ``value * SCALE``, rounded down."""
    return value.numerator * SCALE // value.denominator


def scaled_up(value: Fraction) -> int:
    """Return ``value * SCALE``, rounded up."""
    return -(-value.numerator * SCALE // value.denominator)


def over_one_denominator(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return integers and the one denominator that they are over."""
    whole = lcm(*(number.denominator for number in numbers))
    return [number.numerator * (whole // number.denominator) for number in numbers], whole
