"""The problem as it stands, in cvxpy: the reference that every fast path is held against."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Label
from mechdesign.errors import InputError, SolverError, did_you_mean
from mechdesign.notions.non_conic.excess_constraint import ExcessConstraint
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, Information, RawSolution
from mechdesign.routes.conic.blahut_arimoto import least_with_levels, levels
from mechdesign.routes.limits import Limits
from mechdesign.utilities import LinearUtility

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = [
    "CONIC_SOLVERS",
    "OPTIONS",
    "StatedNotions",
    "Weighed",
    "run",
    "solve_conic",
    "solver_named",
]


OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11},
    "ECOS": {"abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11, "max_iters": 500},
    "HIGHS": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    "OSQP": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 200_000, "polishing": True},
    "SCS": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 200_000},
}
"""Settings by solver: as tight as each is known to bear."""

TIME_LIMITS = {
    "CLARABEL": "time_limit",
    "HIGHS": "time_limit",
    "OSQP": "time_limit",
    "SCS": "time_limit_secs",
}
"""The settings that end a solver after so many seconds; one that has none is not stopped."""

CONIC_SOLVERS = ("CLARABEL", "ECOS", "SCS")
"""Solvers for what is no linear program, the most precise first."""

EXTRAS = {"ECOS": "ecos"}
"""Solvers that only an extra of this package installs, with its name."""

NO_PRICE = 1e-9
"""A nat that costs less than this, relative to the loss, is free: its bound does not bind."""


def solve_conic(problem: Problem, solver: str, limits: Limits | None = None) -> RawSolution:
    """State a problem in cvxpy and solve it.

    Parameters
    ----------
    problem
        With a loss that is convex in the channel.
    solver
        The name of a solver that cvxpy finds installed.
    limits
        When to stop; default at the optimum.

    Raises
    ------
    InputError
        If there is no such solver.
    UnsupportedError
        If the loss is not convex.
    SolverError
        If it stops without an answer, or time is over before; the message says why.
    """
    import cvxpy as cp

    name = solver_named(solver)
    outputs: tuple[Label, ...] = problem.outputs or ()
    domain, prior, utility = problem.domain, problem.prior, problem.utility
    Q = cp.Variable((len(domain), max(1, len(outputs))), nonneg=True)
    loss = utility.objective(Q, domain, prior, outputs)
    scale, cost = 1.0, np.zeros(Q.shape)  # tolerances are absolute: let the unit of the loss be 1
    if isinstance(utility, LinearUtility):
        cost = utility.cost(domain, prior, outputs)
        scale = float(cost.max()) or 1.0
    notions = StatedNotions(problem, Q)
    per_input: list[cp.Constraint] = []
    if (
        isinstance(utility, LinearUtility) and utility.worst_case
    ):  # stated by input, for the dual weights on them
        top = cp.Variable()
        per_input = [cp.sum(cp.multiply(cost, Q), axis=1) <= top]
        loss = top
    constraints = [cp.sum(Q, axis=1) == 1, *notions.constraints, *per_input]
    run(cp.Problem(cp.Minimize(loss / scale), constraints), name, limits)
    mass = None
    if per_input:
        dual = per_input[0].dual_value
        mass = np.ones(len(domain)) if dual is None else np.maximum(dual, 0.0)
        cost = mass[:, None] / (mass.sum() or 1.0) * cost
    weighed = notions.weigh(cost, scale)
    evidence = Dual(tuple(weighed.families), mass, information=weighed.information)
    return RawSolution(np.array(Q.value), outputs, evidence, f"cvxpy: {name}")


def solver_named(solver: str) -> str:
    """Return the name of an installed solver as cvxpy has it, or say which there are."""
    import cvxpy as cp

    installed = cp.installed_solvers()
    name = solver.upper()
    if name not in installed:
        extra = EXTRAS.get(name)
        hint = f'pip install -e ".[{extra}]"' if extra else did_you_mean(name, installed)
        expected = f"cvxpy:NAME with NAME one of {', '.join(installed)}"
        raise InputError("route", expected, f"cvxpy:{solver}", hint)
    return name


def run(stated: cp.Problem, name: str, limits: Limits | None = None) -> None:
    """Solve a stated problem, as tightly as the solver bears, within the time that is left.

    Raises
    ------
    SolverError
        If it stops without an answer, or time is over before; the message says why.
    """
    import cvxpy as cp

    limits, options = limits or Limits(), dict(OPTIONS.get(name, {}))
    if limits.over():
        raise SolverError(f"{name} was not started: {limits.ended}")
    if name in TIME_LIMITS and math.isfinite(limits.left):
        options[TIME_LIMITS[name]] = limits.left
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the certificate will tell
        try:
            stated.solve(solver=name, **options)
        except cp.SolverError as error:
            why = limits.ended if limits.over() else error
            raise SolverError(f"{name} stopped: {why}") from None
    if stated.status == cp.USER_LIMIT and limits.over():
        raise SolverError(f"{name} stopped: {limits.ended}")
    if any(variable.value is None for variable in stated.variables()):
        raise SolverError(f"{name} stopped: {stated.status}")


@dataclass(frozen=True)
class Weighed:
    """What dual values say of a linear cost: ``least`` is a bound on it, in floating point."""

    families: list[FamilyDual]
    information: Information | None
    least: float


class StatedNotions:
    """All notions of a problem in cvxpy, and what a solver says of them.

    Parameters
    ----------
    problem
        Whose notions they are.
    Q
        A variable of shape ``(n_inputs, n_outputs)``.
    """

    def __init__(self, problem: Problem, Q: cp.Variable) -> None:
        self.problem, self.Q = problem, Q
        matrices = [family.matrix() for family in problem.cone.families]
        self._rows = [None if G.shape[0] == 0 else G @ Q <= 0 for G in matrices]
        self._rules = [
            None if rule is None else rule.state(Q) for rule in problem.channel_constraints
        ]

    @property
    def constraints(self) -> list[cp.Constraint]:
        """All constraints: rows on columns, and rules."""
        whole = [c for stated in self._rules if stated is not None for c in stated.constraints]
        return [row for row in self._rows if row is not None] + whole

    def weigh(self, cost: FloatArray, scale: float) -> Weighed:
        """Return what the solver's dual values say, times ``scale``.

        Parameters
        ----------
        cost
            ``(n_inputs, n_outputs)``: the loss is at least the sum of cost times Q.
        scale
            The unit in which the solver saw the loss.
        """
        m, found, reduced, owed = self.Q.shape[1], list[FamilyDual](), cost.copy(), 0.0
        spent = 0.0
        pairs = zip(self.problem.cone.families, self._rows, strict=True)
        for n, (family, row) in enumerate(pairs):
            G = family.matrix()
            weights = scale * _weights(row, (G.shape[0], m))
            multipliers, priors = family.read_dual(weights)
            found.append(FamilyDual(n, tuple(multipliers), priors))
            reduced += G.T @ weights
        prices: dict[int, float] = {}
        for n, (rule, stated) in enumerate(
            zip(self.problem.channel_constraints, self._rules, strict=True)
        ):
            if stated is None or rule is None:
                continue
            if isinstance(rule, ExcessConstraint):
                weights = scale * _weights(stated.rows, (len(rule.members()), m))
                found.append(FamilyDual(n, tuple(rule.read_dual(weights))))
                reduced += rule.matrix().T @ weights
                sums = np.zeros((len(rule.excesses), m))
                np.add.at(sums, rule.members(), weights)
                owed += float(rule.limits() @ sums.max(axis=1))
            elif stated.information is not None:
                prices[n] = scale * float(_weights(stated.information, (1, 1))[0, 0])
                spent += prices[n] * float(rule.epsilon)
        total = sum(prices.values())
        if total <= NO_PRICE * float(np.abs(cost).max()):
            return Weighed(found, None, float(reduced.min(axis=1).sum()) - owed)
        P, Q = self.problem.prior.array, np.maximum(np.array(self.Q.value), 0.0)
        b = levels(reduced, P, P @ Q, total)
        least = least_with_levels(reduced, P, b, total)
        return Weighed(found, Information(prices, b), least - owed - spent)


def _weights(constraint: cp.Constraint | None, shape: tuple[int, int]) -> FloatArray:
    """Return the dual value of a constraint, at least 0; 0 where there is none."""
    if constraint is None or constraint.dual_value is None:
        return np.zeros(shape)
    weights: FloatArray = np.maximum(np.asarray(constraint.dual_value, dtype=float), 0.0)
    return weights.reshape(shape)
