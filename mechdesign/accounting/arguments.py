"""Numbers that users give, checked; all are floats but the budget."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mechdesign.errors import InputError
from mechdesign.exact import Exact, as_fraction
from mechdesign.notions.base import budget

__all__ = ["below_one", "finite", "limited", "noises", "positive"]

TINY = Fraction(1, 10**100)


def finite(value: Any, key: str) -> float:
    """Return a finite float; InputError for other values, and beyond 1e100 in size."""
    return float(as_fraction(value, key))


def positive(value: Any, key: str) -> float:
    """Return a float from 1e-100 to 1e100, or raise InputError."""
    return float(as_fraction(value, key, expected="a number > 0", least=TINY))


def below_one(value: Any, key: str) -> float:
    """Return a float between 0 and 1, both excluded, or raise InputError."""
    expected = "a number between 0 and 1"
    return float(as_fraction(value, key, expected=expected, least=TINY, most=1 - TINY))


def limited(epsilon: Exact) -> Fraction:
    """Return a budget that is 100 at most, or raise InputError."""
    return as_fraction(budget(epsilon), "epsilon", expected="a number from 0 to 100", most=100)


def noises(given: Any, count: int, key: str, noun: str) -> tuple[float, ...]:
    """Return a positive number for each value or bin, or the same number for all of them."""
    if not isinstance(given, Iterable):
        return (positive(given, key),) * count
    sizes = tuple(positive(size, f"{key}[{n}]") for n, size in enumerate(given))
    if len(sizes) != count:
        raise InputError(key, f"{count} numbers, one for each {noun}", len(sizes))
    return sizes
