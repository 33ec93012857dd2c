"""One linear program through HiGHS: arrays in, primal and dual arrays out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import highspy
import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.search.limits import Limits, running
from mechdesign.solver_guard import Guarded, called, checked

__all__ = [
    "PRIMAL",
    "Basis",
    "BoundedProgram",
    "LPModel",
    "LPResult",
    "WarmStartedLP",
    "answer",
    "highs",
    "is_optimal",
    "limit_time",
    "solve_lp",
    "status",
]

NAME = "HiGHS"


TOLERANCE = 1e-10
"""The least feasibility tolerance that HiGHS takes; it is absolute, so a repair is needed."""

UNIT = 4096.0
"""Factor of right-hand sides and costs for HiGHS: relative to them, its absolute
tolerances shrink by as much."""

SMALLEST_COEFFICIENT = 1e-12

LATE = 0.01
"""Seconds after the end of the time that is left when HiGHS stops by itself, if it asks nobody."""

DUAL, PRIMAL = 1, 4
"""HiGHS's numbers for the simplex methods: the basis of the primal one stays feasible when costs
change."""

Basis: TypeAlias = Any
"""A basis of HiGHS, as it gives and takes it: a byte for each column and each row."""


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

    Where time was over before, ``is_optimal`` is false and these are those of the last step.
    """

    primal: FloatArray
    reduced: FloatArray
    dual: FloatArray
    is_optimal: bool = True


def highs(method: str, presolve: str = "choose", limits: Limits | None = None) -> Guarded:
    """Return a silent solver with the tightest tolerances that HiGHS takes, without a program.

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
    """A linear program that stays loaded, so that it can be solved again at other costs.

    Parameters
    ----------
    program
        What to solve.
    method
        ``"simplex"`` or ``"ipm"`` (interior point with crossover).
    limits
        What ends a long run; None where runs are so short that asking at every step would take
        longer: they end with the grace of the limits of the design.
    """

    def __init__(self, program: LPModel, method: str, limits: Limits | None = None) -> None:
        self.program, self.method = program, method
        self._asked = limits
        self._load(UNIT, method, "on")

    def _load(self, unit: float, method: str, presolve: str) -> None:
        """Load the program with settings of HiGHS."""
        self._unit = unit
        self._solver = highs(method, presolve, self._asked)
        self._solver.passModel(_model(self.program, self._unit))

    @property
    def basis(self) -> Basis:
        """The basis of the last run."""
        return self._solver.getBasis()

    def start_at(self, basis: Basis | None) -> None:
        """Forget earlier runs; start at a basis, by the primal simplex method, or at none."""
        if self._unit != UNIT:  # the last run needed other settings
            self._load(UNIT, self.method, "on")
        self._solver.clearSolver()
        known = basis is not None and basis.valid
        self._solver.setOptionValue("presolve", "off" if known else "on")
        self._solver.setOptionValue("simplex_strategy", PRIMAL if known else DUAL)
        if known:
            self._solver.setBasis(basis)

    def solve(self, cost: FloatArray | None = None, partial: bool = False) -> LPResult:
        """Solve, at other costs if they are given; where HiGHS stops short, with other settings.

        Parameters
        ----------
        cost
            Default that of the last time.
        partial
            Whether what HiGHS has when time is over will do.

        Raises
        ------
        SolverError
            If HiGHS fails with all settings, or time is over; the message says why.
        """
        if cost is not None:
            self.program = replace(self.program, cost=cost)
            places = np.arange(len(cost), dtype=np.int32)
            self._solver.changeColsCost(len(cost), places, cost * self._unit)
        limits, shape, said = self._asked or Limits(), self.program.A.shape, ""
        # unit, method and presolve of HiGHS: where one stops without an optimum, the next is tried
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
            except SolverError as error:
                said = str(error)
        if said and partial and self._solver.getSolution().dual_valid:
            return replace(answer(self._solver, shape, self._unit), is_optimal=False)
        raise SolverError(f"HiGHS ({self.method}) stopped: {limits.ended}")


class BoundedProgram:
    """A linear program that stays loaded, solved again at other costs and bounds of the variables.

    Made for many small programs, some of which are infeasible: no other settings are tried.
    """

    def __init__(self, program: LPModel) -> None:
        self._shape, self._size = program.A.shape, program.A.shape[1]
        self._places = np.arange(self._size, dtype=np.int32)
        self._solver = highs("simplex", presolve="off")
        self._solver.passModel(_model(program, 1.0))

    def solve(self, cost: FloatArray, low: FloatArray, high: FloatArray) -> LPResult | None:
        """Return the optimum, or None where HiGHS finds none."""
        try:
            self._solver.changeColsCost(self._size, self._places, cost)
            self._solver.changeColsBounds(self._size, self._places, low, high)
            self._solver.run()
            return answer(self._solver, self._shape) if is_optimal(self._solver) else None
        except SolverError:
            return None


def solve_lp(
    program: LPModel, method: str, limits: Limits | None = None, partial: bool = False
) -> LPResult:
    """Solve a linear program once; see :class:`WarmStartedLP`."""
    return WarmStartedLP(program, method, limits).solve(partial=partial)


def limit_time(solver: Guarded, limits: Limits | None) -> None:
    """Let the next run end by itself when the time is over: of limits, or of the design."""
    left = running().grace if limits is None else limits.left
    if math.isfinite(left):  # HiGHS counts the time of all runs
        solver.setOptionValue("time_limit", solver.getRunTime() + left + LATE)


def is_optimal(solver: Guarded) -> bool:
    """Return whether the last run ended with an optimum."""
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def status(solver: Guarded) -> str:
    """Return in words how the last run ended."""
    return str(solver.modelStatusToString(solver.getModelStatus()))


def answer(solver: Guarded, shape: tuple[int, ...], unit: float = 1.0) -> LPResult:
    """Return the answer to a program whose right-hand sides and costs were scaled by a unit.

    Parameters
    ----------
    shape
        The numbers of its rows and columns.

    Raises
    ------
    SolverError
        If HiGHS returns numbers of another shape, or such as are no numbers.
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
    """Stop HiGHS, which asks at every step, once a limit is reached."""
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
