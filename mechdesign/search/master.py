"""The restricted master problem of column generation: the best mixture of the rays so far."""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sp

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
from mechdesign.search.limits import Limits

__all__ = ["RestrictedMaster", "solve_master"]


CHOOSE = 0
"""HiGHS's number for the simplex method of its choice."""

LARGEST_RESIDUAL = 1e-5
"""How far rows may be from 1 and weights below 0: far more than HiGHS's tolerance explains."""

MOST_STEPS = 100
"""Simplex steps for each row before the method is taken to stall: it needs a few with a basis."""

SMALLEST_ENTRY = 1e-12
"""Entries below this, of rays with largest entry near 1, are noise once coordinates change."""


class RestrictedMaster:
    """Maximize Sum theta_r g(r) over theta >= 0 with Sum theta_r r = 1; it grows by rays.

    Or with the sum between other numbers, where these are given.

    Parameters
    ----------
    rays, gain
        ``(n_inputs, n_rays)`` and ``(n_rays,)``: some mixture of them must be the ones vector.
    change
        An invertible matrix T, ``(n_inputs, n_inputs)``, in whose coordinates the rays are sparse:
        the equations are then Sum theta_r T r = T 1. Default none.
    sides
        ``(n_rows,)`` each: what the sum lies between; default 1 and 1. Not beside a change.
    unit
        What stands for 1 in the sums and the gains that HiGHS sees: tolerances shrink by it.
    limits
        What ends a run; None where runs are short.
    """

    def __init__(
        self,
        rays: FloatArray,
        gain: FloatArray,
        change: sp.csr_array | None = None,
        unit: float = 1.0,
        sides: tuple[FloatArray, FloatArray] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.unit, self._limits = unit, limits
        self.scale = (float(np.abs(gain).max()) or 1.0) / unit
        self.gain: FloatArray = np.zeros(0)
        self._rays: list[FloatArray] = []
        self._change = change
        self._solver = highs("simplex", limits=limits)
        one = np.ones(len(rays))
        self._low, self._high = (one, one) if sides is None else sides
        right = (self._low, self._high) if change is None else (change @ one, change @ one)
        for low, high in zip(*(unit * side for side in right), strict=True):
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
        if self._change is None:
            row = np.tile(np.arange(k, dtype=np.int32), n)
            starts = np.arange(0, n * k, k, dtype=np.int32)
            entries = np.ascontiguousarray(rays.T).ravel()
        else:
            moved = self._change @ rays
            moved[np.abs(moved) < SMALLEST_ENTRY * np.abs(moved).max(axis=0)] = 0.0
            columns = sp.csc_array(moved)
            row, starts, entries = columns.indices, columns.indptr[:-1], columns.data
        self._solver.addCols(n, cost, np.zeros(n), inf, len(entries), starts, row, entries)
        self._rays.append(rays)
        self.gain = np.concatenate([self.gain, gain])

    def keep(self, wanted: BoolArray) -> BoolArray:
        """Drop rays that are not wanted, but none of the basis; return which of all stay."""
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
            If HiGHS finds no optimum, or its weights make no channel.
        """
        steps = MOST_STEPS * (len(self._low) + MOST_STEPS)
        self._solver.setOptionValue("simplex_iteration_limit", steps)
        limit_time(self._solver, self._limits)
        self._solver.run()
        # degenerate programs can make it stall: many more steps from here on, yet not without end
        self._solver.setOptionValue("simplex_iteration_limit", MOST_STEPS * steps)
        for tolerance in (TOLERANCE, self.unit * TOLERANCE):  # again, without the last basis
            if is_optimal(self._solver):
                break
            self._solver.clearSolver()
            limit_time(self._solver, self._limits)
            self._solver.setOptionValue("simplex_strategy", CHOOSE)
            self._solver.setOptionValue("primal_feasibility_tolerance", tolerance)
            self._solver.setOptionValue("dual_feasibility_tolerance", tolerance)
            self._solver.run()
        if not is_optimal(self._solver):
            raise SolverError(f"HiGHS (rays) stopped: {status(self._solver)}")
        self._solver.setOptionValue("simplex_strategy", PRIMAL)  # from here on rays are added
        found = answer(self._solver, self.rays.shape)
        potentials = -self.scale * found.dual
        if self._change is not None:  # of T r = T 1 to those of r = 1
            potentials = self._change.T @ potentials
        theta = found.primal / self.unit
        total = self.rays @ theta
        beyond = max(float((self._low - total).max()), float((total - self._high).max()))
        off = max(-float(theta.min()), beyond)
        if not off <= LARGEST_RESIDUAL:
            raise SolverError(f"HiGHS (rays) failed: its rows are off by {off:.1e}")
        return theta, potentials


def solve_master(
    rays: FloatArray, gain: FloatArray, limits: Limits | None = None
) -> tuple[FloatArray, FloatArray]:
    """Solve once; see :class:`RestrictedMaster`."""
    return RestrictedMaster(rays, gain, limits=limits).solve()
