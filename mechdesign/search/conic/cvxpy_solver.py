"""The problem stated directly in cvxpy: the reference for every faster route."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError, UnsupportedError, did_you_mean
from mechdesign.evidence.rows import Proof, ceiling_of, certificate
from mechdesign.exact import as_fraction
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.oracles import Entropy
from mechdesign.kernel.packed import Numbers
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.proofs import linear_proof
from mechdesign.search.limits import Limits
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import LinearUtility

if TYPE_CHECKING:
    import cvxpy as cp

OPTIONS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11},
    "ECOS": {"abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11, "max_iters": 500},
    "HIGHS": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    "OSQP": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 200_000, "polishing": True},
    "SCS": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 200_000},
}
"""The tightest tolerances that each solver is known to reach."""

TIME_LIMITS = {
    "CLARABEL": "time_limit",
    "HIGHS": "time_limit",
    "OSQP": "time_limit",
    "SCS": "time_limit_secs",
}
"""The name of the time limit option of each solver; others are not stopped."""

ENTRIES_A_SECOND = 1e6
"""The number of entries of a matrix that a solver factors, once, in a second."""

CONIC_SOLVERS = ("CLARABEL", "ECOS", "SCS")
"""Solvers for conic programs, in decreasing order of precision."""

EXTRAS = {"ECOS": "ecos"}
"""Solvers that only an extra of this package installs, with its name."""

NO_MULTIPLIER = 1e-9
"""A multiplier of a bound on information below this, relative to the loss, counts as 0."""

ROUNDS, TOLERANCE = 5_000, 1e-14
"""Of the Blahut-Arimoto algorithm."""

LEAST_SHARE = 1e-9
"""The least initial probability of an output: a probability of 0 would stay 0."""


def solve_conic(problem: Problem, solver: str, limits: Limits | None = None) -> RawSolution:
    """State a problem with a loss that is convex in the channel in cvxpy, and solve it."""
    import cvxpy as cp

    name, outputs = solver_named(solver), problem.outputs or ()
    Q = cp.Variable((len(problem.domain), max(1, len(outputs))), nonneg=True)
    stated = StatedProblem(problem, Q)
    run(stated.program, name, limits)
    bound = stated.dual_bound(stated.mean_cost())
    matrix, weights = np.array(Q.value), stated.input_multipliers()
    if bound.potentials is not None:
        proof: Proof = partial(_entropy, bound, bound.potentials, weights)
    else:
        proof = linear_proof(bound.duals, matrix, (limits or Limits()).gap, weights=weights)
    return RawSolution(matrix, outputs, [proof], f"cvxpy: {name}")


def _entropy(
    bound: DualBound, potentials: FloatArray, weights: FloatArray | None, problem: Problem
) -> Certificate:
    """Return the certificate of multipliers, some of them of bounds on information."""
    ceiling, parts = ceiling_of(problem), problem.compiled.parts
    multipliers = tuple(
        (parts[n].limits.start, as_fraction(v)) for n, v in bound.on_information.items()
    )
    oracle = Entropy(multipliers, Numbers([v - ceiling for v in potentials.tolist()]))
    return certificate(problem, oracle=oracle, duals=bound.duals, weights=weights)


def solver_named(solver: str) -> str:
    """Return the name of an installed solver in cvxpy's spelling; else UnsupportedError."""
    import cvxpy as cp

    installed = cp.installed_solvers()
    name = solver.upper()
    if name not in installed:
        extra = EXTRAS.get(name)
        hint = f'pip install -e ".[{extra}]"' if extra else did_you_mean(name, installed)
        expected = f"cvxpy:NAME with NAME one of {', '.join(installed)}"
        raise UnsupportedError("route", expected, f"cvxpy:{solver}", hint)
    return name


def run(stated: cp.Problem, name: str, limits: Limits | None = None) -> Any:
    """Solve a cvxpy problem to the tightest tolerance of the solver, in the remaining time.

    Returns the solver's own record. SolverError if there is no answer, with the reason.
    """
    import cvxpy as cp

    limits, options = limits or Limits(), dict(OPTIONS.get(name, {}))
    if limits.expired():
        raise SolverError(f"{name} was not started: {limits.ended}")
    if name in TIME_LIMITS and math.isfinite(limits.left):
        options[TIME_LIMITS[name]] = limits.left
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the certificate decides
        try:
            answer = called(name, _solved, stated, name, options, ENTRIES_A_SECOND * limits.left)
        except SolverError:
            if limits.expired():
                raise SolverError(f"{name} stopped: {limits.ended}") from None
            raise
    if stated.status == cp.USER_LIMIT and limits.expired():
        raise SolverError(f"{name} stopped: {limits.ended}")
    if any(variable.value is None for variable in stated.variables()):
        raise SolverError(f"{name} stopped: {stated.status}")
    for variable in stated.variables():
        checked(name, variable.value, variable.shape)
    for constraint in stated.constraints:
        for dual in constraint.dual_variables:
            if dual.value is not None:
                checked(name, dual.value, np.shape(dual.value))
    return answer


