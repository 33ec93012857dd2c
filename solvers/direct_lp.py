"""The linear program as it is defined, every row written out, through scipy.

minimise Sum_xy P_x D(x, y) Q(y|x), or t >= Sum_y D(x, y) Q(y|x) for every x in the worst case, over
channels with G q <= 0 for every column q. No helper variables, no reduction of the rows.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from mechdesign.problem import Problem
from solvers.base import FailedError, FloatArray, SolverResult, UnsuitableError, stopwatch
from solvers.definitions import loss, rows

MOST_ENTRIES = 2_000_000
MANY_ROWS = 20_000
"""From here on the interior point method is tried first."""

TOLERANCES = (1e-10, 1e-9, 1e-7)
"""HiGHS is asked for the first, and for the next where it gives up."""


def solve(problem: Problem) -> SolverResult:
    """Solve a problem with an expected or worst-case loss.

    Raises
    ------
    UnsuitableError
        If the loss is of another kind, or the rows are too many to write out.
    FailedError
        If the linear program is not solved.
    """
    with stopwatch() as seconds:
        D = loss(problem)
        k, m = D.shape
        G = sp.csr_array(rows(problem).astype(float))
        if G.nnz * m > MOST_ENTRIES:
            raise UnsuitableError(f"{G.nnz * m} entries are too many to write out")
        above = [sp.kron(G, sp.eye_array(m))]  # variable x * m + y is Q(y|x)
        cost = (problem.prior.array[:, None] * D).ravel()
        sums = sp.kron(sp.eye_array(k), np.ones((1, m)))
        if getattr(problem.utility, "worst_case", False):
            spread = sp.csr_array(sp.block_diag([D[[x]] for x in range(k)]))
            above = [
                sp.hstack([above[0], sp.csr_array((above[0].shape[0], 1))]),
                sp.hstack([spread, -np.ones((k, 1))]),
            ]
            sums = sp.hstack([sums, sp.csr_array((k, 1))])
            cost = np.append(np.zeros(k * m), 1.0)
        value, variables = minimise(cost, sp.vstack(above), sums, np.ones(k))
        return SolverResult(value, variables[: k * m].reshape(k, m), seconds(), "direct-lp")


def minimise(
    cost: FloatArray, above: sp.sparray | FloatArray | None, sums: sp.sparray, total: FloatArray
) -> tuple[float, FloatArray]:
    """Return the least of ``cost . v`` over ``v >= 0``, ``above v <= 0``, ``sums v = total``."""
    some = above is not None and above.shape[0] > 0
    methods = ["highs-ds", "highs-ipm"]
    if above is not None and above.shape[0] > MANY_ROWS:
        methods.reverse()
    message = ""
    for method in methods:
        for tolerance in TOLERANCES:
            result = linprog(
                cost,
                A_ub=above if some else None,
                b_ub=np.zeros(above.shape[0]) if some else None,  # type: ignore[union-attr]
                A_eq=sums,
                b_eq=total,
                method=method,
                options={
                    "primal_feasibility_tolerance": tolerance,
                    "dual_feasibility_tolerance": tolerance,
                },
            )
            if result.status == 0:
                return float(result.fun), result.x
            message = result.message
    raise FailedError(f"direct-lp: {message}")
