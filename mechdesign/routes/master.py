"""The linear program over rays: how much of each makes the best channel, and what inputs cost."""

from __future__ import annotations

import highspy
import numpy as np
import numpy.typing as npt

from mechdesign.errors import SolverError
from mechdesign.routes.highs import TOLERANCE

__all__ = ["Master", "master"]

FloatArray = npt.NDArray[np.float64]

PRIMAL = 4
"""HiGHS's number for the primal simplex method, whose basis stays feasible when rays are added."""


class Master:
    """Maximise Sum theta_r g(r) over theta >= 0 with Sum theta_r r = 1; it grows by rays.

    Parameters
    ----------
    rays, gain
        ``(n_inputs, n_rays)`` and ``(n_rays,)``: some mixture of them must be the ones vector.
    """

    def __init__(self, rays: FloatArray, gain: FloatArray) -> None:
        self.scale = float(np.abs(gain).max()) or 1.0
        self.rays: FloatArray = np.zeros((len(rays), 0))
        self.gain: FloatArray = np.zeros(0)
        self._solver = highspy.Highs()
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("solver", "simplex")
        self._solver.setOptionValue("primal_feasibility_tolerance", TOLERANCE)
        self._solver.setOptionValue("dual_feasibility_tolerance", TOLERANCE)
        for _ in range(len(rays)):
            self._solver.addRow(1.0, 1.0, 0, np.zeros(0, dtype=np.int32), np.zeros(0))
        self.add(rays, gain)

    def add(self, rays: FloatArray, gain: FloatArray) -> None:
        """Add rays with their gains."""
        k, n = rays.shape
        row = np.tile(np.arange(k, dtype=np.int32), n)
        starts = np.arange(0, n * k, k, dtype=np.int32)
        inf = np.full(n, highspy.kHighsInf)
        cost, entries = -gain / self.scale, np.ascontiguousarray(rays.T).ravel()
        self._solver.addCols(n, cost, np.zeros(n), inf, n * k, starts, row, entries)
        self.rays = np.column_stack([self.rays, rays])
        self.gain = np.concatenate([self.gain, gain])

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Return the best weights theta of the rays, and the prices of the inputs.

        Raises
        ------
        SolverError
            If HiGHS finds no optimum; the message carries its status.
        """
        optimal = highspy.HighsModelStatus.kOptimal
        self._solver.run()
        if self._solver.getModelStatus() != optimal:  # once more from nothing
            self._solver.clearSolver()
            self._solver.run()
        if self._solver.getModelStatus() != optimal:
            said = self._solver.modelStatusToString(self._solver.getModelStatus())
            raise SolverError(f"HiGHS (rays) stopped: {said}")
        self._solver.setOptionValue("simplex_strategy", PRIMAL)  # from here on rays are added
        found = self._solver.getSolution()
        return np.array(found.col_value), -self.scale * np.array(found.row_dual)


def master(rays: FloatArray, gain: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve once; see :class:`Master`."""
    return Master(rays, gain).solve()
