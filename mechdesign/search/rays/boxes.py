"""Branch and bound over boxes: the largest surplus g(r) - u . r of a column, for every notion.

Columns are divided by the probability of their output, so that P . r = 1. On a box low <= r <= high
a separable gain, g(r) = Sum_x h_x(r_x) with h_x convex, is at most its chord,

    h_x(r_x) <= h_x(low_x) + slope_x (r_x - low_x),

with equality at both ends. Maximizing the chords minus u . r over the private columns of a box is a
linear program, its relaxation. The box is cut where the chord overestimates most. Boxes are shrunk
to where the ratios and P . r = 1 allow a column (bound propagation). The kernel walks the same tree
of boxes in integers (`mechdesign.kernel.linearizations.boxes`).

At any potentials the multipliers of the rows bound a box by a fractional knapsack: entries go to
their upper ends in decreasing order of worth per probability, until P . r = 1. So the tree is kept
from one search to the next, and the program is solved again only if the knapsack is not tight
enough. If all rows bound lifts at P, the box implies them, and the knapsack is the relaxation.

Source: Falk and Soland 1969 (branch and bound for separable nonconvex programs).
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import count

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.evidence.rows import certificate, negated, relaxed
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.linearizations import Boxes
from mechdesign.kernel.linearizations.boxes import steps_of_a_box
from mechdesign.kernel.oracles import Knapsack
from mechdesign.kernel.relaxations import Implied
from mechdesign.problem import Problem
from mechdesign.resources import current
from mechdesign.search.generation import WORTH_ADDING, SurplusBound
from mechdesign.search.limits import STEPS_A_SECOND, Limits, running
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.utilities import ColumnUtility

SWEEPS = 2
"""Rounds of bound propagation on a box: more rounds seldom shrink it further."""

PASSES = 3
"""The work of a proof, as a multiple of its check: boxes are computed, packed, and checked."""

LOOSE = 1.5
"""A search ends with a bound of this factor of the largest surplus of a known column: a closer one
is useless, as potentials change until no column has a surplus."""

OF_BOXES = 0.9
"""The share of the steps of a proof that boxes may take; multipliers take the rest."""

ROUNDING, TIE = 1e-9, 2.0**-40
"""A box counts as empty only if its ends cross by more than rounding explains; and terms with a
smaller relative difference are equal."""

WIDENINGS = (0.0, 2.0**-20, 2.0**-10)
"""If HiGHS finds no column in a box, it is widened by these shares of its ends."""

NEAR_END = 1e-3
"""A cut this close to an end of an entry, relative to the width, is moved to the middle."""

LEAST_MULTIPLIER = 1e-14
"""Smaller multipliers are dropped from the certificate: the bound stays valid."""


LARGEST_BOUND = 1e150
"""Larger bounds count as none: the product of two remains a double."""


@dataclass(eq=False)
class Box:
    """A box of the tree, with a bound on the surplus of its columns.

    Attributes
    ----------
    low, high
        Ends of every entry.
    chord, base
        The slopes of the chords, and the sum of their values at 0.
    weights, taken
        Multipliers of the rows, and their reduction of the slope of each entry.
    bound, is_solved
        At the potentials of the search, and whether it is that of the relaxation.
    column, is_private
        The maximizer, and whether it is a private column.
    x, cut
        Where to cut the box.
    parts
        The lower and the upper part, after a cut.
    """

    low: FloatArray
    high: FloatArray
    chord: FloatArray
    base: float
    weights: FloatArray
    taken: FloatArray
    bound: float = np.inf
    is_solved: bool = False
    column: FloatArray = field(default_factory=lambda: np.zeros(0))
    is_private: bool = True
    x: int = 0
    cut: float = 0.0
    parts: tuple[Box, ...] = ()


def _upper(bound: Fraction | None) -> float:
    return float(bound) if bound is not None and bound <= LARGEST_BOUND else np.inf


class BoxSearch:
    """The search for columns with P . r = 1 of largest surplus."""

    def __init__(
        self, problem: Problem, utility: ColumnUtility, limits: Limits | None = None
    ) -> None:
        self.problem, self.utility, self.prior = problem, utility, problem.prior.array
        self.size = k = len(self.prior)
        lifts = [family.lift_rows() for family in problem.cone.families]
        own = problem.prior.probabilities
        is_lift = all(rows is not None and rows.is_for(own) for rows in lifts)
        self._steps = () if is_lift else (Implied(alone=False),)
        low, high = problem.compiled.statement.lift(own)
        self.lift = float(low), _upper(high)
        E = problem.cone.lengths()
        for bounds in [] if is_lift else lifts:
            if bounds is not None and len(bounds.sides()) > 1:
                np.minimum(E, float(sum(bounds.sides().values())), out=E)
        R = np.nextafter(np.exp(np.where(math.log(LARGEST_BOUND) < E, np.inf, E)), np.inf)
        np.fill_diagonal(R, 1.0)
        for y in range(k):  # bounds that follow through a third input (Floyd and Warshall)
            if limits is not None and limits.expired():
                raise SolverError(f"the ratios of {k:,} inputs were not bounded: {limits.ended}")
            R = np.minimum(R, R[:, [y]] * R[[y], :])
        self.ratios = None if is_lift else R
        # the least and the largest P_z r_z for r_x = 1; 0 without a bound
        self._shares = self.prior / R
        self._loads = (self.prior[:, None] * np.where(np.isfinite(R), R, 0.0)).T
        self._program = None if is_lift else LPPricer(problem.cone, self.prior, unit=1.0)
        self._began = time.perf_counter(), time.process_time()
        self._root: Box | None = None
        self._leaves: list[Box] = []
        self.count, self.steps_of_a_box = 0, steps_of_a_box(k, not is_lift) + 10 * k
        """The number of boxes of the tree, and the checker steps for one, with its knapsack."""

    @classmethod
    def of(
        cls, problem: Problem, utility: ColumnUtility, limits: Limits | None = None
    ) -> BoxSearch | None:
        """Return the search; None if r is unbounded."""
        search = cls(problem, utility, limits)
        return search if np.isfinite(search.root()[1]).all() else None

    def gains(self, r: FloatArray) -> FloatArray:
        """Return h_x(r_x) for each input."""
        return np.asarray(self.utility.entry_gains(r, self.prior))

    def root(self) -> tuple[FloatArray, FloatArray]:
        """Return the ends of all columns.

        From r_x <= m r_z for every z, 1 = Sum_z P_z r_z >= r_x Sum_z P_z / m, and similarly from
        below.
        """
        low, high = (np.full(self.size, end) for end in self.lift)
        if self.ratios is None:
            return low, high
        P = self.prior
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(P[:, None] > 0, P[:, None] * self.ratios, 0.0).sum(axis=0)
            return np.maximum(low, 1 / most), np.minimum(high, 1 / self._shares.sum(axis=1))

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus at potentials u, and points of boxes with a positive one.

        Best-first search: the box with the largest bound is cut next. The bound is valid whenever
        the search ends: when it is at most the goal, or near the surplus of a known column, or that
        of a box that is too thin to cut; after a number of boxes; or at a limit. The time for the
        proof of the tree is reserved.
        """
        limits = limits or Limits()
        tie, rays, thin = count(), list[FloatArray](), list[Box]()
        root = self._restate(u)
        heap = [(-leaf.bound, next(tie), leaf) for leaf in self._leaves]
        heapq.heapify(heap)
        settled, seen = -np.inf, 0
        steps = PASSES * self.steps_of_a_box / STEPS_A_SECOND
        while heap:
            limits.reserve = max(limits.reserve, self.count * steps * self._seconds_of_one())
            top = heap[0][2]
            if self.count * self.steps_of_a_box >= OF_BOXES * current().proof_steps:
                limits.ended = f"a proof of more than {self.count} boxes is too long"
            if top.bound <= max(goal, LOOSE * settled) or seen >= boxes or limits.expired():
                break
            heapq.heappop(heap)
            solved: list[Box] = []
            if not top.is_solved:
                solved = [top]
            else:
                surplus = float(self.gains(top.column).sum() - u @ top.column)
                if surplus > WORTH_ADDING * goal:
                    rays.append(top.column)
                if top.low[top.x] < top.cut < top.high[top.x]:
                    settled = max(settled, surplus if top.is_private else settled)
                    solved = self._cut(top)
                    seen += 2 - len(solved)
                else:
                    settled = max(settled, top.bound)
                    thin.append(top)
            for part in solved:
                seen += 1
                self._solve(part, u)
                heapq.heappush(heap, (-part.bound, next(tie), part))
        self._leaves = [*thin, *(leaf for _, _, leaf in heap)]
        most = max(settled, -heap[0][0] if heap else settled)
        return SurplusBound(most, rays, partial(self._certificate, u, list(_walk(root))), seen)

    def _seconds_of_one(self) -> float:
        """Return the elapsed seconds per second of this process."""
        wall, own = self._began
        return max(1.0, (time.perf_counter() - wall) / max(1e-3, time.process_time() - own))

    def _certificate(
        self, u: FloatArray, tree: list[tuple[Box, bool]], problem: Problem
    ) -> Certificate:
        """Return the potentials with the tree of boxes, unless computing it takes too long."""
        line = Boxes(tuple(None if leaf else (b.x, as_fraction(b.cut)) for b, leaf in tree))
        work = Steps(running().proof_steps(PASSES * current().proof_steps))
        statement = problem.compiled.statement
        for relaxation in self._steps:
            work.take(PASSES * relaxation.steps(statement), f"the relaxation {relaxation.kind!r}")
        statement = relaxed(statement, self._steps)
        work.take(PASSES * line.steps(statement), f"the linearization {line.kind!r}")
        places = line.nodes(statement)
        leaves = [box for box, is_leaf in tree if is_leaf]
        held = [box.weights for box, place in zip(leaves, places, strict=True) if place is not None]
        own = problem.prior.probabilities
        found = certificate(
            problem,
            line,
            Knapsack(own),
            duals=[] if self._program is None else self._program.duals(np.array(held).T),
            n_nodes=len(held),
            priors={n: [own] for n in range(len(problem.cone.families))},
            prices=negated(u),
        )
        return replace(found, relaxations=(*found.relaxations, *self._steps))

    def _restate(self, u: FloatArray) -> Box:
        """Bound all boxes at new potentials, by the multipliers of their rows; return the root."""
        if self._root is None:
            ends, n = self._shrunk(*self.root()), len(self._program.rows) if self._program else 0
            if ends is None:
                raise SolverError("branch and bound has no box to start from")
            self._root = self._opened(*ends, np.zeros(n), np.zeros(self.size))
            self._leaves, self.count = [self._root], 1
        low, high, chord, taken = (
            np.array([getattr(leaf, name) for leaf in self._leaves])
            for name in ("low", "high", "chord", "taken")
        )
        worth = chord - u - taken
        values = (worth * self._filled(worth, low, high)).sum(axis=1)
        for leaf, value in zip(self._leaves, values.tolist(), strict=True):
            leaf.bound, leaf.is_solved = leaf.base + value, False
        return self._root

    def _cut(self, box: Box) -> list[Box]:
        """Cut a box in two; return the parts that may contain a column."""
        below, above = box.high.copy(), box.low.copy()
        below[box.x] = above[box.x] = box.cut
        parts, found = list[Box](), list[Box]()
        for low, high in ((box.low, below), (above, box.high)):
            ends = self._shrunk(low, high)
            # before its own multipliers, those of the whole box are valid
            parts.append(self._opened(*(ends or (low, high)), box.weights, box.taken))
            found += [] if ends is None else parts[-1:]
        box.parts = tuple(parts)
        self.count += 2
        return found

    def _shrunk(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the part of a box that may contain a column; None if it is surely empty.

        Bound propagation: r_x <= m r_z for every pair, and P_x r_x = 1 - Sum over the others.
        """
        P = self.prior
        for _ in range(SWEEPS):
            if self.ratios is not None:
                high = np.minimum(high, np.fmin.reduce(self.ratios * high, axis=1))
                low = np.maximum(low, (low[:, None] / self.ratios).max(axis=0))
            below, above = P * low, P * high
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(P > 0, (1 - below.sum() + below) / P, np.inf)
                need = np.where(P > 0, (1 - above.sum() + above) / P, 0.0)
            low, high = np.fmax(low, need), np.fmin(high, room)
            if (low > high * (1 + ROUNDING) + ROUNDING).any():
                return None
            high = np.maximum(low, high)
        if self.ratios is not None:
            low, high = self._narrowed(low, high)
            if (low > high * (1 + ROUNDING) + ROUNDING).any():
                return None
        return low, np.maximum(low, high)

    def _narrowed(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound each entry by ratios and P . r = 1 together.

        1 >= Sum_{z in S} (P_z / m_xz) r_x + Sum_{z not in S} P_z low_z for every set S of inputs,
        where the best S for an end of r_x consists of the inputs whose first term is larger there;
        and similarly from below. Rounding decides between equal terms, here and in the kernel: the
        weaker of both ends is taken, so that the boxes of the kernel are no larger.
        """
        P, tops, bottoms = self.prior, [], []
        with np.errstate(divide="ignore", invalid="ignore"):
            for tie in (1 + TIE, 1 - TIE):
                on = self._shares * high[:, None] > P * low * tie
                slope, rest = (self._shares * on).sum(axis=1), (P * low * ~on).sum(axis=1)
                tops.append(np.where(slope > 0, (1 - rest) / slope, np.inf))
                on = (self._loads > 0) & (self._loads * low[:, None] < P * high * tie)
                slope, rest = (self._loads * on).sum(axis=1), (P * high * ~on).sum(axis=1)
                bottoms.append(np.where(slope > 0, (1 - rest) / slope, 0.0))
            high, low = (
                np.minimum(high, np.max(tops, axis=0)),
                np.maximum(low, np.min(bottoms, axis=0)),
            )
        return low, high

    def _opened(
        self, low: FloatArray, high: FloatArray, weights: FloatArray, taken: FloatArray
    ) -> Box:
        """Return a box with its chords and an unsolved relaxation."""
        at_low, width = self.gains(low), high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            chord = np.where(width > 0, (self.gains(high) - at_low) / width, 0.0)
        return Box(low, high, chord, float((at_low - chord * low).sum()), weights, taken)

    def _solve(self, box: Box, u: FloatArray) -> None:
        """Solve the relaxation of a box: its bound, its maximizer, and a cut.

        A box without a column has no optimum; the multipliers at the optimum of a slightly wider
        box also bound it. Without these, they stay the same.
        """
        low, high, slope = box.low, box.high, box.chord - u
        for wider in WIDENINGS:
            solved = self._relax(box, slope, wider)
            box.is_private = solved and not wider
            if solved:
                break
        else:
            worth = slope - box.taken
            box.column = self._filled(worth[None], low[None], high[None])[0]
            box.bound = box.base + float(worth @ box.column)
        r, width = box.column, high - low
        x = box.x = int(np.argmax(box.chord * (r - low) + self.gains(low) - self.gains(r)))
        is_inside = low[x] + NEAR_END * width[x] < r[x] < high[x] - NEAR_END * width[x]
        box.cut = float(r[x]) if is_inside else float(low[x] + high[x]) / 2
        box.is_solved = True

    def _relax(self, box: Box, slope: FloatArray, wider: float) -> bool:
        """Solve the program of a box widened by this share; return whether it has an optimum."""
        if self._program is None:
            box.column = self._filled(slope[None], box.low[None], box.high[None])[0]
            box.bound = box.base + float(slope @ box.column)
            return True
        k, low, high = self.size, box.low * (1 - wider), box.high * (1 + wider)
        found = self._program.within(-slope, low, high)
        if found is None:
            return False
        box.column = np.clip(found.primal[:k], low, high)
        box.weights = np.maximum(-found.dual[:-1], 0.0)
        box.weights[box.weights <= LEAST_MULTIPLIER] = 0.0
        box.taken = found.reduced[:k] + slope + found.dual[-1] * self.prior
        box.bound = box.base + float(slope @ box.column)
        return True

    def _filled(self, worth: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the best points of boxes with P . r = 1, ``(n_boxes, n_inputs)``.

        A fractional knapsack: entries are raised in decreasing order of worth_x / P_x, until P . r
        = 1.
        """
        P = self.prior
        r = np.where((P == 0) & (worth > 0), high, low)
        counts = np.flatnonzero(P > 0)
        order = np.argsort(-worth[:, counts] / P[counts], axis=1, kind="stable")
        sizes = np.take_along_axis((P * (high - low))[:, counts], order, axis=1)
        room = np.cumsum(sizes, axis=1)
        share = np.clip(1.0 - (r @ P)[:, None] - (room - sizes), 0.0, sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(sizes > 0, share / sizes, 0.0)
        places = counts[order]
        raised = np.take_along_axis(low, places, axis=1)
        width = np.take_along_axis(high - low, places, axis=1)
        np.put_along_axis(r, places, raised + share * width, axis=1)
        return r


def _walk(root: Box) -> Iterator[tuple[Box, bool]]:
    """Yield copies of all boxes, lower parts first, each with whether it is a leaf."""
    todo = [root]
    while todo:
        box = todo.pop()
        yield copy(box), not box.parts
        todo += reversed(box.parts)
