"""Numbers that users give, checked."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.errors import InputError, shown
from mechdesign.exact import Exact, as_fraction
from mechdesign.notions.base import budget

__all__ = ["below_one", "finite", "limited", "positive"]

MOST_EPSILON = 100


def finite(value: Any, key: str) -> float:
    """Return a finite float.

    Raises
    ------
    InputError
        If it is none, or beyond 1e100 in size.
    """
    number = float(as_fraction(value, key))
    if abs(number) > 1e100:
        raise InputError(key, "a number of size 1e100 at most", shown(value))
    return number


def positive(value: Any, key: str) -> float:
    """Return a float from 1e-100 to 1e100.

    Raises
    ------
    InputError
        If it is none.
    """
    expected = "a number > 0"
    number = float(as_fraction(value, key, expected=expected))
    if not 1e-100 <= number <= 1e100:
        raise InputError(key, expected, shown(value))
    return number


def below_one(value: Any, key: str) -> float:
    """Return a float between 0 and 1, both excluded.

    Raises
    ------
    InputError
        If it is none.
    """
    expected = "a number between 0 and 1"
    number = as_fraction(value, key, expected=expected)
    if not 1e-100 <= number < 1:
        raise InputError(key, expected, shown(value))
    return float(number)


def limited(epsilon: Exact) -> Fraction:
    """Return a budget that is 100 at most.

    Raises
    ------
    InputError
        If it is negative or larger.
    """
    given = budget(epsilon)
    if given > MOST_EPSILON:
        raise InputError("epsilon", f"a number from 0 to {MOST_EPSILON}", shown(epsilon))
    return given
