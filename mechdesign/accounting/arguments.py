"""Checks of numeric arguments. They return floats, except for budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from mechdesign.errors import InputError, listed
from mechdesign.exact import Exact, as_fraction
from mechdesign.notions.base import budget

TINY = Fraction(1, 10**100)


def finite(value: Any, key: str) -> float:
    """Return a finite float of magnitude at most 1e100, or raise InputError."""
    return float(as_fraction(value, key))


def positive(value: Any, key: str) -> float:
    """Return a float from 1e-100 to 1e100, or raise InputError."""
    return float(as_fraction(value, key, expected="a number > 0", least=TINY))


def below_one(value: Any, key: str) -> float:
    """Return a float strictly between 0 and 1, or raise InputError."""
    expected = "a number between 0 and 1"
    return float(as_fraction(value, key, expected=expected, least=TINY, most=1 - TINY))


def limited(
    value: Exact, key: str = "epsilon", *, least: Fraction | int = 0, most: int = 100
) -> Fraction:
    """Return a budget in a range, or raise InputError."""
    expected = f"a number from {float(least):g} to {most}"
    return as_fraction(budget(value, key), key, expected=expected, least=least, most=most)


def numbers(given: Any, key: str, read: Callable[[Any, str], float] = finite) -> tuple[float, ...]:
    """Return a list of numbers, each read as a float."""
    listing = listed(given, key, "a list of numbers")
    return tuple(read(x, f"{key}[{n}]") for n, x in enumerate(listing))


def noises(given: Any, count: int, key: str, noun: str) -> tuple[float, ...]:
    """Return one positive number for each value or bin; a scalar is repeated."""
    if not isinstance(given, Iterable):
        return (positive(given, key),) * count
    sizes = numbers(given, key, positive)
    if len(sizes) != count:
        raise InputError(key, f"{count} numbers, one for each {noun}", len(sizes))
    return sizes
