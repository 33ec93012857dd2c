"""Crossings of decreasing bounds with a level, on the proved side."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

from scipy.optimize import brentq

from mechdesign.solver_guard import called

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
