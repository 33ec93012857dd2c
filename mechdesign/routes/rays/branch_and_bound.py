"""Branch and bound over boxes: the largest surplus g(r) - u . r of a column, for every notion.

Columns are divided by the probability of their output, so that P . r = 1. A gain that splits,
g(r) = Sum_x h_x(r_x) with h_x convex, is on a box low <= r <= high at most its chord,

    h_x(r_x) <= h_x(low_x) + slope_x (r_x - low_x),

with equality at both ends. Maximizing the chords less u . r is a linear program, the relaxation of
the box. With P . r = 1 alone it is a fractional knapsack: entries go to their upper ends in falling
order of (slope_x - u_x) / P_x, and one stays in between. With rows on ratios it is solved by HiGHS.
The box is cut where the chord overestimates most. Boxes are shrunk to where the ratios and
P . r = 1 allow a column (bound propagation). Under one budget, where no program is needed, they are
cut by the size of the least entry first, which the ratios turn into bounds on all others. The
checker walks the same tree of boxes in integers (`mechdesign.certify.bounds.sums.boxes`).

Source: Falk and Soland 1969 (branch and bound for separable nonconvex programs).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT, LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual
from mechdesign.routes.limits import Limits
from mechdesign.routes.rays.box_tree import (
    NO_ROWS,
    BoxNode,
    ColumnProgram,
    NumberedTree,
    SurplusBound,
)
from mechdesign.utilities import ColumnUtility

__all__ = ["WORTH_ADDING", "BranchAndBound"]

Range: TypeAlias = tuple[float, float]


class Box(NamedTuple):
    """Ends of every entry, of the least entry, and of the greatest."""

    low: FloatArray
    high: FloatArray
    least: Range
    greatest: Range


WORTH_ADDING = 1e-3
"""A column is added if its surplus is above this share of the goal."""

THIN = 2.0**-8
"""The range of the least entry is not cut further once it is this narrow, relative to its end."""

SWEEPS = 2
"""Rounds of bound propagation on a box: more seldom shrink it further."""

ROUNDING = 1e-9
"""A box counts as empty only if its ends cross by more than rounding explains."""

STEPS_OF_A_BOX = 60, 4
"""Of the checker for a box, times inputs: alone, and for each ratio of an entry."""

NEAR_END = 1e-3
"""A cut this near an end of an entry, relative to the width, is moved to the middle."""


class BranchAndBound:
    """The search for columns with P . r = 1 of largest surplus.

    Parameters
    ----------
    prior
        ``(n_inputs,)``.
    low, high
        Bounds on every entry of r; 0 and inf for none.
    ratios
        ``(n_inputs, n_inputs)``: the bound on r_x / r_x', inf for none; None if there is no bound.
    utility
        A utility whose gain splits by inputs.
    program
        The relaxation with the rows on ratios; None where boxes alone bound as well.
    spread
        The bound on the ratio of the greatest entry to the least that sets of priors imply; inf
        for none.
    """

    def __init__(
        self,
        prior: FloatArray,
        low: float,
        high: float,
        ratios: FloatArray | None,
        utility: ColumnUtility,
        program: ColumnProgram | None = None,
        spread: float = np.inf,
    ) -> None:
        self.spread = spread
        self.prior, self.low, self.high = prior, low, high
        self.ratios, self.utility = ratios, utility
        self.size, self.program = len(prior), program
        self.tops: FloatArray = np.full(len(prior), np.inf)
        self.is_joined = ratios is not None or bool(np.isfinite(spread))
        """Whether bounds on one entry follow from those on another."""
        if ratios is not None:
            full = np.isfinite(ratios).all(axis=1)
            self.tops = np.where(full, np.maximum(1.0, ratios.max(axis=1)), np.inf)

    @classmethod
    def of(cls, problem: Problem, utility: ColumnUtility) -> BranchAndBound | None:
        """Return the search for a cone; None where the gain does not split or r is unbounded.

        Under one budget the box of the least entry implies all rows on ratios: no program is
        needed.
        """
        cone, prior, k = problem.cone, problem.prior.array, len(problem.domain)
        if utility.coordinate_gain(np.arange(k), np.ones(k), prior) is None:
            return None
        low, high, ratios, spread = 0.0, np.inf, np.full((k, k), np.inf), np.inf
        pairs: list[PairRows] = []
        sets: dict[int, LiftRows] = {}
        for number, family in enumerate(cone.families):
            rows, lifts = family.ratio_rows(), family.lift_rows()
            if rows is not None:
                pairs.append(rows)
                E = [min(LARGEST_EXPONENT, float(b.exponent(rows.epsilon))) for b in rows.bounds]
                limits = np.append(np.exp(E) * rows.factors, np.inf)[rows.index]
                ratios = np.minimum(ratios, limits)
            elif lifts is not None:
                least, most = lifts.ends()
                if lifts.priors.contains(problem.prior.probabilities):
                    low, high = max(low, least), min(high, most)
                if not lifts.is_for(problem.prior.probabilities):
                    sets[number] = lifts
                    spread = min(spread, most / least if least else np.inf)
        np.fill_diagonal(ratios, 1.0)
        for y in range(k):  # bounds that follow through a third input (Floyd and Warshall)
            ratios = np.minimum(ratios, ratios[:, [y]] * ratios[[y], :])
        budgets = {len(family.bounds) for family in pairs}
        alone = not sets and (not pairs or (len(pairs) == 1 and budgets == {1}))
        program = None if alone else ColumnProgram(prior, pairs, sets)
        search = cls(prior, low, high, ratios if pairs else None, utility, program, spread)
        return search if np.isfinite(search.root()[1]).all() else None

    def gains(self, r: FloatArray) -> FloatArray:
        """Return h_x(r_x) for each input."""
        return np.asarray(self.utility.coordinate_gain(np.arange(self.size), r, self.prior))

    @property
    def steps_of_a_box(self) -> int:
        """About how many steps it takes the checker to bound one box."""
        alone, ratio = STEPS_OF_A_BOX
        return self.size * (alone + ratio * self.size * (self.ratios is not None))

    def dual(self, u: FloatArray, priced: SurplusBound) -> Dual:
        """Return the potentials with the tree of boxes.

        Raises
        ------
        UnsupportedError
            If there is no tree.
        """
        if priced.tree is None:
            raise UnsupportedError("objective", "a gain that can be priced", "another")
        priors, numbers = ({}, {}) if self.program is None else self.program.priors()
        tree = NumberedTree(priced.tree, numbers)
        return Dual((), potentials=u, search="boxes", tree=tree, priors=priors)

    def root(self) -> Box:
        """Return the box of all columns.

        From r_x <= m r_z for every z, 1 = Sum_z P_z r_z >= r_x Sum_z P_z / m, and likewise from
        below; from the bounds on entries, P_x r_x = 1 - Sum over the others.
        """
        P = self.prior
        low, high = np.full(self.size, self.low), np.full(self.size, self.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.ratios is not None:
                high = np.minimum(high, 1 / ((1 / self.ratios) @ P))
                spread = np.where(P[:, None] > 0, P[:, None] * self.ratios, 0.0).sum(axis=0)
                low = np.maximum(low, np.where(spread > 0, 1 / spread, 0.0))
            low, high = np.maximum(low, 1 / self.spread), np.minimum(high, self.spread)
            most = np.where(P > 0, (1 - (1 - P) * self.low) / P, np.inf)
            least = np.where(P > 0, (1 - (1 - P) * self.high) / P, 0.0)
        low, high = np.maximum(low, least), np.minimum(high, most)
        peak = max(1.0, float(high.max()))
        return Box(low, high, (float(low.min()), min(1.0, float(high.min()))), (1.0, peak))

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus at potentials u, and points of boxes with a positive one.

        Best-first search: the box with the largest bound is cut next. ``settled`` is the largest
        surplus of a column found, or bound of a box that is too thin to cut. The points satisfy
        P . r = 1 and the bounds on entries, not those on ratios. The bound holds whenever the
        search ends: when it is at most the goal, after so many boxes, or at a limit.
        """
        limits = limits or Limits()
        tie, rays = count(), list[FloatArray]()
        root = self._shrunk(self.root())
        if root is None:
            raise SolverError("branch and bound has no box to start from")
        first = self._bounded(root, u)
        heap = [(-first.bound, next(tie), first)]
        settled, seen = -np.inf, 1
        while heap and seen < boxes and not limits.over():
            _, _, top = heapq.heappop(heap)
            surplus = float(self.gains(top.ray).sum() - u @ top.ray)
            if surplus > WORTH_ADDING * goal:
                rays.append(top.ray)
            if top.bound <= max(goal, settled):
                return SurplusBound(max(top.bound, settled), rays, seen, first.node)
            halves = self._halves(top)
            if halves and top.is_column:
                settled = max(settled, surplus)
            if not halves:
                settled = max(settled, top.bound)
                continue
            nodes = []
            for half in halves:
                seen += 1
                if half is None:  # empty but for rounding: the bound of the whole covers it
                    nodes.append(BoxNode(top.node.potential, top.node.rows))
                    continue
                part = self._bounded(half, u)
                part.bound = min(part.bound, top.bound)
                nodes.append(part.node)
                heapq.heappush(heap, (-part.bound, next(tie), part))
            top.node.cut, top.node.parts = (top.x, top.cut), tuple(nodes)
        most = max(settled, -heap[0][0] if heap else settled)
        return SurplusBound(most, rays, seen, first.node)

    def _halves(self, top: _OpenBox) -> list[Box | None]:
        """Cut a box in two; None for a part that can hold no column, [] where it is too thin."""
        box, x, cut = top.box, top.x, top.cut
        parts: list[Box]
        if x == self.size:
            (least, most) = box.least
            parts = [box._replace(least=(least, cut)), box._replace(least=(cut, most))]
        elif box.low[x] < cut < box.high[x]:
            below, above = box.high.copy(), box.low.copy()
            below[x] = above[x] = cut
            parts = [box._replace(high=below), box._replace(low=above)]
        else:
            return []
        return [self._shrunk(part) for part in parts]

    def _shrunk(self, box: Box) -> Box | None:
        """Return the part of a box where a column can be; None if there clearly is none.

        Bound propagation: r_x <= m r_z for every pair, and P_x r_x = 1 - Sum over the others.
        """
        low, high, (least, most), (bottom, peak) = box
        P = self.prior
        peak, least = min(peak, self.spread * most), max(least, bottom / self.spread)
        if self.is_joined:
            low = np.maximum(low, least)
            high = np.minimum(np.minimum(high, peak), self.tops * most)
        for _ in range(SWEEPS):
            if self.ratios is not None:
                high = np.minimum(high, (self.ratios * high).min(axis=1))
                low = np.maximum(low, (low[:, None] / self.ratios).max(axis=0))
            below, above = P * low, P * high
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(P > 0, (1 - below.sum() + below) / P, np.inf)
                need = np.where(P > 0, (1 - above.sum() + above) / P, 0.0)
            low, high = np.maximum(low, need), np.minimum(high, room)
            if (low > high * (1 + ROUNDING) + ROUNDING).any():
                return None
            high = np.maximum(low, high)
        least, most = max(least, float(low.min())), min(most, float(high.min()))
        bottom, peak = max(bottom, float(low.max())), min(peak, float(high.max()))
        if max(least - most * (1 + ROUNDING), bottom - peak * (1 + ROUNDING)) > ROUNDING:
            return None
        return Box(low, high, (least, max(least, most)), (bottom, max(bottom, peak)))

    def _bounded(self, box: Box, u: FloatArray) -> _OpenBox:
        """Return a box with the bound of its relaxation, the point where it is met, and a cut."""
        low, high = box.low, box.high
        at_low, at_high = self.gains(low), self.gains(high)
        width = high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            chord = np.where(width > 0, (at_high - at_low) / width, 0.0)
        # the sum of the chords less u . r is (a constant) + (chord - u) . r
        slope = chord - u
        base = float((at_low - chord * low).sum())
        found = self._relaxed(slope, box)
        if found is None:
            r, x, potential = self._filled(slope, low, high)
            rows = NO_ROWS
        else:
            r, potential, rows = found
            # every entry may be in between: cut where its chord overestimates most
            x = int(np.argmax(at_low + chord * (r - low) - self.gains(r)))
        bound = base + float(slope @ r)
        cut = float(r[x]) if x >= 0 else float(low[0])
        if self.is_joined:
            least, most = box.least
            # without a program the ratios are known by the least entry only: it is cut first
            if self.program is None and most - least > THIN * most:
                x, cut = self.size, float(np.sqrt(max(least, 1e-300) * most))
            elif x < 0 or not low[x] + NEAR_END * width[x] < cut < high[x] - NEAR_END * width[x]:
                x = int(np.argmax(width)) if x < 0 else x
                cut = float(low[x] + high[x]) / 2
        is_column = found is not None or (self.program is None and self.ratios is None)
        return _OpenBox(bound, box, r, max(x, 0), cut, BoxNode(potential, rows), is_column)

    def _relaxed(
        self, slope: FloatArray, box: Box
    ) -> tuple[FloatArray, float, tuple[IntArray, IntArray, FloatArray]] | None:
        """Solve the program of a box; None where there is none, or it has no optimum."""
        if self.program is None:
            return None
        if not self.program.has_ends:
            return self.program.best(slope, box.low, box.high)
        low = np.append(box.low, [box.least[0], box.greatest[0]])
        high = np.append(box.high, [box.least[1], box.greatest[1]])
        return self.program.best(slope, low, high)

    def _filled(
        self, slope: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, int, float]:
        """Return the best point of a box with P . r = 1, the entry in between, and the potential.

        ``slope`` is that of the chords less u. A fractional knapsack: entries are raised in falling
        order of slope_x / P_x, until P . r = 1. The potential is that ratio of the entry in
        between; -1 stands for none.
        """
        P, width = self.prior, high - low
        free = (P == 0) & (slope > 0)
        r = np.where(free, high, low)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(P > 0, slope / P, 0.0)
        order = np.argsort(-rate)
        order = order[P[order] > 0]
        left = 1.0 - float(P @ r)
        room = np.cumsum((P * width)[order])
        full = int(np.searchsorted(room, left))
        r[order[:full]] = high[order[:full]]
        if full == len(order) or left <= 0:
            last = order[min(full, len(order) - 1)] if len(order) else 0
            return r, -1, float(rate[last])
        x = int(order[full])
        r[x] = low[x] + (left - (room[full - 1] if full else 0.0)) / P[x]
        return r, x, float(rate[x])


@dataclass
class _OpenBox:
    """A box that may be cut: its bound, the point where that is met, and where to cut it."""

    bound: float
    box: Box
    ray: FloatArray
    x: int
    cut: float
    node: BoxNode
    is_column: bool
    """Whether the point is a private column."""
