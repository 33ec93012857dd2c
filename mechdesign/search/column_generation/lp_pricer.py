"""Pricing for any cone: a warm-started linear program over one column for each output.

Only costs change from one to the next, so that the simplex method goes on from the last optimum,
which stays feasible. The programs of the outputs differ in their costs alone and HiGHS lets other
threads run meanwhile: they are solved on all cores, by one instance of HiGHS for each thread. Each
output goes on from its own last basis, so that the number of threads changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.evidence.multipliers import FamilyDual
from mechdesign.notions import Cone
from mechdesign.search.cones.input_line import ratio_lengths
from mechdesign.search.cones.pricing import (
    PricedColumns,
    Start,
    closure_start,
    inverse,
)
from mechdesign.search.highs import Basis
from mechdesign.search.lp.warm_column import WarmColumn

__all__ = ["LPPricer"]


class LPPricer:
    """Rays of a cone by linear programs.

    Parameters
    ----------
    cone
        Any.
    cost
        ``(n_inputs, n_outputs)``.
    scale
        The unit of the costs.
    workers
        Threads; default one for each core.
    """

    route = "one linear program for each output, HiGHS"

    def __init__(
        self, cone: Cone, cost: FloatArray, scale: float, workers: int | None = None
    ) -> None:
        self.cost, self.scale = cost, scale
        self.workers = workers or os.cpu_count() or 1
        self._lengths = ratio_lengths(cone)
        # columns sum to 1: with ones, near the bounds on ratios, HiGHS need not scale the rows
        self._first = WarmColumn(cone, np.ones(len(cost)))
        self._idle: SimpleQueue[WarmColumn] = SimpleQueue()
        for column in (self._first, *(self._first.copy() for _ in range(self.workers - 1))):
            self._idle.put(column)
        self._bases: list[Basis | None] = [None] * cost.shape[1]
        self._start: Start | None = None

    def start(self) -> Start:
        """Return the rays on which one input is largest."""
        if self._start is None and self._lengths is not None:
            self._start = closure_start(self._lengths)
        if self._start is None:
            found = [self._first.farthest(unit) for unit in np.eye(len(self.cost))]
            rays = np.column_stack([ray / ray.sum() for ray in found])
            self._start = Start(rays, inverse(rays))
        return self._start

    def price(self, potentials: FloatArray, expired: Callable[[], bool]) -> PricedColumns:
        """Return the best rays: see ``Pricer`` in ``cones.pricing``."""
        k, m = self.cost.shape
        v = self.cost - potentials[:, None]
        found: FloatArray = np.zeros((k, m))
        multipliers: list[FloatArray | None] = [None] * m

        def solve(y: int) -> None:
            if not expired():
                column = self._idle.get()
                try:
                    column.start_at(self._bases[y])
                    ray, answer = column.cheapest(v[:, y])
                    self._bases[y] = column.basis
                finally:
                    self._idle.put(column)
                found[:, y] = np.maximum(ray, 0.0)
                multipliers[y] = np.maximum(-answer.dual[:-1], 0.0)

        self.start()
        if self.workers == 1:
            for y in range(m):
                solve(y)
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                list(pool.map(solve, range(m)))
        known = [own for own in multipliers if own is not None]
        total = found.sum(axis=0)
        reduced = (v * found).sum(axis=0) / np.where(total > 0, total, 1.0)
        # rows sum to 1, so that all columns together sum to k
        shortfall = float(k * min(0.0, reduced.min())) if len(known) == m else -np.inf

        def rays(outputs: IntArray) -> FloatArray:
            return found[:, outputs]

        def multipliers_of_rows() -> tuple[FamilyDual, ...]:
            return self._first.families(known, self.scale)

        return PricedColumns(reduced, shortfall, rays, multipliers_of_rows)
