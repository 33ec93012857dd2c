"""Where decreasing bounds cross a level: bisection and root finding, on the proved side."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import TypeVar

from scipy.optimize import brentq

from mechdesign.exact.enclosures import Bounds
from mechdesign.solver_guard import called

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


COARSE, FINE = 1e-2, 1e-4
"""Relative tolerances of the first and the last lattice."""

STEPS = 12
"""Maximum number of steps to a crossing, which is then not as accurate as stated."""

PRECISION = 1e-7
"""Relative accuracy of a crossing."""

NEAR = 1e-2
"""Relative distance of the crossings of the coarse and the fine bound, in most cases."""

LEAST_LOG = -1e4
"""The logarithm that stands for 0."""


def coarse_crossing(
    delta_at: Callable[[float, float], float],
    delta: float,
    low: float,
    high: float,
    tolerance: float = COARSE,
    precision: float = 1e-5,
) -> float:
    """Return the approximate crossing of a bound with a given delta; ``low`` if there is none."""

    @cache
    def height(epsilon: float) -> float:
        found = delta_at(epsilon, tolerance)
        return (math.log(found) if found > 0 else LEAST_LOG) - math.log(delta)

    if not height(low) > 0 > height(high):
        return low
    root = partial(brentq, xtol=precision * high, rtol=precision, maxiter=STEPS, disp=False)
    return float(called("SciPy", root, height, low, high))


def crossing(
    delta_at: Callable[[float, float], float], delta: float, low: float, high: float, *, below: bool
) -> float:
    """Return an epsilon near which a bound on delta crosses a given delta.

    Parameters
    ----------
    delta_at
        The bound at an epsilon and a tolerance, approximately decreasing in epsilon.
    delta
        The level, > 0.
    low, high
        A point where the bound is above delta, and one where it is not.
    below
        Whether the bound is at most delta at the returned point, or above it.
    """
    near = coarse_crossing(delta_at, delta, low, high)
    around = max(low, near * (1 - NEAR)), min(near * (1 + NEAR), high)
    best, step = coarse_crossing(delta_at, delta, *around, FINE, PRECISION), PRECISION
    while True:
        tried = best * (1 + step) if below else best * (1 - step)
        if not low < tried < high:
            return high if below else low
        if (delta_at(tried, FINE) <= delta) == below:
            return tried
        step *= 4
