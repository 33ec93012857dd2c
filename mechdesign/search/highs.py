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

NAME = "HiGHS"


TOLERANCE = 1e-10
"""The least feasibility tolerance of HiGHS; it is absolute, so a repair is needed."""

UNIT = 4096.0
"""Scale of right-hand sides and costs for HiGHS, relative to which its absolute tolerances are
smaller."""

SMALLEST_COEFFICIENT = 1e-12

LATE = 0.01
"""Seconds after the time limit at which HiGHS stops by itself, without a callback."""

DUAL, PRIMAL = 1, 4
"""HiGHS's numbers for the simplex methods: the basis of the primal method stays feasible when costs
change."""

Basis: TypeAlias = Any
"""A basis of HiGHS: a byte for each column and each row."""


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
        self.program, self.method = program, method
        self._asked, self._first_unit = limits, unit
        self._load(unit, method, "on")

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
        """Forget earlier runs; start the primal simplex method at a basis, or without one."""
        if self._unit != self._first_unit:  # the last run used other settings
            self._load(self._first_unit, self.method, "on")
        self._solver.clearSolver()
        known = basis is not None and basis.valid
        self._solver.setOptionValue("presolve", "off" if known else "on")
        self._solver.setOptionValue("simplex_strategy", PRIMAL if known else DUAL)
        if known:
            self._solver.setBasis(basis)

    def solve(self, cost: FloatArray | None = None, partial: bool = False) -> LPResult:
        """Solve, optionally with other costs; if HiGHS stops early, with other settings.

        Parameters
        ----------
        cost
            Default: the last costs.
        partial
            Whether to accept the state of HiGHS when the time is over.

        Raises
        ------
        SolverError
            If HiGHS fails with all settings, or the time is over; the message has the reason.
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
            except SolverError as error:
                said = str(error)
        if said and partial and self._solver.getSolution().dual_valid:
            return replace(answer(self._solver, shape, self._unit), is_optimal=False)
        raise SolverError(f"HiGHS ({self.method}) stopped: {limits.ended}")

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


def limit_time(solver: Guarded, limits: Limits | None) -> None:
    """Let the next run end at the time limit: of these limits, or of the design."""
    left = running().grace if limits is None else limits.left
    if math.isfinite(left):  # HiGHS adds up the time of all runs
        solver.setOptionValue("time_limit", solver.getRunTime() + left + LATE)


def is_optimal(solver: Guarded) -> bool:
    """Return whether the last run ended with an optimum."""
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def status(solver: Guarded) -> str:
    """Return a description of how the last run ended."""
    return str(solver.modelStatusToString(solver.getModelStatus()))


def answer(solver: Guarded, shape: tuple[int, ...], unit: float = 1.0) -> LPResult:
    """Return the solution of a program whose right-hand sides and costs were scaled by a unit.

    Parameters
    ----------
    shape
        The numbers of its rows and columns.

    Raises
    ------
    SolverError
        If HiGHS returns numbers of another shape, or invalid numbers.
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