def _solved(stated: cp.Problem, name: str, options: dict[str, Any], most: float) -> Any:
    """Solve as ``stated.solve`` does, which keeps no record, if the matrix has few entries."""
    data, chain, inverse = stated.get_problem_data(name, solver_opts=options)
    if getattr(data.get("A"), "nnz", 0) > most:
        raise SolverError(f"{name} was not started: its matrix is too large for the time left")
    answer = chain.solve_via_data(stated, data, solver_opts=options)
    stated.unpack_results(answer, chain, inverse)
    return answer


@dataclass(frozen=True)
class DualBound:
    """A lower bound on a linear cost, from the dual values of a solver.

    Attributes
    ----------
    duals
        Multipliers of the rows of the notions.
    least
        The bound, in floating point.
    on_information
        The multiplier of each bound on the information of X and Y, by the place of the notion: loss
        per nat.
    potentials
        Where one of these binds, ``(n_inputs,)`` numbers in the unit of the loss, as in
        :func:`best_potentials`.
    """

    duals: list[Multipliers]
    least: float
    on_information: Mapping[int, float]
    potentials: FloatArray | None = None


class StatedProblem:
    """A problem in cvxpy, and the bound from the dual values of a solver.

    Parameters
    ----------
    problem
        With a loss that is convex in the channel, or a concave gain.
    Q
        A variable of shape ``(n_inputs, n_outputs)``.
    further
        Constraints in addition to those of the notions.

    Attributes
    ----------
    program
        The cvxpy problem.
    loss
        The minimized expression of ``Q``; None for a linear loss.
    cost
        ``(n_inputs, n_outputs)``: the cost of a linear loss, else 0.
    scale
        The unit of the loss for the solver, whose tolerances are absolute: the largest cost is
        scaled to 1.
    """

    def __init__(
        self, problem: Problem, Q: cp.Variable, further: Sequence[cp.Constraint] = ()
    ) -> None:
        import cvxpy as cp

        self.problem, self.Q = problem, Q
        matrices = [family.matrix() for family in problem.cone.families]
        self._rows = [None if G.shape[0] == 0 else G @ Q <= 0 for G in matrices]
        self._whole = [
            None if constraint is None else constraint.state(Q)
            for constraint in problem.channel_constraints
        ]
        utility, outputs = problem.utility, problem.outputs or ()
        self.scale, self.cost, self.loss = 1.0, np.zeros(Q.shape), None
        self._per_input: list[cp.Constraint] = []
        if isinstance(utility, LinearUtility):
            self.cost = utility.cost(problem.domain, problem.prior, outputs)
            self.scale = float(self.cost.max()) or 1.0
            terms = cp.multiply(self.cost, Q)
            goal = cp.sum(terms)
            if utility.worst_case:  # one constraint per input, for its multiplier
                goal = cp.Variable()
                self._per_input = [cp.sum(terms, axis=1) <= goal]
        else:
            loss = utility.objective(Q, problem.domain, problem.prior, outputs)
            goal = self.loss = -loss if utility.is_maximized else loss
        constraints = [cp.sum(Q, axis=1) == 1, *(row for row in self._rows if row is not None)]
        constraints += [c for part in self._whole if part is not None for c in part]
        constraints += [*self._per_input, *further]
        self.program = cp.Problem(cp.Minimize(goal / self.scale), constraints)

    def input_multipliers(self) -> FloatArray | None:
        """Return the multipliers of the losses of the inputs, for a worst case; else None."""
        if not self._per_input:
            return None
        k, stated = len(self.cost), self._per_input[0]
        return np.ones(k) if stated.dual_value is None else _multipliers(stated, (k,))

    def mean_cost(self) -> FloatArray:
        """Return costs whose sum times Q bounds a linear loss below: for a worst case a mean."""
        weights = self.input_multipliers()
        if weights is None:
            return self.cost
        return weights[:, None] / (weights.sum() or 1.0) * self.cost

    def dual_bound(self, cost: FloatArray) -> DualBound:
        """Return the Lagrangian bound for a loss of at least cost . Q, at the solver's duals."""
        m, found, reduced, scale = self.Q.shape[1], list[Multipliers](), cost.copy(), self.scale
        from_limits = 0.0  # the multipliers of constraints g(Q) <= limit, times their limits
        pairs = zip(self.problem.cone.families, self._rows, strict=True)
        for n, (family, row) in enumerate(pairs):
            G = family.matrix()
            multipliers = scale * _multipliers(row, (G.shape[0], m))
            found += [replace(m, notion=n) for m in family.read_dual(multipliers)]
            reduced += G.T @ multipliers
        on_information: dict[int, float] = {}
        for n, (constraint, stated) in enumerate(
            zip(self.problem.channel_constraints, self._whole, strict=True)
        ):
            if stated is None or constraint is None:
                continue
            if constraint.is_linear:
                multipliers = scale * _multipliers(stated[0], (len(constraint.members), m))
                found.append(replace(constraint.read_dual(multipliers), notion=n))
                reduced += constraint.matrix.T @ multipliers
                sums = np.zeros((len(constraint.units), m))
                np.add.at(sums, constraint.members, multipliers)
                from_limits += float(constraint.limits() @ sums.max(axis=1))
            else:
                on_information[n] = scale * float(_multipliers(stated[0], (1, 1))[0, 0])
                from_limits += on_information[n] * float(constraint.epsilon)
        total = sum(on_information.values())
        if total <= NO_MULTIPLIER * float(np.abs(cost).max()):
            return DualBound(found, float(reduced.min(axis=1).sum()) - from_limits, {})
        P, Q = self.problem.prior.array, np.maximum(np.array(self.Q.value), 0.0)
        b = best_potentials(reduced, P, P @ Q, total)
        least = potential_bound(reduced, P, b, total)
        return DualBound(found, least - from_limits, on_information, b)


