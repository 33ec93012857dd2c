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

    ``low`` passes and ``high`` does not; integers, fractions and floats keep their type.

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
    """Return whether an enclosed number is at most a limit; None if undecided."""
    if Fraction(found.high) <= limit:
        return True
    return None if Fraction(found.low) <= limit else False


def least_noise(holds: Callable[[float], bool | None], start: float, relative: float) -> Bounds:
    """Return bounds on the least noise at which a claim holds, of a relative width.

    The claim, None if undecided, provably holds at the upper bound, and provably fails at the lower
    bound. They are wider if claims between them are undecided.
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
    """Return an epsilon between ``low`` and ``high`` near which a bound on delta crosses a delta.

    The bound, at an epsilon and a tolerance, decreases approximately. It is at most delta at the
    returned point if ``below``, else above it.
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
