"""Exact numbers: decimals as rationals, and rational bounds on exponentials, logarithms and roots.

Everything is integer arithmetic, rounded in the direction given by the name, and independent of
floating point. The exponential is the Taylor polynomial of a reduced argument, followed by repeated
squaring; for a nonnegative argument the polynomial is a lower bound, and its remainder is less than
twice the first omitted term. The logarithm is twice the series of the inverse hyperbolic tangent,
after factoring out powers of 2.
"""

from __future__ import annotations

import math
import numbers
import operator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechdesign.errors import InputError, shown

Exact = int | float | str | Decimal | Fraction
"""The types accepted as an exact number; a float stands for its shortest decimal."""

LEAST_SIZE, MOST_SIZE = Fraction("1e-300"), Fraction("1e100")
"""Limits for nonzero input numbers, so that their sums and squares do not overflow floats."""

MOST_DIGITS, LONGEST_TEXT, SANE_BITS = 600, 2000, 300

PRECISION = 160
"""Accurate bits of the bounds on exponentials and roots, at least."""

PI = (
    Fraction("3.1415926535897932384626433832795028841971"),
    Fraction("3.1415926535897932384626433832795028841972"),
)
"""Rationals just below and above pi."""

LOG_BITS = PRECISION + 32
"""Fractional bits of logarithms during summation."""

LARGEST_EXPONENT = 4096
"""Bounds for larger exponents are coarse: ratios of entries of a channel are far smaller."""

LARGEST = Fraction(LARGEST_EXPONENT)


def as_fraction(
    value: Any,
    key: str = "number",
    *,
    expected: str = "a finite number",
    least: Fraction | int | None = None,
    above: Fraction | int | None = None,
    most: Fraction | int | None = None,
) -> Fraction:
    """Return the exact rational that ``value`` stands for.

    A float stands for its shortest decimal representation, so ``0.1`` is one tenth and not the
    nearest binary number.

    Parameters
    ----------
    value
        An integer, a float, a Decimal, a Fraction, a NumPy scalar, or text such as ``"1/3"``.
    key, expected
        The name of the value and the expected value in the error message.
    least, above, most
        Lower bound, strict lower bound, and upper bound; None for no bound.

    Raises
    ------
    InputError
        If it is not a finite number, or out of range.

    Examples
    --------
    >>> as_fraction(0.1), as_fraction("2/6")
    (Fraction(1, 10), Fraction(1, 3))
    """
    try:
        number = None if isinstance(value, bool) else _parsed(value)
    except (ValueError, ArithmeticError):
        number = None
    if number is None:
        if _is_number(value):
            expected = f"{expected}, 0 or between 1e-300 and 1e100 in size"
        raise InputError(key, expected, shown(value))
    if (
        (least is not None and (number.numerator if least == 0 else number) < least)
        or (above is not None and number <= above)
        or (most is not None and number > most)
    ):
        raise InputError(key, expected, shown(value))
    return number


def _parsed(value: Any) -> Fraction | None:
    """Return the number that a value stands for; None for other values, and for absurd sizes."""
    if isinstance(value, str):
        number = _from_text(value)
    elif isinstance(value, numbers.Rational):
        number = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, numbers.Real | Decimal):
        # NumPy's floats print as the shortest decimal of their own precision
        number = _from_text(str(value))
    else:
        return None
    bits = number.numerator.bit_length() - number.denominator.bit_length()
    if abs(bits) < SANE_BITS:  # also where the number is 0; comparisons of fractions are slow
        return number
    return number if LEAST_SIZE <= abs(number) <= MOST_SIZE else None


def _from_text(text: str) -> Fraction:
    """Parse ``"0.1"`` or ``"1/3"``; ValueError for absurd lengths and exponents."""
    if len(text) > LONGEST_TEXT:
        raise ValueError
    if "/" in text:
        return Fraction(text)
    decimal = Decimal(text.strip())
    if not decimal.is_finite() or abs(decimal.adjusted()) > MOST_DIGITS:
        raise ValueError
    return Fraction(decimal)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return True


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, excluding booleans."""
    if isinstance(value, bool | type):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def whole_number(value: Any, key: str, least: int = 1, most: int | None = None) -> int:
    """Return an integer in a range, or raise InputError."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        span = f">= {least}" if most is None else f"from {least} to {most}"
        raise InputError(key, f"a whole number {span}", shown(value))
    return int(value)


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
        if Decimal(text).as_integer_ratio() == (value.numerator, value.denominator):
            return text
    except OverflowError:
        pass
    return f"{value.numerator}/{value.denominator}"


def short_text(value: Fraction) -> str:
    """Return the exact text if it is short, else six digits.

    Examples
    --------
    >>> short_text(Fraction(1, 3)), short_text(Fraction(10**20 + 1, 3 * 10**20))
    ('1/3', '0.333333')
    """
    text = fraction_text(value)
    return text if len(text) <= 10 else f"{float(value):.6g}"


