"""The largest surplus of a gain of one scalar, (p . r) h(s) with s = v . r / p . r: by chords.

On a gap between two nodes h is at most its chord A + B s, so that the surplus is at most that of
the linear gain (A p + B v) . r, one linear program over a column. It is attained at an extreme ray.
Where the ray has less surplus than its chord says, the gap is cut at its s: with nodes at all good
rays the bound is exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.special import xlogy

from mechdesign._typing import FloatArray
from mechdesign.evidence.rows import certificate
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.gains import Entropy, Hellinger, Squares
from mechdesign.kernel.linearizations import Chords
from mechdesign.problem import Problem
from mechdesign.search.decoders.search import PACE
from mechdesign.search.generation import WORTH_ADDING, SurplusBound
from mechdesign.search.limits import Limits
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.utilities import ColumnUtility

FIRST, MOST, NEAREST = 9, 400, 1e-9
"""The number of first nodes, the largest number, and their least distance, as a share of the
range."""

MARGIN = 1e-3
"""The relative distance of the last node from the largest s, where this is not a v_x / p_x."""

CLOSE = 0.1
"""The share of the goal, or of the largest surplus of a ray, that chords may add to it."""

Scalar: TypeAlias = Entropy | Hellinger | Squares
"""A gain that may depend on one scalar of a column."""


class ChordPricer:
    """Columns of a divergence, for any notion on columns."""

    how, steps_of_a_box, pace = "chords of the gain", 0, PACE

    def __init__(self, problem: Problem, utility: ColumnUtility, aim: Scalar) -> None:
        self._utility, self._law, self._aim = utility, problem.prior.array, aim
        self.size = len(aim.p)
        self._v, self._p = (np.array(w, dtype=np.float64) for w in (aim.vectors[0], aim.p))
        self._columns = LPPricer(problem.cone, self._p / self._p.sum())
        values = [v / p for v, p in zip(aim.vectors[0], aim.p, strict=True) if p]
        self._low, self._high = min(values), max(values)
        self._beyond = np.zeros((len(self._columns.rows), 2))
        if self._v[self._p == 0].any():
            self._high, self._beyond[:, 1] = self._highest(LPPricer(problem.cone))

    @classmethod
    def of(cls, problem: Problem, utility: ColumnUtility) -> ChordPricer | None:
        """Return the pricer; None for another gain, one that hardly varies, or may be infinite."""
        aim = problem.compiled.statement.objective
        if not isinstance(aim, Scalar):
            return None
        by_lift = any(n.bounds_lift_from_below for n in problem.privacy) and all(problem.prior)
        is_finite = all(aim.p) or by_lift or np.isfinite(problem.cone.lengths()).all()
        if len(aim.vectors) != 1 + isinstance(aim, Hellinger) or not is_finite:
            return None
        pricer = cls(problem, utility, aim)
        return pricer if pricer._high - pricer._low > NEAREST * pricer._high else None

    def _highest(self, pricer: LPPricer) -> tuple[Fraction, FloatArray]:
        """Return a node above the s of every private column, and multipliers that prove it."""
        ray = self._columns.price(-self._v[:, None]).rays[:, 0]
        high = as_fraction((1 + MARGIN) * float(self._v @ ray) / float(self._p @ ray))
        tail = float(high) * self._p - self._v
        return high, pricer.price(tail[:, None]).multipliers[:, 0]

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``."""
        return self._utility.gain(rays, self._law)

    def first_rays(self, limits: Limits) -> FloatArray:
        """Return the column of ones, and rays that are best for chords."""
        found = self.price(np.zeros(self.size), math.inf, 0, limits).rays
        return np.column_stack([np.ones(self.size), *found])

    def _heights(self, s: FloatArray) -> FloatArray:
        """Return h at nodes."""
        if isinstance(self._aim, Squares):
            return s**2
        if isinstance(self._aim, Hellinger):
            return np.asarray(0.5 - np.sqrt(np.maximum(s * (1 - s), 0.0)))
        return np.asarray(xlogy(s, s / float(self._aim.numbers[0])))

    def price(
        self, u: FloatArray, goal: float, _boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and rays with a positive one."""
        limits, near = limits or Limits(), NEAREST * float(self._high - self._low)
        nodes = np.linspace(float(self._low), float(self._high), FIRST)
        k, new = self.size, np.arange(FIRST - 1)
        found = np.zeros((k + 1 + len(self._columns.rows), len(new)))
        while True:
            heights = self._heights(nodes)
            slopes = np.diff(heights) / np.diff(nodes)
            levels = heights[:-1] - slopes * nodes[:-1]
            costs = u[:, None] - np.outer(self._p, levels) - np.outer(self._v, slopes)
            priced = self._columns.price(costs[:, new], limits.expired)
            found[:, new] = np.vstack([priced.rays, priced.reduced, priced.multipliers])
            rays, reduced, multipliers = found[:k], found[k], found[k + 1 :]
            if limits.expired():
                break
            surplus = self.gain(rays) - u @ rays
            most = max(0.0, float(surplus.max()))
            s = (self._v @ rays) / (self._p @ rays)
            cut = (s - nodes[:-1] > near) & (nodes[1:] - s > near)
            cut &= -reduced > most + CLOSE * max(goal, most)
            if not cut.any() or len(nodes) > MOST:
                break
            at = np.flatnonzero(cut)
            nodes, found = np.insert(nodes, at + 1, s[at]), np.insert(found, at, 0.0, axis=1)
            new = np.unique(np.concatenate([at, at + 1]) + np.tile(np.arange(len(at)), 2))
        rays = rays[:, rays.any(axis=0)]
        good = self.gain(rays) - u @ rays > (WORTH_ADDING * goal if goal < math.inf else -math.inf)
        proof = partial(self._certificate, nodes, multipliers)
        return SurplusBound(max(0.0, -float(reduced.min())), list(rays[:, good].T), proof)

    def _certificate(
        self, nodes: FloatArray, multipliers: FloatArray, problem: Problem
    ) -> Certificate:
        """Return the chords between nodes, with multipliers of the rows."""
        inner = map(as_fraction, nodes[1:-1].tolist())
        line = Chords((self._low, *inner, self._high))
        duals = self._columns.duals(np.hstack([multipliers, self._beyond]))
        return certificate(problem, line, duals=duals, n_nodes=len(nodes) + 1)
