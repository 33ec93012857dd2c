"""Pricing by sorting, for cones of one budget inside blocks and for bounds on one lift."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual
from mechdesign.routes.column_generation.one_budget import OneBudgetCone
from mechdesign.routes.column_generation.pricing import PricedColumns, Start, inverse
from mechdesign.routes.lp.extended_formulation import transport

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
    scale
        The unit of the costs.
    """

    route = "raised sets by sorting"

    def __init__(self, form: OneBudgetCone, cost: FloatArray, scale: float) -> None:
        self.form, self.cost, self.scale = form, cost, scale

    @classmethod
    def of(cls, problem: Problem, cost: FloatArray, scale: float) -> Self | None:
        """Return it if the notions have one budget."""
        form = OneBudgetCone.of(problem.cone)
        return None if form is None or form.low >= 1 else cls(form, cost, scale)

    def start(self) -> Start:
        """Return the rays that raise one input."""
        rays = np.eye(self.form.size)
        for block, raised in self.form.blocks:
            rays[np.ix_(block, raised)] = self.form.low
            rays[raised, raised] = 1.0
        return Start(rays, inverse(rays))

    def price(self, potentials: FloatArray, over: Callable[[], bool]) -> PricedColumns:
        """Return the best rays: see ``Pricer`` in ``column_generation.pricing``."""
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

        def dual() -> Dual:
            return self._dual(v - np.minimum(reduced, 0.0))

        return PricedColumns(reduced, float(len(v) * min(0.0, reduced.min())), rays, dual)

    def _dual(self, v: FloatArray) -> Dual:
        """Return multipliers w of rows e**-eps q_x <= q_z that leave no reduced cost below 0.

        A multiplier adds e**-eps w to the cost of x and takes w from that of z. What x needs,
        -v_x e**eps, is transported from inputs z with v_z > 0: as no ray has a negative reduced
        cost, they have enough.
        """
        found: list[Multipliers] = []
        for block, raised in self.form.blocks:
            for y in range(v.shape[1]):
                lacks = raised[v[raised, y] < 0]
                has = block[v[block, y] > 0]
                if not len(lacks) or not len(has):
                    continue
                i, j, amount = transport(-v[lacks, y] / self.form.low, v[has, y])
                kept = amount > 0
                places = np.full(int(kept.sum()), y), lacks[i[kept]], has[j[kept]]
                found.append(Multipliers("ratio", *places, weight=amount[kept] * self.scale))
        return Dual((FamilyDual(0, tuple(found)),))


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
    scale
        The unit of the costs.
    """

    route = "lifts by sorting"

    def __init__(self, family: LiftRows, prior: FloatArray, cost: FloatArray, scale: float) -> None:
        self.prior, self.cost, self.scale = prior, cost, scale
        self.low, self.high = family.ends()
        self._table = family.priors.vertices()
        self._sides = [side for side, _ in family.sides()]

    @classmethod
    def of(cls, problem: Problem, cost: FloatArray, scale: float) -> Self | None:
        """Return it if one notion bounds the lift for the prior of the problem."""
        (only, *more), prior = problem.cone.families, problem.prior
        family = only.lift_rows()
        if more or family is None or not family.is_for(prior.probabilities):
            return None
        low, high = family.ends()
        if low >= 1 or high <= 1 or (high == np.inf and not prior.array.all()):
            return None
        return cls(family, prior.array, cost, scale)

    def start(self) -> Start:
        """Return for each input the ray on which it is largest."""
        k = len(self.prior)
        rays = self._filled(-np.eye(k))[0]
        return Start(rays, inverse(rays))

    def _filled(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the best ray for each column of v, and v_x / P_x of the input in between."""
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
        rays = np.where(free, np.where(v < 0, self.high, self.low), rays)
        reached = np.where(share > 0, above > 0, False)
        last = len(v) - 1 - np.argmax(reached[::-1], axis=0)
        columns = np.arange(v.shape[1])
        return rays, rate[order[last, columns], columns]

    def price(self, potentials: FloatArray, over: Callable[[], bool]) -> PricedColumns:
        """Return the best rays: see ``Pricer`` in ``column_generation.pricing``."""
        v = self.cost - potentials[:, None]
        found, between = self._filled(v)
        worth, total = (v * found).sum(axis=0), found.sum(axis=0)

        def rays(outputs: IntArray) -> FloatArray:
            return found[:, outputs]

        def dual() -> Dual:
            return self._dual(v - between * self.prior[:, None])

        return PricedColumns(worth / total, float(min(0.0, worth.min())), rays, dual)

    def _dual(self, rest: FloatArray) -> Dual:
        """Return multipliers of the bounds: what v is above or below that rate, by sign."""
        found: list[Multipliers] = []
        for side in self._sides:
            weight = np.maximum(-rest * self.high, 0.0) if side == "upper" else rest
            x, y = np.nonzero(weight > 0)
            places = y, x, np.zeros(len(x), dtype=np.intp)
            found.append(Multipliers(side, *places, weight=weight[x, y] * self.scale))
        return Dual((FamilyDual(0, tuple(found), self._table),))