def _multipliers(constraint: cp.Constraint | None, shape: tuple[int, ...]) -> FloatArray:
    """Return the dual values of an inequality, negative ones as 0; 0 without a solution."""
    if constraint is None or constraint.dual_value is None:
        return np.zeros(shape)
    multipliers = called("cvxpy", np.reshape, constraint.dual_value, shape)
    return np.maximum(checked("cvxpy", multipliers, shape), 0.0)


def best_potentials(
    reduced: FloatArray, prior: FloatArray, output_distribution: FloatArray, multiplier: float
) -> FloatArray:
    """Return potentials with a large bound, ``(n_inputs,)``; 0 for inputs of prior 0.

    A multiplier v of a bound on I(X; Y) gives the problem of a rate-distortion function. Its dual,
    with d = cost / P, is to maximize over potentials b

        Sum_x P_x b_x - v ln max_y Sum_x P_x exp((b_x - d[x, y]) / v),

    and any b gives a bound. The maximum is at b_x = -v ln Sum_y m_y exp(-d[x, y] / v) with m the
    best output distribution, to which the Blahut-Arimoto algorithm converges: m_y is multiplied by
    the sum in the dual, which is at most 1 at the optimum (Blahut 1972; Arimoto 1972).

    Parameters
    ----------
    reduced
        ``(n_inputs, n_outputs)`` costs P_x d[x, y], reduced by the multipliers of all other rows.
    prior
        ``(n_inputs,)``.
    output_distribution
        ``(n_outputs,)``: the starting point, such as that of a solver's channel.
    multiplier
        v > 0, the multiplier of the bound on the information.
    """
    likely = prior > 0
    P = prior[likely]
    d = reduced[likely] / P[:, None]
    least = d.min(axis=1)
    E = np.exp(-(d - least[:, None]) / multiplier)
    m = np.maximum(output_distribution, LEAST_SHARE)
    m /= m.sum()
    best, lowest = np.zeros(len(P)), np.inf
    for _ in range(ROUNDS):
        Z = E @ m
        excess = (P / Z) @ E  # the sum in the dual for every output, at the potentials -v ln Z
        if excess.max() < lowest:
            lowest, best = float(excess.max()), Z
        if lowest <= 1 + TOLERANCE:
            break
        m = m * excess
    found = np.zeros(len(prior))
    found[likely] = least - multiplier * np.log(best)
    return found


def potential_bound(
    reduced: FloatArray, prior: FloatArray, potentials: FloatArray, multiplier: float
) -> float:
    """Return the value of the dual at some potentials, in floating point."""
    likely = prior > 0
    P, b = prior[likely], potentials[likely]
    exponent = (b[:, None] - reduced[likely] / P[:, None]) / multiplier
    top = float(exponent.max())  # taken out of the exponential, which could overflow
    largest = multiplier * (top + np.log((P @ np.exp(exponent - top)).max()))
    return float(P @ b - largest + reduced[~likely].min(axis=1).sum())
