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
checker walks the same tree of boxes in integers (`mechdesign.kernel.linearizations.boxes`).

The tree is kept from one search to the next: at other potentials the multipliers of the rows still
bound every box, by a knapsack, and only where that is not enough its program is solved again.

Source: Falk and Soland 1969 (branch and bound for separable nonconvex programs).
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT, LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.problem import Problem
from mechdesign.search.generation import WORTH_ADDING, SurplusBound
from mechdesign.search.limits import Limits
from mechdesign.search.rays.box_certificate import box_certificate
from mechdesign.search.rays.box_tree import (
    NO_ROWS,
    BoxNode,
    ColumnProgram,
    Relaxation,
)
from mechdesign.utilities import ColumnUtility

__all__ = ["BranchAndBound"]

Range: TypeAlias = tuple[float, float]


class Box(NamedTuple):
    """Ends of every entry, of the least entry, and of the greatest."""

    low: FloatArray
    high: FloatArray
    least: Range
    greatest: Range


THIN = 2.0**-8
"""The range of the least entry is not cut further once it is this narrow, relative to its end."""

SWEEPS = 2
"""Rounds of bound propagation on a box: more seldom shrink it further."""

PROVED_A_SECOND, STEPS_OF_A_BOX = 4_000_000, (90, 6)
"""Of the checker's steps, in a second of this process; and how many a box takes times inputs, alone
and for each ratio of an entry."""

TIE = 2.0**-40
"""Terms are equal that differ by less than this share of them."""

MOST_ENTRIES = 900_000
"""The most boxes of a tree, times inputs: for the checker a minute's work."""

ROUNDING = 1e-9
"""A box counts as empty only if its ends cross by more than rounding explains."""

