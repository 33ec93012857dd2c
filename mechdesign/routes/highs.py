"""One linear program through HiGHS: arrays in, primal and dual arrays out."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign.errors import SolverError

__all__ = ["LPResult", "LinearProgram", "load_lp", "solve_lp"]

FloatArray = npt.NDArray[np.float64]

TOLERANCE = 1e-10
"""The least feasibility tolerance that HiGHS takes; it is absolute, so a repair is needed."""

UNIT = 4096.0
"""What stands for 1 in the right-hand sides and costs that HiGHS sees: tolerances shrink by it."""

SMALLEST_COEFFICIENT = 1e-12


@dataclass(frozen=True)
class LinearProgram:
    """Minimise ``cost . v`` over ``0 <= v`` with ``low <= A v <= high``."""

    cost: FloatArray
    A: sp.csr_array
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class LPResult:
    """The optimum: ``primal`` and ``reduced`` cost by variable, ``dual`` by row, HiGHS's signs."""

    primal: FloatArray
    reduced: FloatArray
    dual: FloatArray


def solve_lp(program: LinearProgram, method: str) -> LPResult:
    """Solve a linear program.

    Parameters
    ----------
    program
        What to solve.
    method
        ``"simplex"`` or ``"ipm"`` (interior point with crossover).

    Raises
    ------
    SolverError
        If HiGHS stops without an optimum; the message carries its status.
    """
    solver = load_lp(program, method, UNIT)
    solver.run()
    status = solver.getModelStatus()
    solution = solver.getSolution()
    accepted = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnknown)
    if status not in accepted or not solution.value_valid:
        raise SolverError(f"HiGHS ({method}) stopped: {solver.modelStatusToString(status)}")
    primal = np.array(solution.col_value) / UNIT
    if not solution.dual_valid:
        return LPResult(primal, np.zeros(len(primal)), np.zeros(len(program.low)))
    reduced, dual = np.array(solution.col_dual) / UNIT, np.array(solution.row_dual) / UNIT
    return LPResult(primal, reduced, dual)


def load_lp(program: LinearProgram, method: str, unit: float) -> highspy.Highs:
    """Return HiGHS with a program loaded, ``unit`` standing for 1 in right-hand sides and costs."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solver", method)
    solver.setOptionValue("primal_feasibility_tolerance", TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", TOLERANCE)
    solver.setOptionValue("small_matrix_value", SMALLEST_COEFFICIENT)
    solver.passModel(_model(program, unit))
    return solver


def _model(program: LinearProgram, unit: float) -> highspy.HighsLp:
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
