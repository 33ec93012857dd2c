"""Exact numbers: decimals as rationals, and rational bounds on exponentials and roots.

Nothing here depends on the rounding of the machine: everything is integer arithmetic, rounded in
the direction that the name says. The exponential is the Taylor polynomial of a reduced argument,
squared back up; the polynomial of a nonnegative argument is a lower bound, and its remainder is
less than twice the first term left out.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechdesign.errors import InputError

__all__ = [
    "Exact",
    "as_fraction",
    "exp_lower",
    "exp_upper",
    "fraction_text",
    "log_upper",
    "short_text",
    "sqrt_lower",
    "sqrt_upper",
]

Exact = int | float | str | Decimal | Fraction
"""What may stand for an exact number: a float stands for the decimal that it prints as."""

PRECISION = 160
"""Bits that the bounds on exponentials and roots are right to, at least."""

LARGEST_EXPONENT = 4096
"""Beyond it the bounds are coarse: no ratio of two entries of a channel gets near."""


def as_fraction(value: Any, key: str = "number", *, expected: str = "a finite number") -> Fraction:
    """Return the exact rational that ``value`` stands for.

    A float stands for the shortest decimal that prints as it, so that ``0.1`` is one tenth and not
    the binary number nearest to it.

    Parameters
    ----------
    value
        An integer, a float, a Decimal, a Fraction, a NumPy scalar, or text such as ``"1/3"``.
    key, expected
        How to name the value, and what it should be, in the error.

    Raises
    ------
    InputError
        If it is not a finite number.

    Examples
    --------
    >>> as_fraction(0.1), as_fraction("2/6")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, bool) or value is None:
        raise InputError(key, expected, repr(value))
    try:
        if isinstance(value, numbers.Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, numbers.Real):
            return Fraction(repr(float(value)))
        if isinstance(value, str | Decimal):
            return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise InputError(key, expected, repr(value) if isinstance(value, str) else value)


def fraction_text(value: Fraction) -> str:
    """Return the shortest exact text of a rational: ``"1"``, ``"0.1"`` or ``"1/3"``.

    Examples
    --------
    >>> fraction_text(Fraction(1, 10)), fraction_text(Fraction(1, 3)), fraction_text(Fraction(2))
    ('0.1', '1/3', '2')
    """
    if value.denominator == 1:
        return str(value.numerator)
    try:
        text = repr(float(value))
        if Fraction(text) == value:
            return text
    except OverflowError:
        pass
    return f"{value.numerator}/{value.denominator}"


def short_text(value: Fraction) -> str:
    """Return exact text where it is short, else six digits of it.

    Examples
    --------
    >>> short_text(Fraction(1, 3)), short_text(Fraction(10**20 + 1, 3 * 10**20))
    ('1/3', '0.333333')
    """
    text = fraction_text(value)
    return text if len(text) <= 10 else f"{float(value):.6g}"


def _shorten(value: int, bits: int, up: bool) -> Fraction:
    """Return ``value / 2**bits`` with about PRECISION significant bits, rounded outward."""
    extra = max(0, value.bit_length() - PRECISION)
    value = -((-value) >> extra) if up else value >> extra
    return Fraction(value << extra, 1 << bits)


@lru_cache(maxsize=65536)
def exp_lower(exponent: Fraction) -> Fraction:
    """Return a rational at most e**exponent, right to 150 bits.

    Examples
    --------
    >>> float(exp_lower(Fraction(1)))
    2.718281828459045
    >>> exp_lower(Fraction(0))
    Fraction(1, 1)
    """
    if exponent == 0:
        return Fraction(1)
    if exponent < -LARGEST_EXPONENT:
        return Fraction(0)
    if exponent < 0:
        return 1 / exp_upper(-exponent)
    return _exp(min(exponent, Fraction(LARGEST_EXPONENT)), up=False)


@lru_cache(maxsize=65536)
def exp_upper(exponent: Fraction) -> Fraction:
    """Return a rational at least e**exponent, right to 150 bits.

    Raises
    ------
    OverflowError
        If the exponent is above 4096: there is no use for such a bound.

    Examples
    --------
    >>> low, high = exp_lower(Fraction(1)), exp_upper(Fraction(1))
    >>> 0 < high - low < Fraction(1, 2**150)
    True
    """
    if exponent == 0:
        return Fraction(1)
    if exponent < 0:
        return 1 / exp_lower(-exponent)
    if exponent > LARGEST_EXPONENT:
        raise OverflowError(f"no upper bound on e**{float(exponent)} is kept")
    return _exp(exponent, up=True)


def _exp(exponent: Fraction, up: bool) -> Fraction:
    """Bound e**exponent for 0 < exponent <= 4096 from one side."""
    halvings = max(0, math.ceil(exponent).bit_length() + 8)  # the reduced argument is below 2**-8
    bits = PRECISION + 2 * halvings + 32
    one = 1 << bits
    top, bottom = exponent.numerator << bits, exponent.denominator << halvings
    reduced = -(-top // bottom) if up else top // bottom
    total, term, k = one, one, 0
    while term:
        k += 1
        if up:
            term = -((-term * reduced) // (k << bits))
            if term <= 1:  # the rest is a geometric series of ratio below 2**-8
                total += 4
                break
        else:
            term = term * reduced // (k << bits)
        total += term
    for _ in range(halvings):
        square = total * total
        total = -((-square) >> bits) if up else square >> bits
    return _shorten(total, bits, up)


def sqrt_lower(value: Fraction) -> Fraction:
    """Return a rational at most the root of ``value``; exact where the root is rational.

    Examples
    --------
    >>> sqrt_lower(Fraction(9, 4)), float(sqrt_lower(Fraction(2)))
    (Fraction(3, 2), 1.4142135623730951)
    """
    return _sqrt(value, up=False)


def sqrt_upper(value: Fraction) -> Fraction:
    """Return a rational at least the root of ``value``; exact where the root is rational."""
    return _sqrt(value, up=True)


@lru_cache(maxsize=65536)
def _sqrt(value: Fraction, up: bool) -> Fraction:
    top, bottom = value.numerator, value.denominator
    root_top, root_bottom = math.isqrt(top), math.isqrt(bottom)
    if root_top * root_top == top and root_bottom * root_bottom == bottom:
        return Fraction(root_top, root_bottom)
    # sqrt(top / bottom) = sqrt(top * bottom) / bottom
    root = math.isqrt((top * bottom) << (2 * PRECISION))
    return Fraction(root + up, bottom << PRECISION)


def log_upper(value: Fraction) -> float:
    """Return a float at least ln(value), for a positive rational, within a few units.

    Examples
    --------
    >>> log_upper(Fraction(1)), log_upper(Fraction(2)) >= 0.6931471805599453
    (0.0, True)
    """
    if value == 1:
        return 0.0
    if abs(value - 1) < Fraction(1, 1000):
        guess = math.log1p(float(value - 1))
    else:
        guess = math.log(value.numerator) - math.log(value.denominator)
    while exp_lower(Fraction(guess)) < value:
        guess = math.nextafter(guess, math.inf) + abs(guess) * 2.0**-53
    return guess
