"""The best ray of a lift polytope at given prices, low <= r_x <= high and P . r = 1.

A gain that splits, Sum_x h_x(r_x) with h_x convex, less the prices is largest at a vertex, where
all lifts but one are at an end. Where the prior is made of counts n_x of N, which lifts are at the
top is a knapsack with whole weights, solved by dynamic programming over their sum; else branch and
bound cuts boxes in two, on each of which the surplus is at most its chord.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from mechdesign.notions.lift_rows import LiftRows
from mechdesign.prior_sets import PriorList
from mechdesign.problem import Problem
from mechdesign.utilities import ColumnUtility

__all__ = ["WORTH", "LiftPolytope", "Priced"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

MOST_STEPS = 20_000_000
"""Entries that the dynamic program may go through."""

WORTH = 1e-3
"""A ray is worth adding if its surplus is above this share of the goal."""


@dataclass(frozen=True)
class Priced:
    """What pricing found.

    Attributes
    ----------
    surplus
        No ray has a gain above its price by more than this.
    rays
        Rays that do have some surplus.
    boxes
        How many boxes branch and bound looked at; 0 where it was not needed.
    """

    surplus: float
    rays: list[FloatArray]
    boxes: int


class LiftPolytope:
    """Lifts r = q / (P . q) between two bounds, and what they gain.

    Parameters
    ----------
    prior
        ``(n_inputs,)``.
    low, high
        The bounds on every lift.
    counts
        Whole numbers that the prior is in proportion to, if they are small; else None.
    utility
        A utility whose gain splits by inputs.
    """

    def __init__(
        self,
        prior: FloatArray,
        low: float,
        high: float,
        counts: list[int] | None,
        utility: ColumnUtility,
    ) -> None:
        self.prior, self.low, self.high = prior, low, high
        self.counts, self.utility = counts, utility
        self.size = len(prior)
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(prior > 0, (1 - (1 - prior) * low) / prior, np.inf)
            least = np.where(prior > 0, (1 - (1 - prior) * high) / prior, low)
        self.box = (np.maximum(low, least), np.minimum(high, most))

    @classmethod
    def of(cls, problem: Problem) -> LiftPolytope | None:
        """Return it if one notion bounds the lift for one prior, and the gain splits by inputs."""
        (family, *more), utility = problem.cone.families, problem.utility
        if more or not isinstance(family, LiftRows) or not isinstance(family.priors, PriorList):
            return None
        if family.priors.members != (problem.prior.probabilities,):
            return None
        if not isinstance(utility, ColumnUtility):
            return None
        prior, k = problem.prior.array, len(problem.domain)
        if utility.coordinate_gain(np.arange(k), np.ones(k), prior) is None:
            return None
        bounds = dict(family.sides())
        low, high = 0.0, np.inf
        if "lower" in bounds:
            low = math.exp(-float(bounds["lower"].exponent(family.epsilon)))
        if "upper" in bounds:
            high = math.exp(min(700.0, float(bounds["upper"].exponent(family.epsilon))))
        if high <= low or (math.isinf(high) and prior.min() == 0):
            return None
        weights = problem.prior.probabilities
        whole = math.lcm(*(p.denominator for p in weights))
        share = min(1.0, (1 - low) / (high - low))
        steps = k * max(1, k.bit_length()) * share * whole
        counts = None
        if math.isfinite(high) and steps <= MOST_STEPS:
            counts = [int(p * whole) for p in weights]
        return cls(prior, low, high, counts, utility)

    def worth(self, r: FloatArray) -> FloatArray:
        """Return h_x(r_x) for each input."""
        found: FloatArray = self.utility.coordinate_gain(np.arange(self.size), r, self.prior)
        return found

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``, which all have P . r = 1."""
        x = np.arange(self.size)[:, None]
        parts: FloatArray = self.utility.coordinate_gain(x, rays, self.prior)
        return parts.sum(axis=0)

    def first_rays(self) -> FloatArray:
        """Return rays with the lifts at the top in random orders, the same in every run."""
        rng = np.random.default_rng(0)
        low, high = self.box
        found = [np.ones(self.size)]
        for _ in range(20 * self.size):
            order = rng.permutation(self.size)
            order = order[self.prior[order] > 0]
            r = np.where(self.prior > 0, low, 1.0)
            left = 1.0 - float(self.prior @ r)
            for x in order:
                step = max(0.0, min(high[x] - r[x], left / self.prior[x]))
                r[x] += step
                left -= step * self.prior[x]
                if left <= 1e-16:
                    break
            found.append(r)
        return np.column_stack(found)

    def price(self, u: FloatArray, goal: float, boxes: int) -> Priced:
        """Return how much a ray can gain above the prices, and rays that do.

        Parameters
        ----------
        u
            ``(n_inputs,)`` prices.
        goal
            A surplus that is small enough.
        boxes
            At most so many boxes are looked at, where it takes branch and bound.
        """
        return self._by_sums(u, goal) if self.counts else self._by_boxes(u, goal, boxes)

    # --- counts: a knapsack over the sum of those at the top ---------------------------------

    def _by_sums(self, u: FloatArray, goal: float) -> Priced:
        """Take each input in turn as the one in between, the others by dynamic programming."""
        n = np.array(self.counts)
        k, N = self.size, int(n.sum())
        bottom, top = np.full(k, self.low), np.full(k, self.high)
        at_low, at_high = self.worth(bottom) - u * bottom, self.worth(top) - u * top
        free = n == 0
        base = float(np.where(free, np.maximum(at_low, at_high), at_low).sum())
        profit = at_high - at_low
        share = N * (1 - self.low) / (self.high - self.low)  # of the counts are at the top
        most = min(N, math.floor(share + 1e-12))
        best, rays = -np.inf, list[FloatArray]()
        lone = np.flatnonzero(~free)

        def split(inputs: IntArray, table: FloatArray, taken: list[tuple[int, FloatArray]]) -> None:
            """Add the other half of the inputs to the table, and go on with each half."""
            nonlocal best
            if len(inputs) > 1:
                half = len(inputs) // 2
                for mine, others in (
                    (inputs[:half], inputs[half:]),
                    (inputs[half:], inputs[:half]),
                ):
                    grown, steps = table, list(taken)
                    for x in others.tolist():
                        grown, chosen = _with_item(grown, int(n[x]), float(profit[x]))
                        steps.append((x, chosen))
                    split(mine, grown, steps)
                return
            f = int(inputs[0])
            j = np.arange(max(0, math.ceil(share - n[f] - 1e-12)), most + 1)
            if not len(j):
                return
            lift = self.low + (share - j) * (self.high - self.low) / n[f]
            lift = np.clip(lift, self.low, self.high)
            h = self.utility.coordinate_gain(np.full(len(j), f), lift, self.prior) - u[f] * lift
            surplus = base - at_low[f] + table[j] + h
            order = np.argsort(-surplus)
            best = max(best, float(surplus[order[0]]))
            for i in order[:3]:
                if surplus[i] > WORTH * goal:
                    r = np.where(free & (at_high > at_low), self.high, self.low)
                    r[_backtrack(taken, int(j[i]), n)] = self.high
                    r[f] = lift[i]
                    rays.append(r)

        start = np.full(most + 1, -np.inf)
        start[0] = 0.0
        split(lone, start, [])
        return Priced(best, rays, 0)

    # --- branch and bound over boxes ---------------------------------------------------------

    def _by_boxes(self, u: FloatArray, goal: float, boxes: int) -> Priced:
        """Cut the box whose bound is largest, until that is small enough."""
        tie, rays = count(), list[FloatArray]()
        root = _Box(self, u, *self.box)
        heap = [(-root.bound, next(tie), root)]
        settled, seen = -np.inf, 1
        while heap and seen < boxes:
            bound, _, box = heapq.heappop(heap)
            surplus = float(self.worth(box.ray).sum() - u @ box.ray)
            if surplus > WORTH * goal:
                rays.append(box.ray)
            if -bound <= max(goal, settled):
                return Priced(max(-bound, settled), rays, seen)
            settled = max(settled, surplus)
            for half in box.halves(self, u):
                heapq.heappush(heap, (-half.bound, next(tie), half))
                seen += 1
        return Priced(max(settled, -heap[0][0] if heap else settled), rays, seen)


