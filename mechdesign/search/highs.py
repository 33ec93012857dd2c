"""Linear programs through HiGHS: arrays in, primal and dual arrays out.

A :class:`WarmStartedLP` stays loaded while costs or bounds change; a :class:`RestrictedMaster`, the
best mixture of the current rays of column generation, while columns are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.errors import SolverError
from mechdesign.search.limits import Limits, running
from mechdesign.solver_guard import Guarded, called, checked

NAME = "HiGHS"


TOLERANCE = 1e-10
"""The least feasibility tolerance of HiGHS; it is absolute, so a repair is needed."""

UNIT = 4096.0
"""Scale of right-hand sides and costs for HiGHS, relative to which its absolute tolerances are
smaller."""

SMALLEST_COEFFICIENT = 1e-12

LATE = 0.01
"""Seconds after the time limit at which HiGHS stops by itself, without a callback."""

PRIMAL = 4
"""HiGHS's number for the primal simplex method, whose basis stays feasible as columns are added."""

LARGEST_RESIDUAL = 1e-5
"""Largest deviation of the rows and the weights of a mixture: more than HiGHS's tolerance."""

MOST_STEPS = 100
"""Simplex steps per row before the method counts as stalled: with a basis it needs a few."""


@dataclass(frozen=True)
class LPModel:
    """A linear program: minimize ``cost . v`` over ``0 <= v`` with ``low <= A v <= high``."""

    cost: FloatArray
    A: sp.csr_array
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class LPResult:
    """The optimum: ``primal`` and ``reduced`` cost by variable, ``dual`` by row, HiGHS's signs.

    If the time was over, ``is_optimal`` is false and the numbers are those of the last step.
    """

    primal: FloatArray
    reduced: FloatArray
    dual: FloatArray
    is_optimal: bool = True


def highs(method: str, presolve: str = "choose", limits: Limits | None = None) -> Guarded:
    """Return a silent solver with the tightest tolerances of HiGHS, without a program.

    With limits it calls back at every step, so that Python sees a Ctrl-C and can stop it.
    """
    inner = called(NAME, highspy.Highs)
    if limits is not None:
        for event in (inner.cbSimplexInterrupt, inner.cbIpmInterrupt):
            called(NAME, event.subscribe, partial(_ask, limits))
    solver = Guarded(NAME, inner)
    for option, value in (
        ("output_flag", False),
        ("solver", method),
        ("presolve", presolve),
        ("primal_feasibility_tolerance", TOLERANCE),
        ("dual_feasibility_tolerance", TOLERANCE),
        ("small_matrix_value", SMALLEST_COEFFICIENT),
    ):
        solver.setOptionValue(option, value)
    return solver


class WarmStartedLP:
    """A linear program that stays loaded for repeated solves with other costs or bounds.

    Parameters
    ----------
    program
        The program.
    method
        ``"simplex"`` or ``"ipm"`` (interior point with crossover).
    limits
        Limits of a long run; None for short runs, in which a callback at every step would dominate:
        they end with the grace of the limits of the design.
    unit
        The scale of right-hand sides and costs for HiGHS.
    """

    def __init__(
        self, program: LPModel, method: str, limits: Limits | None = None, unit: float = UNIT
    ) -> None:
        self.program, self.method, self._asked = program, method, limits
        self._load(unit, method, "on")

    def _load(self, unit: float, method: str, presolve: str) -> None:
        """Load the program with settings of HiGHS."""
        self._unit, self._solver = unit, highs(method, presolve, self._asked)
        self._solver.passModel(_model(self.program, unit))

    def solve(self, cost: FloatArray | None = None, partial: bool = False) -> LPResult:
        """Solve, optionally with other costs; if HiGHS stops early, with other settings.

        Parameters
        ----------
        cost
            Default: the last costs.
        partial
            Whether to accept the state of HiGHS when the time is over.
        """
        if cost is not None:
            self.program = replace(self.program, cost=cost)
            places = np.arange(len(cost), dtype=np.int32)
            self._solver.changeColsCost(len(cost), places, cost * self._unit)
        limits, shape, said = self._asked or Limits(), self.program.A.shape, ""
        # unit, method and presolve of HiGHS, tried in order until one finds an optimum
        settings = [(1.0, "ipm", "on"), (1.0, "simplex", "off"), (1.0, self.method, "on")]
        while not limits.expired():
            if said:
                if not settings:
                    raise SolverError(f"HiGHS ({self.method}) stopped: {said}")
                self._load(*settings.pop())
            limit_time(self._solver, self._asked)
            try:
                self._solver.run()
                if is_optimal(self._solver):
                    return answer(self._solver, shape, self._unit)
                said = status(self._solver)
                if self._asked is None and is_late(self._solver):
                    break
            except SolverError as error:
                said = str(error)
        if said and partial and self._solver.getSolution().dual_valid:
            return replace(answer(self._solver, shape, self._unit), is_optimal=False)
        raise SolverError(f"HiGHS ({self.method}) stopped: {limits.ended or said}")

    def add(self, A: FloatArray, cost: FloatArray) -> None:
        """Add columns; from then on the primal simplex method starts at the last optimum."""
        k, n = A.shape
        old, inf = self.program, np.full(n, highspy.kHighsInf)
        whole = sp.csr_array(sp.hstack([old.A, sp.csr_array(A)]))
        self.program = replace(old, cost=np.concatenate([old.cost, cost]), A=whole)
        starts, rows = np.arange(n, dtype=np.int32) * k, np.tile(np.arange(k, dtype=np.int32), n)
        entries = np.ascontiguousarray(A.T).ravel()
        values = (n * k, starts, rows, entries)
        self._solver.addCols(n, cost * self._unit, np.zeros(n), inf, *values)
        self._solver.setOptionValue("simplex_strategy", PRIMAL)
        self._solver.setOptionValue("simplex_iteration_limit", MOST_STEPS * (k + MOST_STEPS))

    def keep(self, wanted: BoolArray) -> BoolArray:
        """Drop columns that are neither wanted nor in the basis; return which of all stay."""
        states = self._solver.getBasis().col_status
        if len(states) != len(wanted):
            raise SolverError(f"HiGHS has {len(states)} columns, not {len(wanted)}")
        basic = highspy.HighsBasisStatus.kBasic
        kept: BoolArray = wanted | np.array([one == basic for one in states], dtype=bool)
        gone = np.flatnonzero(~kept).astype(np.int32)
        self._solver.deleteCols(len(gone), gone)
        old = self.program
        self.program = replace(old, cost=old.cost[kept], A=sp.csr_array(old.A[:, kept]))
        return kept

    def within(self, cost: FloatArray, low: FloatArray, high: FloatArray) -> LPResult | None:
        """Return the optimum at other costs and variable bounds; None if HiGHS finds none.

        Made for many small programs, some of which are infeasible: no other settings are tried.
        """
        places = np.arange(len(cost), dtype=np.int32)
        try:
            self._solver.changeColsCost(len(cost), places, cost * self._unit)
            self._solver.changeColsBounds(len(cost), places, low * self._unit, high * self._unit)
            self._solver.run()
            found = is_optimal(self._solver)
            return answer(self._solver, self.program.A.shape, self._unit) if found else None
        except SolverError:
            return None


