"""The largest surplus of a vertex of a lift polytope, low <= r_x <= high and P . r = 1.

A separable gain, Sum_x h_x(r_x) with h_x convex, minus a price u . r is largest at a vertex, where
all lifts but one are at an end. Let J be the set of inputs at the upper end and f the one in
between. If the prior consists of counts n_x of N, P . r = 1 fixes r_f by the sum j of the counts in
J,

    Sum_{x in J} n_x + n_f (r_f - low) / (high - low) = N (1 - low) / (high - low),

so for each f the best J is a knapsack with integer weights n_x, solved by dynamic programming over
j. All f together cost a factor ln k more than one: a table of all items but one is computed by
divide and conquer, as items cannot be removed from a table.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.evidence.rows import certificate, negated
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.oracles import Knapsack
from mechdesign.problem import Problem
from mechdesign.search.generation import WORTH_ADDING, Pace, SurplusBound
from mechdesign.search.limits import Limits
from mechdesign.utilities import ColumnUtility

MOST_ENTRIES = 10_000_000
"""The largest number of entries of the dynamic program."""

ROUNDING = 1e-12
"""A sum of counts this far beyond an integer counts as that integer."""

PACE = Pace(patience=12)

TRIED = 3
"""The largest number of returned vertices for each input in between."""


class LiftPolytope:
    """The columns r = q / (P . q) with lifts between two bounds, and their gains.

    ``counts`` are in proportion to the prior.
    """

    how, pace, steps_of_a_box = "dynamic programming over sums", PACE, 0

    def __init__(
        self, problem: Problem, utility: ColumnUtility, low: float, high: float, counts: list[int]
    ) -> None:
        self.prior, self.utility, self.counts = problem.prior.array, utility, counts
        self.size, self.low, self.high = len(counts), low, high

    @classmethod
    def of(cls, problem: Problem, utility: ColumnUtility) -> LiftPolytope | None:
        """Return it for a separable gain and one notion on the lift at one prior of small counts.

        Without small counts, branch and bound is used instead (`boxes`).
        """
        (family, *more) = problem.cone.families
        lifts, k = family.lift_rows(), len(problem.domain)
        if more or lifts is None or not lifts.is_for(problem.prior.probabilities):
            return None
        if utility.entry_gains(np.ones(k), problem.prior.array) is None:
            return None
        low, high = lifts.ends()
        weights = problem.prior.probabilities
        whole = math.lcm(*(p.denominator for p in weights))
        if not (low < high < math.inf):
            return None
        share = min(1.0, (1 - low) / (high - low))
        if k * max(1, k.bit_length()) * share * whole > MOST_ENTRIES:
            return None
        return cls(problem, utility, low, high, [int(p * whole) for p in weights])

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``, which all have P . r = 1."""
        return np.asarray(self.utility.entry_gains(rays, self.prior).sum(axis=0))

    def first_rays(self, limits: Limits) -> FloatArray:
        """Return vertices whose lifts are raised in random orders, the same in every run.

        The constant column of ones is first; after the time limit no more are made.
        """
        rng, P = np.random.default_rng(0), self.prior
        found = [np.ones(self.size)]
        for _ in range(20 * self.size):
            if limits.expired():
                break
            order = rng.permutation(np.flatnonzero(P > 0))
            r = np.where(P > 0, self.low, 1.0)
            before = (
                np.cumsum((self.high - self.low) * P[order]) - (self.high - self.low) * P[order]
            )
            left = np.maximum(1.0 - float(P @ r) - before, 0.0)
            r[order] += np.minimum(self.high - self.low, left / P[order])
            found.append(r)
        return np.column_stack(found)

    def price(
        self, u: FloatArray, goal: float, _boxes: int, _limits: Limits | None = None
    ) -> SurplusBound:
        """Return the largest surplus of a vertex, and vertices with a positive one.

        Dynamic programming over counts finds the best vertex for each input in between.
        """
        n = np.array(self.counts)
        k, N = self.size, int(n.sum())
        bottom, top = np.full(k, self.low), np.full(k, self.high)
        at_low, at_high = (self.utility.entry_gains(r, self.prior) - u * r for r in (bottom, top))
        free = n == 0
        base = float(np.where(free, np.maximum(at_low, at_high), at_low).sum())
        profit = at_high - at_low
        share = N * (1 - self.low) / (self.high - self.low)  # the counts at the upper end, with f's
        most = min(N, math.floor(share + ROUNDING))
        best, rays = -np.inf, list[FloatArray]()
        lone = np.flatnonzero(~free)

        def split(inputs: IntArray, table: FloatArray, taken: list[tuple[int, FloatArray]]) -> None:
            """Add one half of the inputs to the table and recurse into the other, both ways.

            When one input f is left, the table has all others.
            """
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
            j = np.arange(max(0, math.ceil(share - n[f] - ROUNDING)), most + 1)
            if not len(j):
                return
            lift = self.low + (share - j) * (self.high - self.low) / n[f]
            lift = np.clip(lift, self.low, self.high)
            h = self.utility.coordinate_gain(np.full(len(j), f), lift, self.prior) - u[f] * lift
            surplus = base - at_low[f] + table[j] + h
            order = np.argsort(-surplus)
            best = max(best, float(surplus[order[0]]))
            for i in order[:TRIED]:
                if surplus[i] > WORTH_ADDING * goal:
                    r = np.where(free & (at_high > at_low), self.high, self.low)
                    r[_backtrack(taken, int(j[i]), n)] = self.high
                    r[f] = lift[i]
                    rays.append(r)

        start = np.full(most + 1, -np.inf)
        start[0] = 0.0
        split(lone, start, [])
        return SurplusBound(best, rays, partial(_certificate, u))


def _certificate(u: FloatArray, problem: Problem) -> Certificate:
    return certificate(problem, oracle=Knapsack(), prices=negated(u))


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
