"""The cheapest private columns at given costs of the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.row import Multipliers
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.lp.lp_pricer import LPPricer


@dataclass(frozen=True)
class Priced:
    """Rays of the cone, each the cheapest of its kind for one of the costs.

    Attributes
    ----------
    rays
        ``(n_inputs, n)``, scaled so that the multiples of rays of one kind in a channel have
        factors that sum to at most 1.
    place, kind
        ``(n,)``: the index of the costs of each, and its kind.
    cost
        ``(n,)``: the cost of each.
    """

    rays: FloatArray
    place: IntArray
    kind: IntArray
    cost: FloatArray


class Pricer(Protocol):
    """Finds the cheapest rays of one cone."""

    probes: int
    """The largest number of readings in a round of the search."""
    is_slow: bool
    """Whether each needs a program."""

    def price(self, cost: FloatArray) -> Priced:
        """Return the cheapest rays for each column of costs, ``(n_inputs, n)``."""

    def largest(self, weights: FloatArray) -> FloatArray:
        """Return for each kind an upper bound on weights . r over its rays r."""


class BudgetPricer:
    """The rays of a cone of one budget: sums of costs over the raised inputs of each block.

    Parameters
    ----------
    form
        The blocks of the cone.
    """

    probes, is_slow = 1025, False

    def __init__(self, form: OneBudgetCone) -> None:
        self.form = form

    def price(self, cost: FloatArray) -> Priced:
        """Raise the protected inputs of negative cost, in each block."""
        k, n = cost.shape
        rays, costs = list[FloatArray](), list[FloatArray]()
        for block, inputs in self.form.blocks:
            r = np.zeros((k, n))
            r[block] = 1.0
            r[inputs] = np.where(cost[inputs] < 0, 1 / self.form.low, 1.0)
            rays.append(r)
            costs.append((r * cost).sum(axis=0))
        for x in self.form.alone:
            rays.append(np.repeat(np.eye(k)[:, [x]], n, axis=1))
            costs.append(cost[x])
        kind = np.repeat(np.arange(len(rays)), n)
        return Priced(np.hstack(rays), np.tile(np.arange(n), len(rays)), kind, np.hstack(costs))

    def largest(self, weights: FloatArray) -> FloatArray:
        """Return the weights of each block, all raised, and of each input alone."""
        raised = [
            weights[block].sum() + (1 / self.form.low - 1) * weights[inputs].sum()
            for block, inputs in self.form.blocks
        ]
        return np.array([*raised, *weights[self.form.alone]])


class ColumnPricer:
    """The columns of any cone with a mean entry of 1, by one linear program for each cost.

    Parameters
    ----------
    cone
        The cone of the columns.
    """

    probes, is_slow = 65, True

    def __init__(self, cone: Cone) -> None:
        self.size = cone.size
        self._column = LPPricer(cone, np.full(cone.size, 1 / cone.size))

    def price(self, cost: FloatArray) -> Priced:
        """Solve the program at each of the costs."""
        n = cost.shape[1]
        found = [self.solved(c) for c in cost.T]
        rays = np.column_stack([r for r, _, _ in found])
        costs = np.array([float(c @ r) for c, r in zip(cost.T, rays.T, strict=True)])
        return Priced(rays, np.arange(n), np.zeros(n, dtype=np.intp), costs)

    def largest(self, weights: FloatArray) -> FloatArray:
        """Return the maximum by one more program."""
        r, _, _ = self.solved(-weights)
        return np.array([weights @ r])

    def solved(self, cost: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the cheapest column, its costs with the rows added, and the multipliers of these.

        The multipliers w >= 0 of rows G q <= 0 raise ``cost + w G`` for all inputs to at least the
        least cost.
        """
        found = self._column.solve(cost)
        added = found.reduced + found.dual[-1] / self.size
        return found.primal, added, np.maximum(-found.dual[:-1], 0.0)

    def families(self, weights: list[FloatArray], unit: float) -> list[Multipliers]:
        """Return multipliers, an array for each probe, as those of the notions."""
        n = len(self._column.rows)  # the last row of the program is the mean
        mine = np.array([own[:n] for own in weights]).reshape(len(weights), n)
        return self._column.duals(mine.T, unit)
