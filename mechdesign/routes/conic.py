"""The problem as it stands, in cvxpy: the reference that every fast path is held against."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mechdesign.domain import Label
from mechdesign.errors import InputError, SolverError, did_you_mean
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.utilities import LinearUtility

__all__ = ["OPTIONS", "solve_conic"]

OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11},
    "ECOS": {"abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11, "max_iters": 500},
    "HIGHS": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    "OSQP": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 200_000, "polishing": True},
    "SCS": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 200_000},
}
"""Settings by solver: as tight as each is known to bear."""


def solve_conic(problem: Problem, solver: str) -> RawSolution:
    """State a problem in cvxpy and solve it.

    Parameters
    ----------
    problem
        With a loss that is convex in the channel.
    solver
        The name of a solver that cvxpy finds installed.

    Raises
    ------
    InputError
        If there is no such solver.
    UnsupportedError
        If the loss is not convex.
    SolverError
        If it stops without an answer; the message carries its status.
    """
    import cvxpy as cp

    installed = cp.installed_solvers()
    name = solver.upper()
    if name not in installed:
        hint = did_you_mean(name, installed)
        expected = f"cvxpy:NAME with NAME one of {', '.join(installed)}"
        raise InputError("route", expected, f"cvxpy:{solver}", hint)
    outputs: tuple[Label, ...] = problem.outputs or ()
    domain, prior, utility = problem.domain, problem.prior, problem.utility
    Q = cp.Variable((len(domain), max(1, len(outputs))), nonneg=True)
    loss = utility.objective(Q, domain, prior, outputs)
    scale = 1.0  # tolerances are absolute: let the unit of the loss be 1
    if isinstance(utility, LinearUtility):
        scale = float(utility.cost(domain, prior, outputs).max()) or 1.0
    rows = [family.matrix() @ Q <= 0 for family in problem.cone.families]
    per_input: list[cp.Constraint] = []
    if (
        isinstance(utility, LinearUtility) and utility.worst_case
    ):  # stated by input, for the dual weights on them
        top = cp.Variable()
        per_input = [cp.sum(cp.multiply(utility.cost(domain, prior, outputs), Q), axis=1) <= top]
        loss = top
    stated = cp.Problem(cp.Minimize(loss / scale), [cp.sum(Q, axis=1) == 1, *rows, *per_input])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the certificate will tell
        try:
            stated.solve(solver=name, **OPTIONS.get(name, {}))
        except cp.SolverError as error:
            raise SolverError(f"{name} stopped: {error}") from None
    if Q.value is None:
        raise SolverError(f"{name} stopped: {stated.status}")
    families = []
    for n, (family, constraint) in enumerate(zip(problem.cone.families, rows, strict=True)):
        dual = constraint.dual_value
        weights = np.zeros(constraint.shape) if dual is None else np.maximum(dual, 0.0)
        multipliers, priors = family.read_dual(scale * weights.reshape(-1, Q.shape[1]))
        families.append(FamilyDual(n, tuple(multipliers), priors))
    mass = None
    if per_input:
        dual = per_input[0].dual_value
        mass = np.ones(len(domain)) if dual is None else np.maximum(dual, 0.0)
    return RawSolution(np.array(Q.value), outputs, Dual(tuple(families), mass), f"cvxpy: {name}")
