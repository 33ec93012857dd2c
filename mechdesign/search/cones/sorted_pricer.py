"""Pricing by sorting, for cones of one budget inside blocks and for bounds on one lift."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.problem import Problem
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.cones.price_search import own_lift
from mechdesign.search.cones.pricing import PricedColumns, Start, inverse

__all__ = ["LiftPricer", "SubsetPricer"]


class SubsetPricer:
    """LDP, high-low and block-structured LDP: rays raise some inputs of a block, or are one input.

    For each size of the raised set the cheapest one has the inputs of least cost v, so that a sort
    finds the best of all.

    Parameters
    ----------
    form
        The blocks of the cone.
    cost
        ``(n_inputs, n_outputs)``.
    """

    route = "raised sets by sorting"

    def __init__(self, form: OneBudgetCone, cost: FloatArray) -> None:
        self.form, self.cost = form, cost

    @classmethod
    def of(cls, problem: Problem, cost: FloatArray) -> Self | None:
        """Return it if the notions have one budget."""
        form = OneBudgetCone.of(problem.cone)
        return None if form is None or form.low >= 1 else cls(form, cost)

    def start(self) -> Start:
        """Return the rays that raise one input."""
        rays = np.eye(self.form.size)
        for block, raised in self.form.blocks:
            rays[np.ix_(block, raised)] = self.form.low
            rays[raised, raised] = 1.0
        return Start(rays, inverse(rays))

    def price(self, potentials: FloatArray, expired: Callable[[], bool]) -> PricedColumns:
        """Return the best rays: see ``Pricer`` in ``cones.pricing``."""
        v = self.cost - potentials[:, None]
        low, m = self.form.low, v.shape[1]
        reduced, kind, size = np.full(m, np.inf), np.full(m, -1), np.zeros(m, dtype=np.intp)
        if len(self.form.alone):
            own = v[self.form.alone]
            size = np.argmin(own, axis=0)  # its place among those alone
            reduced = own.min(axis=0)
        for b, (block, raised) in enumerate(self.form.blocks):
            most = np.arange(1, len(raised) + 1)[:, None]
            gained = np.cumsum(np.sort(v[raised], axis=0), axis=0)
            worth = low * v[block].sum(axis=0) + (1 - low) * gained
            mean = worth / (low * len(block) + (1 - low) * most)
            best = np.argmin(mean, axis=0)
            mean = mean[best, np.arange(m)]
            better = mean < reduced
            reduced[better], kind[better], size[better] = mean[better], b, best[better] + 1

        def rays(outputs: IntArray) -> FloatArray:
            found = np.zeros((len(v), len(outputs)))
            for column, y in enumerate(outputs.tolist()):
                if kind[y] < 0:
                    found[self.form.alone[size[y]], column] = 1.0
                    continue
                block, raised = self.form.blocks[kind[y]]
                found[block, column] = low
                found[raised[np.argsort(v[raised, y], kind="stable")[: size[y]]], column] = 1.0
            return found

        return PricedColumns(reduced, float(len(v) * min(0.0, reduced.min())), rays)


class LiftPricer:
    """Bounds on the lift for the prior of the problem: low <= r_x <= high at P . r = 1.

    The best ray is that of a fractional knapsack: of the inputs in rising order of v_x / P_x as
    many are at the upper end as P . r = 1 allows, one is in between, the rest at the lower end.

    Parameters
    ----------
    family
        The rows.
    prior
        ``(n_inputs,)``.
    cost
        ``(n_inputs, n_outputs)``.
    """

    route = "lifts by sorting"

    def __init__(self, family: LiftRows, prior: FloatArray, cost: FloatArray) -> None:
        self.prior, self.cost = prior, cost
        self.low, self.high = family.ends()

    @classmethod
    def of(cls, problem: Problem, cost: FloatArray) -> Self | None:
        """Return it if one notion bounds the lift for the prior of the problem."""
        family = own_lift(problem)
        return None if family is None else cls(family, problem.prior.array, cost)

    def start(self) -> Start:
        """Return for each input the ray on which it is largest."""
        k = len(self.prior)
        rays = self._filled(-np.eye(k))
        return Start(rays, inverse(rays))

    def _filled(self, v: FloatArray) -> FloatArray:
        """Return the best ray for each column of v."""
        P = self.prior[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(P > 0, v / P, np.where(v < 0, -np.inf, np.inf))
        order = np.argsort(rate, axis=0, kind="stable")
        share = self.prior[order]
        before = np.cumsum(share, axis=0) - share
        room = 1 - self.low
        if np.isfinite(self.high):
            taken = np.clip(room - (self.high - self.low) * before, 0.0, None)
            with np.errstate(divide="ignore", invalid="ignore"):
                above = np.where(share > 0, taken / share, np.where(taken > 0, np.inf, 0.0))
            above = np.minimum(above, self.high - self.low)
        else:
            above = np.zeros_like(v)
            above[0] = room / share[0]
        rays = np.full_like(v, self.low)
        np.put_along_axis(rays, order, self.low + above, axis=0)
        free = (self.prior == 0)[:, None]  # not in P . r = 1: at the end that is cheaper
        return np.where(free, np.where(v < 0, self.high, self.low), rays)

    def price(self, potentials: FloatArray, expired: Callable[[], bool]) -> PricedColumns:
        """Return the best rays: see ``Pricer`` in ``cones.pricing``."""
        v = self.cost - potentials[:, None]
        found = self._filled(v)
        worth, total = (v * found).sum(axis=0), found.sum(axis=0)

        def rays(outputs: IntArray) -> FloatArray:
            return found[:, outputs]

        return PricedColumns(worth / total, float(min(0.0, worth.min())), rays)
