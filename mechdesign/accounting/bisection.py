"""Inverse questions by bisection, with proved decisions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import TypeVar

from mechdesign.exact.enclosures import Bounds

Number = TypeVar("Number", int, float, Fraction)


def bisected(
    passes: Callable[[Number], bool], low: Number, high: Number, width: Number
) -> tuple[Number, Number]:
    """Return two numbers within ``width``: the first passes a test, the second does not.

    Parameters
    ----------
    passes
        The test, never called at the ends.
    low, high
        A number that passes, and one that does not.
    width
        The final distance; integers, fractions and floats keep their type.

    Examples
    --------
    >>> bisected(lambda n: n * n <= 50, 1, 100, 1)
    (7, 8)
    """
    while high - low > width:
        middle = type(high)((low + high) / 2)
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low, high


def within(found: Bounds, limit: float | Fraction) -> bool | None:
    """Return whether an enclosed number is at most a limit; None if undecided.

    Examples
    --------
    >>> within(Bounds(1.0, 2.0), 2), within(Bounds(1.0, 2.0), 0.5), within(Bounds(1.0, 2.0), 1.5)
    (True, False, None)
    """
    if Fraction(found.high) <= limit:
        return True
    return None if Fraction(found.low) <= limit else False


def least_noise(holds: Callable[[float], bool | None], start: float, relative: float) -> Bounds:
    """Return bounds on the least noise at which a claim holds.

    The claim provably holds at the upper bound, and provably fails at the lower bound.

    Parameters
    ----------
    holds
        Whether the claim holds at a noise level; None if undecided.
    start
        The initial noise level.
    relative
        The relative width of the bounds. They are wider if claims between them are undecided.

    Examples
    --------
    >>> low, high = least_noise(lambda noise: noise * noise >= 2, 1.0, 1e-9)
    >>> low < 2**0.5 <= high < low * (1 + 1e-9)
    True
    """
    verdict, high = cache(holds), start
    while verdict(high) is not True:
        high *= 2
    low = high / 2
    while (found := verdict(low)) is not False:
        low, high = low / 2, low if found else high
    width = relative * low
    _, above = bisected(lambda noise: verdict(noise) is not True, low, high, width)
    below, _ = bisected(lambda noise: verdict(noise) is False, low, high, width)
    return Bounds(below, above)
