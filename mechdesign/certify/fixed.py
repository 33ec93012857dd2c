"""Fixed point: rationals as integers over 2**160, rounded in the direction that the name says."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["BITS", "SCALE", "scaled_down", "scaled_up"]

BITS = 160
SCALE = 1 << BITS


def scaled_down(value: Fraction) -> int:
    """Return ``value * SCALE``, rounded down."""
    return value.numerator * SCALE // value.denominator


def scaled_up(value: Fraction) -> int:
    """Return ``value * SCALE``, rounded up."""
    return -(-value.numerator * SCALE // value.denominator)
