"""Rational bounds on exponentials, logarithms and roots; sums of products."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from mpmath.ctx_iv import MPIntervalContext
from mpmath.libmp import to_rational

Vector = tuple[Fraction, ...]
Interval = tuple[Fraction, Fraction]

ZERO, ONE = Fraction(0), Fraction(1)
BITS = 200
CONTEXT = MPIntervalContext()
CONTEXT.prec = BITS
TOLERANCE = Fraction(1, 10**12)
"""Relative tolerance for a stated float; a bound has none."""


class RefusedError(Exception):
    """The file says something false, or says it in a way that the documentation does not allow."""


class Unable(Exception):  # noqa: N818
    """The file is too large to be checked naively."""


def need(holds: object, why: str) -> None:
    if not holds:
        raise RefusedError(why)


def enclosed(function: Callable[[Any], Any], x: Fraction) -> Interval:
    """Return rationals below and above a function of mpmath's intervals."""
    ends = function(CONTEXT.mpf(x.numerator) / x.denominator)._mpi_
    low, high = (Fraction(*map(int, to_rational(end))) for end in ends)
    return low, high


@cache
def exp(x: Fraction) -> Interval:
    """Return rationals below and above e**x."""
    if abs(x) > 3000:
        raise Unable("an exponent above 3000")
    return enclosed(CONTEXT.exp, x)


@cache
def ln(x: Fraction) -> Interval:
    """Return rationals below and above ln x."""
    return enclosed(CONTEXT.log, x)


@cache
def root(x: Fraction) -> Interval:
    scaled = (x.numerator << 2 * BITS) // x.denominator
    low = Fraction(math.isqrt(scaled), 1 << BITS)
    return (low, low) if low * low == x else (low, low + Fraction(1, 1 << BITS))


PI = enclosed(lambda one: one * CONTEXT.pi, ONE)


def times(a: Interval, factor: Fraction) -> Interval:
    """Multiply by what is not negative."""
    return a[0] * factor, a[1] * factor


def exactly(x: Fraction) -> Interval:
    return x, x


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((s * t for s, t in zip(a, b, strict=True) if s and t), ZERO)