WIDENINGS = (2.0**-20, 2.0**-10)
"""Where HiGHS finds no column in a box, it is widened by these shares of its ends."""

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
            # what P_z r_z is at least and at most for r_x = 1; 0 where there is no bound
            self._shares = prior / ratios
            self._loads = np.where(np.isfinite(ratios), prior[:, None] * ratios, 0.0).T
        self._began = time.perf_counter(), time.process_time()
        self.has_ends = program is not None and program.has_ends
        self._root: _OpenBox | None = None
        self._leaves: list[_OpenBox] = []
        self.count, self.most_boxes = 0, MOST_ENTRIES // self.size
        """How many boxes the tree has, and the most."""

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
                E = [min(LARGEST_EXPONENT, float(exponent)) for exponent in rows.exponents]
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

    def _certificate(self, u: FloatArray, tree: Sequence[BoxNode], problem: Problem) -> Certificate:
        """Return the potentials with the tree of boxes."""
        priors, numbers = ({}, {}) if self.program is None else self.program.priors()
        return box_certificate(problem, u, tree, priors, numbers)

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
        # where P_x is 1 and nothing bounds the other entries, nothing follows
        low, high = np.fmax(low, least), np.minimum(high, most)
        peak = max(1.0, float(high.max()))
        return Box(low, high, (float(low.min()), min(1.0, float(high.min()))), (1.0, peak))

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus at potentials u, and points of boxes with a positive one.

        Best-first search: the box with the largest bound is cut next. A point satisfies P . r = 1
        and the bounds on entries; where there is no program, not those on ratios. The bound holds
        whenever the search ends: when it is at most the goal, or the surplus of a column found, or
        the bound of a box that is too thin to cut; after so many boxes; or at a limit. What the
        proof of the tree takes is kept of the time.
        """
        limits = limits or Limits()
        tie, rays, thin = count(), list[FloatArray](), list[_OpenBox]()
        root = self._restate(u)
        heap = [(-leaf.bound, next(tie), leaf) for leaf in self._leaves]
        heapq.heapify(heap)
        settled, seen = -np.inf, 0
        steps = self.steps_of_a_box / PROVED_A_SECOND
        while heap:
            limits.reserve = max(limits.reserve, self.count * steps * self._seconds_of_one())
            top = heap[0][2]
            if self.count >= self.most_boxes:
                limits.ended = f"a proof of more than {self.count} boxes is too long"
            if top.bound <= max(goal, settled) or seen >= boxes or limits.expired():
                break
            heapq.heappop(heap)
            parts: list[_OpenBox] = []
            if not top.is_solved:
                seen += 1
                self._solve(top, u)
                parts = [top]
            else:
                surplus = float(self.gains(top.ray).sum() - u @ top.ray)
                if surplus > WORTH_ADDING * goal:
                    rays.append(top.ray)
                halves = self._halves(top)
                if not halves:
                    settled = max(settled, top.bound)
                    thin.append(top)
                elif top.is_column:
                    settled = max(settled, surplus)
                nodes = []
                for half in halves:
                    seen += 1
                    # until it has multipliers of its own, those of the whole prove as much
                    nodes.append(BoxNode(top.node.potential, top.node.rows))
                    if half is not None:
                        parts.append(self._opened(half, nodes[-1], top.taken))
                        self._solve(parts[-1], u)
                if halves:
                    self.count += len(halves)
                    top.node.cut, top.node.parts = (top.x, top.cut), tuple(nodes)
            for part in parts:
                heapq.heappush(heap, (-part.bound, next(tie), part))
        self._leaves = [*thin, *(leaf for _, _, leaf in heap)]
        most = max(settled, -heap[0][0] if heap else settled)
        proof = partial(self._certificate, u, root.node.walk())
        return SurplusBound(most, rays, proof, seen)

    def _seconds_of_one(self) -> float:
        """Return how many seconds pass in one of this process, which others may slow down."""
        wall, own = self._began
        return max(1.0, (time.perf_counter() - wall) / max(1e-3, time.process_time() - own))

    def _restate(self, u: FloatArray) -> _OpenBox:
        """Bound all boxes at new potentials, by the multipliers of their rows; return the first."""
        if self._root is None:
            root = self._shrunk(self.root())
            if root is None:
                raise SolverError("branch and bound has no box to start from")
            nothing = np.zeros(self.size + 2 * self.has_ends)
            self._root = self._opened(root, BoxNode(0.0, NO_ROWS), nothing)
            self._leaves, self.count = [self._root], 1
        k = self.size
        low, high, chord, taken = (
            np.array([getattr(leaf, name)[:k] for leaf in self._leaves])
            for name in ("low", "high", "chord", "taken")
        )
        r, _, potential = self._filled(chord - u - taken, low, high)
        worth = ((chord - u - taken) * r).sum(axis=1)
        for leaf, value, s in zip(self._leaves, worth.tolist(), potential.tolist(), strict=True):
            leaf.bound = leaf.constant + value
            leaf.node.potential = s
            leaf.is_solved = False
        return self._root

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
        if self.ratios is not None:
            low, high = self._narrowed(low, high)
            if (low > high * (1 + ROUNDING) + ROUNDING).any():
                return None
            high = np.maximum(low, high)
        least, most = max(least, float(low.min())), min(most, float(high.min()))
        bottom, peak = max(bottom, float(low.max())), min(peak, float(high.max()))
        if max(least - most * (1 + ROUNDING), bottom - peak * (1 + ROUNDING)) > ROUNDING:
            return None
        return Box(low, high, (least, max(least, most)), (bottom, max(bottom, peak)))

    def _narrowed(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound each entry by ratios and P . r = 1 together.

        1 >= Sum_{z in S} (P_z / m_xz) r_x + Sum_{z not in S} P_z low_z for every set S of inputs,
        where the best S for an end of r_x has the inputs whose first term is larger there; and
        likewise from below. Of two equal terms the one that stays is taken, as the end will move.
        """
        below, above = self.prior * low, self.prior * high
        on = self._shares * high[:, None] > below * (1 + TIE)
        slope, rest = (self._shares * on).sum(axis=1), (below * ~on).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            high = np.minimum(high, np.where(slope > 0, (1 - rest) / slope, np.inf))
            on = (self._loads > 0) & (self._loads * low[:, None] < above * (1 - TIE))
            slope, rest = (self._loads * on).sum(axis=1), (above * ~on).sum(axis=1)
            low = np.maximum(low, np.where(slope > 0, (1 - rest) / slope, 0.0))
        return low, high

    def _opened(self, box: Box, node: BoxNode, taken: FloatArray) -> _OpenBox:
        """Return a box with its chords, whose relaxation is not yet solved."""
        at_low, width = self.gains(box.low), box.high - box.low
        with np.errstate(divide="ignore", invalid="ignore"):
            chord = np.where(width > 0, (self.gains(box.high) - at_low) / width, 0.0)
        return _OpenBox(box, node, chord, float((at_low - chord * box.low).sum()), taken)

    def _solve(self, leaf: _OpenBox, u: FloatArray) -> None:
        """Solve the relaxation of a box: its bound, the point where it is met, and a cut.

        A box that holds no column has no optimum. The multipliers at the optimum of a box that is a
        little wider bound it as well. Without these either, they stay as they are.
        """
        box, slope, k = leaf.box, leaf.chord - u, self.size
        low, high = box.low, box.high
        # the sum of the chords less u . r is (a constant) + (chord - u) . r
        found = self._relaxed(slope, box)
        leaf.is_column = found is not None or (self.program is None and self.ratios is None)
        for share in WIDENINGS if self.program is not None else ():
            found = found or self._relaxed(slope, box, share)
        if found is None:
            left = slope - leaf.taken[:k]
            points, between, potentials = self._filled(left[None], low[None], high[None])
            r, x, leaf.node.potential = points[0], int(between[0]), float(potentials[0])
            leaf.bound = leaf.constant + float(left @ r)
        else:
            r, leaf.node.potential, leaf.node.rows, leaf.taken = found
            leaf.bound = leaf.base + float(slope @ r)
            # every entry may be in between: cut where its chord overestimates most
            x = int(np.argmax(leaf.chord * (r - low) + self.gains(low) - self.gains(r)))
        cut = float(r[x]) if x >= 0 else float(low[0])
        if self.is_joined:
            least, most = box.least
            width = high - low
            # without a program the ratios are known by the least entry only: it is cut first
            if self.program is None and most - least > THIN * most:
                x, cut = k, float(np.sqrt(max(least, 1e-300) * most))
            elif x < 0 or not low[x] + NEAR_END * width[x] < cut < high[x] - NEAR_END * width[x]:
                x = int(np.argmax(width)) if x < 0 else x
                cut = float(low[x] + high[x]) / 2
        leaf.ray, leaf.x, leaf.cut, leaf.is_solved = r, max(x, 0), cut, True

    def _relaxed(self, slope: FloatArray, box: Box, wider: float = 0.0) -> Relaxation | None:
        """Solve the program of a box; None where there is none, or it has no optimum."""
        if self.program is None:
            return None
        low, high = box.low, box.high
        if self.has_ends:
            low = np.append(low, [box.least[0], box.greatest[0]])
            high = np.append(high, [box.least[1], box.greatest[1]])
        return self.program.best(slope, low * (1 - wider), high * (1 + wider))

    def _filled(
        self, slope: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Return the best points of boxes with P . r = 1, the entries in between, the potentials.

        Each argument is ``(n_boxes, n_inputs)``; ``slope`` is what entries are worth. A fractional
        knapsack: entries are raised in falling order of slope_x / P_x, until P . r = 1. The
        potential is that ratio of the entry in between; -1 stands for none.
        """
        P, box = self.prior, np.arange(len(slope))
        r = np.where((P == 0) & (slope > 0), high, low)
        counts = np.flatnonzero(P > 0)
        rate = slope[:, counts] / P[counts]
        order = np.argsort(-rate, axis=1, kind="stable")
        sizes = np.take_along_axis((P * (high - low))[:, counts], order, axis=1)
        room = np.cumsum(sizes, axis=1)
        left = 1.0 - r @ P
        full = (room < left[:, None]).sum(axis=1)
        share = np.clip(left[:, None] - (room - sizes), 0.0, sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(sizes > 0, share / sizes, 0.0)
        places = counts[order]
        raised = np.take_along_axis(low, places, axis=1)
        width = np.take_along_axis(high - low, places, axis=1)
        np.put_along_axis(r, places, raised + share * width, axis=1)
        last = np.minimum(full, len(counts) - 1)
        potential = np.take_along_axis(rate, order[box, last][:, None], axis=1)[:, 0]
        between = np.where((full < len(counts)) & (left > 0), places[box, last], -1)
        return r, between, potential


@dataclass
class _OpenBox:
    """A box that may be cut.

    Attributes
    ----------
    box, node
        The box, and its place in the tree.
    chord, base
        The slopes of the chords, and the sum of what they are at 0.
    taken
        What the rows take from the slope of each entry, and of the least and the greatest where
        these are variables, at the multipliers found last.
    bound, is_solved
        At the potentials of the search, and whether it is that of the relaxation.
    ray, x, cut
        The point where it is met, and where to cut the box.
    is_column
        Whether the point is a private column.
    """

    box: Box
    node: BoxNode
    chord: FloatArray
    base: float
    taken: FloatArray
    bound: float = np.inf
    is_solved: bool = False
    ray: FloatArray = field(default_factory=lambda: np.zeros(0))
    x: int = 0
    cut: float = 0.0
    is_column: bool = False

    @property
    def constant(self) -> float:
        """The sum of the chords at 0, with what the least and the greatest entry add at most."""
        more = self.taken[len(self.chord) :]
        if not len(more):
            return self.base
        ends = np.array([self.box.least, self.box.greatest])
        return self.base + float((-more[:, None] * ends).max(axis=1).sum())

    @property
    def low(self) -> FloatArray:
        """Lower ends of the entries."""
        return self.box.low

    @property
    def high(self) -> FloatArray:
        """Upper ends of the entries."""
        return self.box.high
