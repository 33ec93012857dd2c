"""Pricing for any cone: a warm-started linear program over one column for each output.

Only costs change between programs, so the simplex method starts at the last optimum, which stays
feasible. The programs of the outputs differ in their costs only, and HiGHS releases the GIL: they
are solved on all cores, with one instance of HiGHS for each thread. Each output starts at its own
last basis, so that the result does not depend on the number of threads; or, in one thread, at the
optimum of the previous output, which suits outputs in an order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.notions import Cone
from mechdesign.notions.rows.row import Multipliers
from mechdesign.search.cones.input_line import ratio_lengths
from mechdesign.search.cones.pricing import PricedColumns, Pricer
from mechdesign.search.cones.shortest_paths import closure
from mechdesign.search.highs import Basis
from mechdesign.search.lp.warm_column import WarmColumn

__all__ = ["LPPricer"]


class LPPricer(Pricer):
    """Columns of a cone by linear programs.

    Parameters
    ----------
    cone
        Any cone.
    weight
        ``(n_inputs,)``: w in w . r = 1; default ones.
    workers
        Threads; default one for each core.
    in_turn
        Whether each program starts at the previous optimum, in one thread.
    """

    route = "one linear program for each output, HiGHS"

    def __init__(
        self,
        cone: Cone,
        weight: FloatArray | None = None,
        workers: int | None = None,
        in_turn: bool = False,
    ) -> None:
        self.weight = np.ones(cone.size) if weight is None else weight
        self.workers, self._in_turn = 1 if in_turn else workers or os.cpu_count() or 1, in_turn
        self._lengths = ratio_lengths(cone)
        self._first = WarmColumn(cone, self.weight)
        self.rows = self._first.rows
        self._idle: SimpleQueue[WarmColumn] = SimpleQueue()
        for column in (self._first, *(self._first.copy() for _ in range(self.workers - 1))):
            self._idle.put(column)
        self._bases: list[Basis | None] = []

    def start(self) -> FloatArray:
        """Return the rays on which one input is largest, by a program for each input."""
        if self._lengths is not None:
            return np.asarray(np.exp(-closure(self._lengths)).T)
        found = [self._first.cheapest(-unit).primal for unit in np.eye(len(self.weight))]
        return np.column_stack([ray / ray.sum() for ray in found])

    def cheapest(self, v: FloatArray) -> FloatArray:
        """Return the columns only."""
        return self.price(v).rays

    def price(self, v: FloatArray, expired: Callable[[], bool] | None = None) -> PricedColumns:
        """Solve a program for each column of v, with multipliers of the rows."""
        if self._in_turn:
            return self._first.price(v, expired)
        m = v.shape[1]
        if len(self._bases) != m:
            self._bases = [None] * m

        def solve(y: int) -> PricedColumns:
            column = self._idle.get()
            try:
                column.start_at(self._bases[y])
                found = column.price(v[:, [y]], expired)
                self._bases[y] = column.basis
            finally:
                self._idle.put(column)
            return found

        with ThreadPoolExecutor(self.workers) as pool:
            found = list((map if self.workers == 1 else pool.map)(solve, range(m)))
        reduced = np.concatenate([one.reduced for one in found])
        rays, multipliers = (
            np.hstack(parts)
            for parts in zip(*((one.rays, one.multipliers) for one in found), strict=True)
        )
        return PricedColumns(reduced, rays, multipliers)

    def duals(self, multipliers: FloatArray, unit: float) -> list[Multipliers]:
        """Return multipliers of the rows, ``(n_rows, m)``, as those of the notions."""
        return self.rows.duals(unit * multipliers)
