"""Columns of any cone: a local search, then branch and bound for separable gains.

The surplus g(r) - u . r of a convex gain is largest at an extreme ray, and is at least its tangent
at any column r0: a ray that maximizes the tangent has at least the surplus of r0. So each step of
the local search is a warm-started linear program, until nothing improves (the Frank-Wolfe method
with full steps). It does not prove a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.evidence.rows import unproved
from mechdesign.notions.rows.cone import Cone
from mechdesign.search.generation import WORTH_ADDING, Pace, SurplusBound
from mechdesign.search.limits import Limits
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.rays.boxes import BoxSearch

Gain: TypeAlias = Callable[[FloatArray], FloatArray]

STEPS = 8
"""The largest number of steps of a local search."""

DIFFERENCE = 1e-6
"""The step of central differences for the slopes of a gain, relative to an entry."""

FIRST_RAYS, TRIES, LEAST_STARTS = 4, 3, 24
"""The number of initial rays in random directions, times inputs; the number of restarts of the
local search at other columns, times inputs; and its minimum."""

PACE = Pace()

ASCENTS = 40
"""The largest number of columns of branch and bound used as starts of the local search."""


class AnyCone:
    """Rays from a local search; boxes, or the utility's own bound, limit the surplus.

    Parameters
    ----------
    cone, prior
        The cone of the column, and P in P . r = 1.
    gain
        Returns the gain of columns, ``(n_inputs, n)``.
    limits
        The limits of the search.
    slopes
        Returns the slopes of the gain at a column with P . r = 1; default by differences.
    first
        Private columns as starts, besides rays in random directions.
    boxes
        Branch and bound; None if the gain is not separable by inputs.
    own
        Returns a bound on the surplus at potentials, or None.
    most, pace
        The largest number of linear programs of the local search, and the pace of the rounds.
    """

    how = "local search and branch and bound"

    def __init__(
        self,
        cone: Cone,
        prior: FloatArray,
        gain: Gain,
        limits: Limits,
        slopes: Gain | None = None,
        first: FloatArray | None = None,
        boxes: BoxSearch | None = None,
        own: Callable[[FloatArray], float | None] = lambda _: None,
        most: float = math.inf,
        pace: Pace = PACE,
    ) -> None:
        self.gain, self.size, self.pace = gain, len(prior), pace
        self._prior, self._slopes = prior, slopes or self._differences
        self._boxes, self._own = boxes, own
        self.steps_of_a_box = 0 if boxes is None else boxes.steps_of_a_box
        self._column, self._programs, self._most = LPPricer(cone, prior), 0, most
        self._rng, self._is_rising = np.random.default_rng(0), True
        found = [np.ones(self.size)] if first is None else [*first.T]
        k, eye = self.size, np.eye(self.size)
        directions = [*eye, *-eye, *self._rng.normal(size=(FIRST_RAYS * k, k))]
        found += [self._best(v) for v in directions if not self._is_late(limits)]
        self.rays = np.column_stack(found)

    def first_rays(self, _limits: Limits) -> FloatArray:
        """Return the initial columns of a search."""
        return self.rays

    def _is_late(self, limits: Limits) -> bool:
        return self._programs >= self._most or limits.expired()

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and extreme rays with a positive one.

        The points of branch and bound are starts of the local search. Without boxes the first box
        bounds all columns.
        """
        limits, rise = limits or Limits(), WORTH_ADDING * goal
        rays = self._risen(u, rise, limits) if boxes else []
        if rays or self._boxes is None:
            own = self._own(u)
            return SurplusBound(np.inf if own is None else own, rays, unproved)
        priced = self._boxes.price(u, goal, boxes, limits)
        surplus = [float(self._boxes.gains(r).sum() - u @ r) for r in priced.rays]
        best = np.argsort(-np.array(surplus), kind="stable")[:ASCENTS]
        rays = [ray for n in best for ray in self._ascend(priced.rays[n], u, rise)]
        return SurplusBound(priced.surplus, rays, priced.proof, priced.boxes)

    def _risen(self, u: FloatArray, rise: float, limits: Limits) -> list[FloatArray]:
        """Return rays found by the local search; without any it is over."""
        n, found = max(LEAST_STARTS, 2 * self.size), list[FloatArray]()
        best = np.argsort(u @ self.rays - self.gain(self.rays), kind="stable")[:n]
        starts = [*self.rays[:, best].T, *np.abs(self._rng.normal(size=(n, self.size)))]
        for _ in range(TRIES * self._is_rising):
            for start in starts:
                if self._is_late(limits):
                    break
                found += self._ascend(start, u, rise)
            if found:
                self.rays = np.column_stack([self.rays, *found])
                return found
            i, j = self._rng.integers(self.rays.shape[1], size=(2, n))
            starts = [*(self.rays[:, i] + self._rng.random(size=n) * self.rays[:, j]).T]
        self._is_rising = False
        return []

    def _best(self, direction: FloatArray) -> FloatArray:
        """Return the best ray in a direction."""
        self._programs += 1
        r = self._column.solve(-direction).primal
        if not r.any():
            raise SolverError("the cone has no vertex")
        return r / float(self._prior @ r)

    def _ascend(self, start: FloatArray, u: FloatArray, rise: float) -> list[FloatArray]:
        """Return the ray at the end of the search from a column, if its surplus exceeds ``rise``.

        The search ends with a step that raises the surplus by less.
        """
        r, surplus = start / float(self._prior @ start), -np.inf
        for _ in range(STEPS):
            try:
                higher = self._best(self._slopes(r) - u)
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
