"""The same program as one matrix inequality in cvxpy, G @ Q <= 0: what a careful user writes.

The rows are those that the library compiles, none left out, so that this says what is gained by
writing matrices instead of loops, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.problem import Problem
from solvers.base import Solver, UnsuitableError
from solvers.definitions import loss
from solvers.textbook import by_statement

if TYPE_CHECKING:
    import cvxpy as cp


def by_backend(backend: str, name: str, options: Mapping[str, Any] | None = None) -> Solver:
    """Return the solver that hands the matrices to one solver of cvxpy's.

    Parameters
    ----------
    backend
        The solver, as cvxpy calls it.
    name
        What to call this one.
    options
        Its settings; default those of the textbook transcription, ``{}`` as it comes.
    """
    return by_statement(state, backend, name, options)


def state(problem: Problem) -> tuple[cp.Problem, cp.Variable]:
    """Return the linear program over channels Q >= 0 with Q 1 = 1 and G Q <= 0.

    Raises
    ------
    UnsuitableError
        If a notion has no rows, or the objective is no loss between X and Y.
    """
    import cvxpy as cp

    if not problem.is_conic:
        raise UnsuitableError("vectorised: a notion about the whole channel has no rows")
    D = loss(problem)
    Q = cp.Variable(D.shape, nonneg=True)
    constraints = [cp.sum(Q, axis=1) == 1]
    G = problem.cone.matrix()
    if G.shape[0]:
        constraints.append(G @ Q <= 0)
    expected = cp.sum(cp.multiply(D, Q), axis=1)
    if getattr(problem.utility, "worst_case", False):
        return cp.Problem(cp.Minimize(cp.max(expected)), constraints), Q
    return cp.Problem(cp.Minimize(np.array(problem.prior.array) @ expected), constraints), Q
