"""The restricted master problem of column generation: the best mixture of the current rays."""

from __future__ import annotations

import highspy
import numpy as np

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.errors import SolverError
from mechdesign.search.highs import (
    PRIMAL,
    TOLERANCE,
    answer,
    highs,
    is_optimal,
    limit_time,
    status,
)

CHOOSE = 0
"""HiGHS's number for its default simplex method."""

LARGEST_RESIDUAL = 1e-5
"""Largest deviation of row sums from 1 and of weights below 0: more than HiGHS's tolerance."""

MOST_STEPS = 100
"""Simplex steps per row before the method counts as stalled: with a basis it needs a few."""


class RestrictedMaster:
    """Maximize Sum theta_r g(r) over theta >= 0 with Sum theta_r r = 1; rays can be added.

    Given ``sides``, the sum lies between these instead.

    Parameters
    ----------
    rays, gain
        ``(n_inputs, n_rays)`` and ``(n_rays,)``: some mixture of them must be the ones vector.
    sides
        ``(n_rows,)`` each: the range of the sum; default 1 and 1.
    unit
        The scale of the sums and the gains for HiGHS, which makes its tolerances relatively
        smaller.
    """

    def __init__(
        self,
        rays: FloatArray,
        gain: FloatArray,
        unit: float = 1.0,
        sides: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self.unit = unit
        self.scale = (float(np.abs(gain).max()) or 1.0) / unit
        self.gain: FloatArray = np.zeros(0)
        self._rays: list[FloatArray] = []
        self._solver = highs("simplex")
        one = np.ones(len(rays))
        self._low, self._high = (one, one) if sides is None else sides
        for low, high in zip(unit * self._low, unit * self._high, strict=True):
            self._solver.addRow(low, high, 0, np.zeros(0, dtype=np.int32), np.zeros(0))
        self.add(rays, gain)

    @property
    def rays(self) -> FloatArray:
        """``(n_inputs, n_rays)``: all rays."""
        if len(self._rays) > 1:
            self._rays = [np.column_stack(self._rays)]
        return self._rays[0]

    def add(self, rays: FloatArray, gain: FloatArray) -> None:
        """Add rays with their gains."""
        k, n = rays.shape
        inf = np.full(n, highspy.kHighsInf)
        cost = -gain / self.scale
        row = np.tile(np.arange(k, dtype=np.int32), n)
        starts = np.arange(0, n * k, k, dtype=np.int32)
        entries = np.ascontiguousarray(rays.T).ravel()
        self._solver.addCols(n, cost, np.zeros(n), inf, len(entries), starts, row, entries)
        self._rays.append(rays)
        self.gain = np.concatenate([self.gain, gain])

    def keep(self, wanted: BoolArray) -> BoolArray:
        """Drop rays that are neither wanted nor in the basis; return which of all stay."""
        states = self._solver.getBasis().col_status
        if len(states) != len(wanted):
            raise SolverError(f"HiGHS (rays) has {len(states)} columns, not {len(wanted)}")
        basic = highspy.HighsBasisStatus.kBasic
        kept: BoolArray = wanted | np.array([one == basic for one in states], dtype=bool)
        gone = np.flatnonzero(~kept).astype(np.int32)
        self._solver.deleteCols(len(gone), gone)
        self._rays, self.gain = [self.rays[:, kept]], self.gain[kept]
        return kept

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Return the best weights theta of the rays, and the potentials of the inputs.

        Raises
        ------
        SolverError
            If HiGHS finds no optimum, or its weights do not define a channel.
        """
        steps = MOST_STEPS * (len(self._low) + MOST_STEPS)
        self._solver.setOptionValue("simplex_iteration_limit", steps)
        limit_time(self._solver, None)
        self._solver.run()
        # degenerate programs can stall: many more steps from here on, but finitely many
        self._solver.setOptionValue("simplex_iteration_limit", MOST_STEPS * steps)
        for tolerance in (TOLERANCE, self.unit * TOLERANCE):  # retry without the last basis
            if is_optimal(self._solver):
                break
            self._solver.clearSolver()
            limit_time(self._solver, None)
            self._solver.setOptionValue("simplex_strategy", CHOOSE)
            self._solver.setOptionValue("primal_feasibility_tolerance", tolerance)
            self._solver.setOptionValue("dual_feasibility_tolerance", tolerance)
            self._solver.run()
        if not is_optimal(self._solver):
            raise SolverError(f"HiGHS (rays) stopped: {status(self._solver)}")
        self._solver.setOptionValue("simplex_strategy", PRIMAL)  # from now on rays are added
        found = answer(self._solver, self.rays.shape)
        potentials = -self.scale * found.dual
        theta = found.primal / self.unit
        total = self.rays @ theta
        beyond = max(float((self._low - total).max()), float((total - self._high).max()))
        off = max(-float(theta.min()), beyond)
        if not off <= LARGEST_RESIDUAL:
            raise SolverError(f"HiGHS (rays) failed: its rows are off by {off:.1e}")
        return theta, potentials