def shortened(value: Fraction, up: bool, bits: int = 160) -> Fraction:
    """Return a fraction of about ``bits`` significant bits, an upper (``up``) or lower bound."""
    shift = bits + value.denominator.bit_length() - value.numerator.bit_length()
    top, bottom = value.numerator << max(shift, 0), value.denominator << max(-shift, 0)
    whole = -(-top // bottom) if up else top // bottom
    return Fraction(whole << max(-shift, 0), 1 << max(shift, 0))


def exp_lower(exponent: Fraction) -> Fraction:
    """Return a rational lower bound on e**exponent, accurate to 150 bits.

    Examples
    --------
    >>> float(exp_lower(Fraction(1)))
    2.718281828459045
    >>> exp_lower(Fraction(0))
    Fraction(1, 1)
    """
    top, bottom = exponent.numerator, exponent.denominator  # quicker to compare than a Fraction
    if not top:
        return Fraction(1)
    if top < -LARGEST_EXPONENT * bottom:
        return Fraction(0)
    if top < 0:
        return 1 / _exp(-exponent)[1]
    return _exp(exponent if top <= LARGEST_EXPONENT * bottom else LARGEST)[0]


def exp_upper(exponent: Fraction) -> Fraction:
    """Return a rational upper bound on e**exponent, accurate to 150 bits.

    Raises
    ------
    OverflowError
        If the exponent is above 4096.

    Examples
    --------
    >>> low, high = exp_lower(Fraction(1)), exp_upper(Fraction(1))
    >>> 0 < high - low < Fraction(1, 2**150)
    True
    """
    if exponent == 0:
        return Fraction(1)
    if exponent < 0:
        return 1 / _exp(min(-exponent, LARGEST))[0]
    if exponent > LARGEST_EXPONENT:
        raise OverflowError(f"no upper bound on e**{float(exponent)} is kept")
    return _exp(exponent)[1]


def exp_lower_scaled(exponent: int, bits: int) -> int:
    """Return an integer lower bound on e**(exponent / 2**bits) * 2**bits; exponent >= 0.

    This sums the Taylor series with each term rounded down, which is fast for small exponents; the
    error is about one unit per term.

    Examples
    --------
    >>> exp_lower_scaled(1 << 20, 20) / 2**20  # e
    2.7182788848876953
    """
    total = term = 1 << bits
    k = 0
    while term:
        k += 1
        term = (term * exponent >> bits) // k
        total += term
    return total


@lru_cache(maxsize=65536)
def _exp(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Bound e**exponent from both sides, for 0 < exponent <= 4096."""
    halvings = math.ceil(exponent).bit_length() + 8  # the reduced argument is below 2**-8
    bits = PRECISION + 2 * halvings + 32
    reduced = (exponent.numerator << bits) // (exponent.denominator << halvings)
    low = term = 1 << bits
    k = 0
    while term:
        k += 1
        term = term * reduced // (k << bits)
        low += term
    # each term is low by less than 2 units, and so are the argument and the sum of further terms
    high = low + 2 * k + 4
    for _ in range(halvings):
        low, high = low * low >> bits, -(-high * high >> bits)
    down, up = low.bit_length() - PRECISION, high.bit_length() - PRECISION
    return Fraction(low >> down << down, 1 << bits), Fraction(-(-high >> up) << up, 1 << bits)


def log_lower(value: Fraction) -> Fraction:
    """Return a rational lower bound on ln(value), accurate to 150 fractional bits; value > 0.

    Examples
    --------
    >>> float(log_lower(Fraction(2))), log_lower(Fraction(1))
    (0.6931471805599453, Fraction(0, 1))
    """
    return _log(value)[0]


def log_upper(value: Fraction) -> Fraction:
    """Return a rational upper bound on ln(value), accurate to 150 fractional bits; value > 0."""
    return _log(value)[1]


@lru_cache(maxsize=65536)
def _log(value: Fraction) -> tuple[Fraction, Fraction]:
    """Bound ln(value) from both sides: value = m 2**e with m near 1, ln m = 2 artanh(z)."""
    if value <= 0:
        raise ValueError("the logarithm of a number that is not positive")
    if value == 1:
        return Fraction(0), Fraction(0)
    top, bottom = value.numerator, value.denominator
    twos = top.bit_length() - bottom.bit_length()
    up, down = max(0, twos), max(0, -twos)
    m_top, m_bottom = top << down, bottom << up  # the ratio is between 1/2 and 2
    low, high = _twice_artanh(m_top - m_bottom, m_top + m_bottom)
    if twos:
        two_low, two_high = _twice_artanh(1, 3)
        ends = (twos * two_low, twos * two_high)
        low, high = low + min(ends), high + max(ends)
    return Fraction(low, 1 << LOG_BITS), Fraction(high, 1 << LOG_BITS)


@lru_cache(maxsize=1024)
def _twice_artanh(top: int, bottom: int) -> tuple[int, int]:
    """Bound 2 artanh(top / bottom) = 2 (z + z**3/3 + ...) for |z| <= 1/3, over 2**LOG_BITS."""
    size, sign = abs(top), 1 if top >= 0 else -1
    z = (size << LOG_BITS) // bottom
    square = z * z >> LOG_BITS
    total, power, n = 0, z, 1
    while power:
        total += power // n
        power = power * square >> LOG_BITS
        n += 2
    # each term is low by less than 4 units: the power by at most 2, as |z| <= 1/3, the quotient 1
    low, high = 2 * total, 2 * (total + 4 * n)
    return (low, high) if sign > 0 else (-high, -low)


def sqrt_lower(value: Fraction) -> Fraction:
    """Return a rational lower bound on the square root; exact if the root is rational.

    Examples
    --------
    >>> sqrt_lower(Fraction(9, 4)), float(sqrt_lower(Fraction(2)))
    (Fraction(3, 2), 1.4142135623730951)
    """
    return _sqrt(value, False)


def sqrt_upper(value: Fraction) -> Fraction:
    """Return a rational upper bound on the square root; exact if the root is rational."""
    return _sqrt(value, True)


@lru_cache(maxsize=65536)
def _sqrt(value: Fraction, up: bool) -> Fraction:
    top, bottom = value.numerator, value.denominator
    root_top, root_bottom = math.isqrt(top), math.isqrt(bottom)
    if root_top * root_top == top and root_bottom * root_bottom == bottom:
        return Fraction(root_top, root_bottom)
    # sqrt(top / bottom) = sqrt(top * bottom) / bottom
    root = math.isqrt((top * bottom) << (2 * PRECISION))
    return Fraction(root + up, bottom << PRECISION)
