"""The least float at which a monotone condition holds, as used by every leakage.

There is no tolerance: the condition is decided in rationals, at the decimal repr of a float.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

LARGEST, SMALLEST = 1e100, 1e-300
"""The range of floats that are read back as numbers; the largest stands for infinity."""

LOWEST = -LARGEST

CLOSE = 2.0**-50
"""Relative difference to a budget within which a leakage counts as the budget."""


def least_float(holds: Callable[[Fraction], bool], near: float) -> float:
    """Return the least float at which the monotone ``holds`` is true; inf if there is none.

    Floats are numbered in order, and the search bisects these numbers: steps from ``near`` double
    until they bracket the answer.

    Examples
    --------
    >>> least_float(lambda t: t >= Fraction(1, 3), near=0.3)
    0.33333333333333337
    >>> least_float(lambda t: t >= 10**400, near=1.0)
    inf
    """
    last = _number(LARGEST)
    low = high = max(-last, min(_number(near), last))
    step = 1
    if holds(decimal(_float(high))):
        while low > -last and holds(decimal(_float(low))):
            low, high, step = max(-last, low - step), low, 2 * step
    else:
        while not holds(decimal(_float(high))):
            if high == last:
                return math.inf
            low, high, step = high, min(last, high + step), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(decimal(_float(middle))) else (middle, high)
    found = _float(high)
    is_number = not found or abs(found) >= SMALLEST
    return found if is_number else max(0.0, math.copysign(SMALLEST, found))


def decimal(value: float) -> Fraction:
    """Return the decimal repr of a float as a rational.

    Examples
    --------
    >>> decimal(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(value))


def reported(found: float, asked: Fraction) -> float:
    """Return a leakage, or the requested budget if the leakage is the next float above it."""
    wanted = float(asked)
    return wanted if found <= wanted <= found + CLOSE * (wanted or 1.0) else found


def _number(value: float) -> int:
    """Return the number of a float in the order of all floats."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(value)))
    return int(math.copysign(1, value)) * int(bits)


def _float(number: int) -> float:
    (found,) = struct.unpack("<d", struct.pack("<q", abs(number)))
    return math.copysign(found, number)
