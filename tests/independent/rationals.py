"""Rational bounds on exponentials, logarithms and roots; sums of products."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

Vector = tuple[Fraction, ...]
Interval = tuple[Fraction, Fraction]

ZERO, ONE = Fraction(0), Fraction(1)
BITS = 200
TOLERANCE = Fraction(1, 10**12)
"""Relative tolerance for a stated float; a bound has none."""


class RefusedError(Exception):
    """The file says something false, or says it in a way that the documentation does not allow."""


class Unable(Exception):  # noqa: N818
    """The file is too large to be checked naively."""


def need(holds: object, why: str) -> None:
    if not holds:
        raise RefusedError(why)


@cache
def exp(x: Fraction, bits: int = BITS) -> Interval:
    """Return rationals below and above e**x."""
    if x < 0:
        low, high = exp(-x, bits)
        return 1 / high, 1 / low
    if x == 0:
        return ONE, ONE
    if x > 3000:
        raise Unable("an exponent above 3000")
    halvings = max(0, (x.numerator // x.denominator).bit_length() + 2)
    y, width = x / 2**halvings, bits + 2 * halvings + 20
    low = high = term = ONE
    n = 0
    while term * 2**width > 1:  # term < y**n / n!, with y < 1/2, so that the rest is below 2 term
        n += 1
        term = _up(term * y / n, width)
        low += _down(low_term(y, n, width), width)
        high += term
    high += 2 * term
    for _ in range(halvings):
        low, high = _down(low * low, width), _up(high * high, width)
    return low, high


@cache
def low_term(y: Fraction, n: int, width: int) -> Fraction:
    return ONE if n == 0 else _down(low_term(y, n - 1, width) * y / n, width)


def _down(x: Fraction, width: int) -> Fraction:
    return Fraction((x.numerator << width) // x.denominator, 1 << width)


def _up(x: Fraction, width: int) -> Fraction:
    return -_down(-x, width)


@cache
def ln(x: Fraction, bits: int = BITS) -> Interval:
    """Return rationals below and above ln x, by ln m = 2 artanh((m - 1) / (m + 1))."""
    twos = x.numerator.bit_length() - x.denominator.bit_length()
    low, high = _ln_near_one(x / Fraction(2) ** twos, bits)
    low2, high2 = _ln_near_one(Fraction(2), bits)
    if twos < 0:
        low2, high2 = high2, low2
    return low + twos * low2, high + twos * high2


@cache
def _ln_near_one(m: Fraction, bits: int) -> Interval:
    if m < 1:
        low, high = _ln_near_one(1 / m, bits)
        return -high, -low
    z, width = (m - 1) / (m + 1), bits + 20
    low_power, high_power = _down(z, width), _up(z, width)
    low = high = ZERO
    n = 1
    while high_power * 2**width > 1:  # z <= 1/3: the rest is below the power
        low, high = low + _down(low_power / n, width), high + _up(high_power / n, width)
        low_power, high_power = _down(low_power * z * z, width), _up(high_power * z * z, width)
        n += 2
    return 2 * low, 2 * (high + high_power)


@cache
def root(x: Fraction, bits: int = BITS) -> Interval:
    scaled = (x.numerator << 2 * bits) // x.denominator
    low = Fraction(math.isqrt(scaled), 1 << bits)
    return (low, low) if low * low == x else (low, low + Fraction(1, 1 << bits))


PI = (
    Fraction(31415926535897932384626433832795028841, 10**37),
    Fraction(31415926535897932384626433832795028842, 10**37),
)


def times(a: Interval, factor: Fraction) -> Interval:
    """Multiply by what is not negative."""
    return a[0] * factor, a[1] * factor


def exactly(x: Fraction) -> Interval:
    return x, x


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((s * t for s, t in zip(a, b, strict=True) if s and t), ZERO)