def _with_item(table: FloatArray, size: int, profit: float) -> tuple[FloatArray, FloatArray]:
    """Return the best profit by sum with one more item, and where it is taken."""
    grown = table.copy()
    if size >= len(table):
        return grown, np.zeros(len(table), dtype=bool)
    with_it = table[: len(table) - size] + profit
    chosen = np.zeros(len(table), dtype=bool)
    chosen[size:] = with_it > table[size:]
    grown[size:] = np.where(chosen[size:], with_it, table[size:])
    return grown, chosen


def _backtrack(taken: list[tuple[int, FloatArray]], total: int, n: IntArray) -> list[int]:
    """Return the items that make up the sum."""
    found = []
    for x, chosen in reversed(taken):
        if chosen[total]:
            found.append(x)
            total -= int(n[x])
    return found


class _Box:
    """Part of the polytope, a bound on the surplus in it, and the ray that the bound is near.

    The best of the chords is found by filling up lifts in the order of their worth, which leaves
    one in between.
    """

    def __init__(
        self, polytope: LiftPolytope, u: FloatArray, low: FloatArray, high: FloatArray
    ) -> None:
        self.low, self.high = low, high
        P = polytope.prior
        at_low, at_high = polytope.worth(low), polytope.worth(high)
        width = high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(width > 0, (at_high - at_low) / width, 0.0) - u
            order = np.argsort(-np.where(P > 0, slope / P, 0.0))
        free = (P == 0) & (slope > 0)
        r = np.where(free, high, low)
        left = 1.0 - float(P @ r)
        self.bound = float((np.where(free, at_high, at_low) - u * r).sum())
        order = order[P[order] > 0]
        room = np.cumsum((P * width)[order])
        full = int(np.searchsorted(room, left))
        r[order[:full]] = high[order[:full]]
        self.bound += float((slope * width)[order[:full]].sum())
        self.cut = -1
        if full < len(order) and left > 0:
            self.cut = int(order[full])
            step = (left - (room[full - 1] if full else 0.0)) / P[self.cut]
            r[self.cut] = low[self.cut] + step
            self.bound += float(slope[self.cut] * step)
        self.ray = r

    def halves(self, polytope: LiftPolytope, u: FloatArray) -> list[_Box]:
        """Cut at the lift in between, where the chord is worst; nothing where none is."""
        x, point = self.cut, self.ray[self.cut]
        if x < 0 or not self.low[x] < point < self.high[x]:
            return []
        high, low = self.high.copy(), self.low.copy()
        high[x] = low[x] = point
        return [_Box(polytope, u, self.low, high), _Box(polytope, u, low, self.high)]
