"""The common steps of the primal-dual interior-point methods, for any Newton system.

Every method here keeps pairs of arrays x > 0 and z > 0, a variable or slack and its multiplier, and
solves the optimality conditions with the complementarity products x z driven to 0. Three programs
do so: linear programs over channels (:mod:`~mechdesign.search.interior.method`), over channels in a
band (:mod:`~mechdesign.search.interior.band`), and the saddle point of an estimation risk
(:mod:`~mechdesign.search.estimation_risk.saddle_point`). They differ in their Newton systems, but
share the step length, the target, and the end at the limit of rounding.

Source: Mehrotra 1992 (predictor and corrector); Wright 1997, chapter 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mechdesign._typing import BoolArray, FloatArray

__all__ = [
    "FRACTION_TO_BOUNDARY",
    "REGULARIZATIONS",
    "Stagnation",
    "centering",
    "dual_change",
    "longest_step",
]


FRACTION_TO_BOUNDARY = 0.995
"""The share of the way to the boundary of a step. A whole one would make some product x z exactly
0: then the Newton system divides by 0, and the iterate can never return to the center."""

LEAST_CENTERING = 1e-6
"""The least centering: the remainder of a very good predictor is rounding."""

REGULARIZATIONS = (1e-14, 1e-12, 1e-10)
"""Added to a diagonal of 1: the first for which a Cholesky factor exists.

The first is always added. It changes a step by less than rounding does, and bounds the inverse of a
nearly singular block, so that iterative refinement converges.
"""


def longest_step(relative: Any, most: float = 1.0) -> Any:
    """Return the largest step t <= ``most`` with x + t dx >= 0.

    Parameters
    ----------
    relative
        The least entry of dx / x, for one problem or an array of them for several.

    Examples
    --------
    >>> float(longest_step(-4.0)), float(longest_step(0.5))
    (0.25, 1.0)
    """
    return 1 / np.maximum(1 / most, -relative)


def dual_change(residual: Any, x: FloatArray, z: FloatArray, dx: FloatArray) -> FloatArray:
    """Return dz from the linearized complementarity condition x dz + z dx = residual."""
    return np.asarray((residual - z * dx) / x)


def centering(left: Any) -> Any:
    """Return the share sigma of the mean product at which the corrector aims.

    By Mehrotra's rule sigma = left**3, with ``left`` the share of the products that remains after
    the predictor, a Newton step towards products of 0: if it is small, no centering is needed.
    """
    return np.clip(np.asarray(left) ** 3, LEAST_CENTERING, 1.0)


class Stagnation:
    """Counts consecutive steps without a smaller gap, as at the limit of rounding.

    Parameters
    ----------
    gap
        The first gap, or gaps.
    patience
        The number of such steps after which to stop.
    better
        A gap below this share of the best one so far counts as smaller.
    """

    def __init__(self, gap: Any, patience: int, better: float = 1.0) -> None:
        self.best: FloatArray = np.asarray(gap)
        self.patience, self.better, self.idle = patience, better, 0

    def ends(self, gap: Any, active: BoolArray | bool = True) -> bool:
        """Record the gaps after a step; return whether to stop.

        ``active`` marks the problems that still count.
        """
        smaller = (gap < self.better * self.best) & np.asarray(active)
        self.idle = 0 if smaller.any() else self.idle + 1
        self.best = np.where(smaller, gap, self.best)
        return self.idle >= self.patience
