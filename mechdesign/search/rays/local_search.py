"""A local search for columns of large surplus, for every cone.

The surplus g(r) - u . r of a convex gain is largest at an extreme ray, and is at least its tangent
at any column r0: a ray that maximizes the tangent has at least the surplus of r0. So each step is a
warm-started linear program, until nothing improves (the Frank-Wolfe method with full steps). It
does not prove a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.notions.rows.cone import Cone
from mechdesign.search.lp.lp_pricer import LPPricer

__all__ = ["Gain", "LocalSearch"]

Gain: TypeAlias = Callable[[FloatArray], FloatArray]

STEPS = 8
"""The largest number of steps of a search."""

DIFFERENCE = 1e-6
"""The step of central differences for the slopes of a gain, relative to an entry."""


class LocalSearch:
    """Steps from column to ray, each a linear program over one column with P . r = 1.

    Parameters
    ----------
    cone, prior
        The cone of the column, and P.
    gain
        Returns the gain of columns, ``(n_inputs, n)``.
    slopes
        Returns the slopes of the gain at a column with P . r = 1; default by differences.
    """

    def __init__(
        self,
        cone: Cone,
        prior: FloatArray,
        gain: Gain,
        slopes: Gain | None = None,
    ) -> None:
        self.prior, self.gain, self.slopes = prior, gain, slopes or self._differences
        self.column, self.programs = LPPricer(cone, prior), 0

    def best(self, direction: FloatArray) -> FloatArray:
        """Return the best ray in a direction."""
        self.programs += 1
        r = self.column.solve(-direction).primal
        if not r.any():
            raise SolverError("the cone has no vertex")
        return r / float(self.prior @ r)

    def ascend(self, start: FloatArray, u: FloatArray, rise: float) -> list[FloatArray]:
        """Return the ray at the end of the search from a column, if its surplus exceeds ``rise``.

        The search ends with a step that raises the surplus by less.
        """
        r, surplus = start / float(self.prior @ start), -np.inf
        for _ in range(STEPS):
            try:
                higher = self.best(self.slopes(r) - u)
            except SolverError:
                return []
            now = float(self.gain(higher[:, None])[0] - u @ higher)
            if now <= surplus + rise:
                break
            r, surplus = higher, now
        return [r] if surplus > rise else []

    def _differences(self, r: FloatArray) -> FloatArray:
        step = DIFFERENCE * np.maximum(r, 1e-3 * r.max())
        moved = np.diag(step)
        ahead = self.gain(r[:, None] + moved)
        behind = self.gain(np.maximum(r[:, None] - moved, 0.0))
        return np.asarray((ahead - behind) / (step + np.minimum(step, r)))