def solve_lp(
    program: LPModel, method: str, limits: Limits | None = None, partial: bool = False
) -> LPResult:
    """Solve a linear program once; see :class:`WarmStartedLP`."""
    return WarmStartedLP(program, method, limits).solve(partial=partial)


class RestrictedMaster:
    """Maximize Sum theta_r g(r) over theta >= 0 with Sum theta_r r = 1; rays can be added.

    Given ``sides``, the sum lies between these instead.

    Parameters
    ----------
    rays, gain
        ``(n_inputs, n_rays)`` and ``(n_rays,)``: some mixture of them must be the ones vector.
    sides
        ``(n_rows,)`` each: the range of the sum; default 1 and 1.
    unit, limits
        As for a program.
    """

    def __init__(
        self,
        rays: FloatArray,
        gain: FloatArray,
        unit: float = 1.0,
        sides: tuple[FloatArray, FloatArray] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.rays, self.gain, one = rays, gain, np.ones(len(rays))
        self.scale = float(np.abs(gain).max()) or 1.0
        low, high = (one, one) if sides is None else sides
        model = LPModel(-gain / self.scale, sp.csr_array(rays), low, high)
        self._program = WarmStartedLP(model, "simplex", limits, unit)

    def add(self, rays: FloatArray, gain: FloatArray) -> None:
        """Add rays with their gains."""
        self.rays, self.gain = np.hstack([self.rays, rays]), np.concatenate([self.gain, gain])
        self._program.add(rays, -gain / self.scale)

    def keep(self, wanted: BoolArray) -> BoolArray:
        """Drop rays that are neither wanted nor in the basis; return which of all stay."""
        kept = self._program.keep(wanted)
        self.rays, self.gain = self.rays[:, kept], self.gain[kept]
        return kept

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Return the best weights theta of the rays, and the potentials of the inputs."""
        found, model = self._program.solve(), self._program.program
        theta, total = found.primal, self.rays @ found.primal
        beyond = np.maximum(model.low - total, total - model.high)
        off = max(-float(theta.min()), float(beyond.max()))
        if not off <= LARGEST_RESIDUAL:
            raise SolverError(f"HiGHS failed: the rows of a mixture are off by {off:.1e}")
        return theta, -self.scale * found.dual


def limit_time(solver: Guarded, limits: Limits | None) -> None:
    """Let the next run end at the time limit: of these limits, or of the design."""
    left = running().grace if limits is None else limits.left
    if math.isfinite(left):  # HiGHS adds up the time of all runs
        solver.setOptionValue("time_limit", solver.getRunTime() + left + LATE)


def is_optimal(solver: Guarded) -> bool:
    """Return whether the last run ended with an optimum."""
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def is_late(solver: Guarded) -> bool:
    """Return whether the last run ended at its time limit."""
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit)


def status(solver: Guarded) -> str:
    """Return a description of how the last run ended."""
    return str(solver.modelStatusToString(solver.getModelStatus()))


def answer(solver: Guarded, shape: tuple[int, ...], unit: float = 1.0) -> LPResult:
    """Return the solution of a program whose right-hand sides and costs were scaled by a unit.

    ``shape`` has the numbers of its rows and columns. SolverError for other or invalid numbers.
    """
    found, (n_rows, n_columns) = solver.getSolution(), shape
    primal, reduced, dual = (
        checked(NAME, values, (size,)) / unit
        for values, size in (
            (found.col_value, n_columns),
            (found.col_dual, n_columns),
            (found.row_dual, n_rows),
        )
    )
    return LPResult(primal, reduced, dual)


def _ask(limits: Limits, event: Any) -> None:
    """Stop HiGHS, which calls back at every step, once a limit is reached."""
    if limits.expired():
        event.interrupt()


def _model(program: LPModel, unit: float) -> highspy.HighsLp:
    n_rows, n_columns = program.A.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n_columns, n_rows
    lp.col_cost_ = program.cost * unit
    lp.col_lower_ = np.zeros(n_columns)
    lp.col_upper_ = np.full(n_columns, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = program.low * unit, program.high * unit
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.A.indptr
    lp.a_matrix_.index_ = program.A.indices
    lp.a_matrix_.value_ = program.A.data
    return lp
