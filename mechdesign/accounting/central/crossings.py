"""Crossings of decreasing bounds with a level, on the proved side."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from scipy.optimize import brentq

from mechdesign.solver_guard import called

__all__ = ["COARSE", "FINE", "bisected", "coarse_crossing", "crossing"]

Number = TypeVar("Number", int, float, Fraction)

COARSE, FINE = 1e-2, 1e-4
"""Relative tolerances of the first and the last lattice."""

PRECISION = 1e-7
"""Relative accuracy of a crossing."""

LEAST_LOG = -1e4
"""The logarithm that stands for 0."""


def _height(value: float, delta: float) -> float:
    return (math.log(value) if value > 0 else LEAST_LOG) - math.log(delta)


def coarse_crossing(
    delta_at: Callable[[float, float], float], delta: float, low: float, high: float
) -> float:
    """Return the approximate crossing of a bound with a given delta; ``low`` if there is none."""

    def height(epsilon: float) -> float:
        return _height(delta_at(epsilon, COARSE), delta)

    if not height(low) > 0 > height(high):
        return low
    return float(called("SciPy", brentq, height, low, high, xtol=1e-5 * high, rtol=1e-5))


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

    def height(epsilon: float, tolerance: float) -> float:
        return _height(delta_at(epsilon, tolerance), delta)

    def serves(epsilon: float) -> bool:
        return (height(epsilon, FINE) <= 0) if below else (height(epsilon, FINE) > 0)

    found = coarse_crossing(delta_at, delta, low, high)
    ahead = 1 + 1e-4 if below else 1 - 1e-4
    near, far = found, min(found * ahead, high)
    steps = [(point, height(point, FINE)) for point in (near, far)]
    for _ in range(4):  # secants
        (a, at_a), (b, at_b) = steps[-2:]
        if at_a == at_b or abs(a - b) <= PRECISION * b:
            break
        next_one = min(max(b - at_b * (b - a) / (at_b - at_a), low), high)
        steps.append((next_one, height(next_one, FINE)))
    best, step = steps[-1][0], PRECISION
    while True:
        tried = best * (1 + step) if below else best * (1 - step)
        if not low < tried < high:
            return high if below else low
        if serves(tried):
            return tried
        step *= 4


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
