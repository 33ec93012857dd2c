"""Convex programs with the user's own constraints or objective, stated in cvxpy.

The channel is repaired and satisfies the notions exactly. The user's constraints hold up to the
tolerance of the solver and the change by the repair, which the report states. The value of the
user's objective and the bound on it are computed in floating point.

With multipliers u of the constraints, the Lagrangian L(Q) = f(Q) + Sum_i u_i g_i(Q) is convex, and
at most f(Q) where the constraints hold (weak duality). So at any Q0, with any subgradient D of L,

    f(Q) >= L(Q0) - D . Q0 + D . Q        for every feasible Q.

The right side is linear in Q, and the multipliers of the notions bound it from below. The bound is
valid for all multipliers of the right sign, and tight for the optimal ones (Boyd and Vandenberghe,
Section 5.1).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.errors import InfeasibleError, InputError, SolverError, UnsupportedError
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.conic.cvxpy_solver import StatedProblem, run
from mechdesign.search.limits import Limits
from mechdesign.solver_guard import called
from mechdesign.utilities import ExpressionUtility, placed

if TYPE_CHECKING:
    import cvxpy as cp

FLOOR = 1e-12
"""Smaller entries are raised to it for the tangents of logarithms and roots."""

LONGEST = 500
"""Quoted characters of a constraint."""

ROUGH = 1e-3
"""A solver's channel with larger errors of its rows is rejected."""

ROUNDING = 1e-14
"""Relative safety margin of the bound for the rounding of its sum."""

CLOSE, HUGE = 1e-6, 1e99
"""A violation that is reported as a tolerance only, and a bound that counts as infinite."""


class UserTerms:
    """A problem with the user's own constraints, and optionally an objective.

    Parameters
    ----------
    problem
        The problem of the variable ``problem.Q``.
    constraints
        cvxpy constraints.
    objective
        ``cp.Minimize(...)``, ``cp.Maximize(...)``, or an expression to be minimized; None for the
        utility of the problem.

    Raises
    ------
    InputError
        If a term is not convex, or not a constraint or objective; the message names it.
    UnsupportedError
        If a term contains other variables.
    """

    def __init__(self, problem: Problem, constraints: Sequence[Any], objective: Any) -> None:
        import cvxpy as cp

        Q = problem.Q
        self.constraints = tuple(constraints)
        for n, constraint in enumerate(self.constraints):
            key = f"constraints[{n}]"
            if not isinstance(constraint, cp.Constraint):
                raise InputError(key, "a constraint of cvxpy", constraint)
            if not constraint.is_dcp():
                raise InputError(key, "a convex constraint, by cvxpy's rules (DCP)", constraint)
            _check_leaves(key, constraint, Q)
        self.problem = copy.copy(problem)  # which shares Q
        self.problem.quoted = tuple(str(constraint)[:LONGEST] for constraint in self.constraints)
        if objective is None:
            return
        if isinstance(objective, cp.Expression):
            objective = cp.Minimize(objective) if objective.is_scalar() else objective
        if not isinstance(objective, cp.Minimize | cp.Maximize):
            expected = "cp.Minimize(...), cp.Maximize(...) or a scalar expression of cvxpy"
            raise InputError("objective", expected, objective)
        if not objective.is_dcp():
            expected = "a convex loss or a concave gain, by cvxpy's rules (DCP)"
            raise InputError("objective", expected, objective)
        _check_leaves("objective", objective, Q)
        sense = "maximize" if isinstance(objective, cp.Maximize) else "minimize"
        self.problem.utility = ExpressionUtility(objective.args[0], Q, sense)

    def notes(self, channel: Channel) -> list[str]:
        """Return how well the user's constraints hold at the returned channel."""
        if not self.constraints:
            return []
        self.problem.Q.value = placed(channel, self.problem.outputs or ())
        worst = max(float(np.max(constraint.violation())) for constraint in self.constraints)
        text = f"your constraints are broken by {worst:.1e}: privacy comes first"
        if worst <= CLOSE:
            text = f"your constraints hold{f' to {worst:.1e}' * (worst > 0)}"
        return [text, "binding rows are not listed beside constraints of your own"]


def _check_leaves(key: str, part: Any, Q: cp.Variable) -> None:
    others = [variable.name() for variable in part.variables() if variable is not Q]
    if others:
        hint = "write it without: a bound on the optimum needs to know all that may vary"
        raise UnsupportedError(key, "an expression of problem.Q alone", ", ".join(others), hint)
    for parameter in part.parameters():
        if parameter.value is None:
            raise InputError(key, f"a value of the parameter {parameter.name()}", "none")


def solve_custom(
    problem: Problem,
    constraints: Sequence[cp.Constraint],
    solvers: Sequence[str],
    limits: Limits,
) -> RawSolution:
    """Solve a problem with further constraints on ``problem.Q``, and bound its optimum.

    The first solver that has an answer gives it. InfeasibleError if one finds it infeasible, none
    has an answer, and no constant channel is feasible.
    """
    failures, claim = list[str](), None
    for solver in solvers:
        try:
            return _by_solver(problem, constraints, solver, limits)
        except InfeasibleError as error:
            claim = error
            failures.append(f"{solver} claims that {error}")
        except SolverError as error:
            failures.append(str(error))
    if claim is not None and not _constants(problem, constraints):
        raise claim
    raise SolverError("; ".join(failures))


def _by_solver(
    problem: Problem, constraints: Sequence[cp.Constraint], solver: str, limits: Limits
) -> RawSolution:
    """Solve by one solver."""
    import cvxpy as cp

    stated = StatedProblem(problem, problem.Q, constraints)
    try:
        answer = run(stated.program, solver, limits)
    except SolverError:
        claimed = stated.program.status in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE)
        if claimed and constraints:  # without any, a constant channel is feasible
            raise InfeasibleError("no private channel meets your constraints") from None
        raise
    matrix, scale = np.array(problem.Q.value), stated.scale
    off = max(float(np.abs(matrix.sum(axis=1) - 1).max()), -float(matrix.min()))
    if off > ROUGH:
        raise SolverError(f"{solver} failed: its channel has rows that are off by {off:.1e}")
    value = scale * float(stated.program.objective.value)
    terms = [lagrangian_term(constraint, scale) for constraint in constraints]
    bound, notes = _bound(stated, [term for term in terms if term is not None]), []
    if bound < value - CLOSE * abs(value):
        dual = dual_objective(stated.program, answer)
        if dual is not None and scale * dual > bound:
            bound = scale * dual
            notes.append(f"a term of yours has a kink: the bound is the dual objective of {solver}")
    if problem.utility.is_maximized:
        bound = -bound
    numeric_bound = Fraction(max(bound, -HUGE))
    outputs = problem.outputs or ()
    return RawSolution(matrix, outputs, (), f"cvxpy: {solver}", notes, numeric_bound)


def best_constant(problem: Problem, constraints: Sequence[cp.Constraint]) -> RawSolution:
    """Return the best of some channels that ignore their input and satisfy the constraints."""
    found = _constants(problem, constraints)
    if not found:
        raise SolverError("no channel was found that meets your constraints and ignores its input")
    Q, utility, outputs = problem.Q, problem.utility, problem.outputs or ()
    loss = utility.objective(Q, problem.domain, problem.prior, outputs)
    sign, values = -1 if utility.is_maximized else 1, list[float]()
    for matrix in found:
        Q.value = matrix
        values.append(sign * float(np.asarray(loss.value).item()))
    best, least = found[int(np.argmin(values))], -HUGE
    line = linearized(sign * loss, Q, best)
    if line is not None:  # each input gets its best output
        least = max(least, line[0] + float(line[1].min(axis=1).sum()))
    route = "start: one output for all"
    return RawSolution(best, outputs, (), route, numeric_bound=Fraction(sign * least))


def _constants(problem: Problem, constraints: Sequence[cp.Constraint]) -> list[FloatArray]:
    """Return feasible channels with equal rows: one output, the uniform row, the prior.

    If there are as many outputs as inputs, the last has the prior as its row.
    """
    k, m = problem.Q.shape
    rows = [*np.eye(m), np.full(m, 1 / m)]
    if k == m:
        rows.append(problem.prior.array)
    found = []
    for row in rows:
        problem.Q.value = np.tile(row, (k, 1))
        if all(float(np.max(one.violation())) <= CLOSE for one in constraints):
            found.append(np.tile(row, (k, 1)))
    return found


def _bound(stated: StatedProblem, terms: list[cp.Expression]) -> float:
    """Return the bound by tangents at the solver's answer; -inf if the loss has no gradient."""
    at = np.maximum(np.array(stated.Q.value), FLOOR)
    constant, total = 0.0, stated.mean_cost()
    size = float(np.abs(total).sum())
    for n, term in enumerate([*terms, *([] if stated.loss is None else [stated.loss])]):
        line = linearized(term, stated.Q, at)
        if line is not None:
            constant, total = constant + line[0], total + line[1]
            size += abs(line[0]) + float(np.abs(line[1]).sum())
        elif n == len(terms):
            return -np.inf
    stated.Q.value = at
    return constant + stated.dual_bound(total).least - ROUNDING * size


def lagrangian_term(constraint: cp.Constraint, scale: float) -> cp.Expression | None:
    """Return a solved constraint times its dual value, at most 0 where it holds.

    None unless it is an (in)equality, a second-order cone, or a semidefinite matrix.
    """
    import cvxpy as cp

    dual = constraint.dual_value
    if dual is None:
        return None
    if isinstance(constraint, cp.constraints.SOC):
        return _second_order_cone(constraint, dual, scale)
    if isinstance(constraint, cp.constraints.PSD):
        expression = constraint.args[0]
        sizes, vectors = called("LAPACK", np.linalg.eigh, (dual + dual.T) / 2)
        weight = (vectors * np.maximum(sizes, 0.0)) @ vectors.T
        return -scale * cp.sum(cp.multiply(weight, expression))
    if isinstance(constraint, cp.constraints.Equality | cp.constraints.Zero):
        return cp.sum(cp.multiply(scale * np.asarray(dual), _left(constraint)))
    weight = scale * np.maximum(np.asarray(dual, dtype=float), 0.0)
    if isinstance(constraint, cp.constraints.Inequality | cp.constraints.NonPos):
        return cp.sum(cp.multiply(weight, _left(constraint)))
    if isinstance(constraint, cp.constraints.NonNeg):
        return -cp.sum(cp.multiply(weight, constraint.args[0]))
    return None


def _left(constraint: cp.Constraint) -> cp.Expression:
    """Return the expression that the constraint bounds by, or equates to, 0."""
    if len(constraint.args) == 2:
        return constraint.args[0] - constraint.args[1]
    return constraint.args[0]


def _second_order_cone(constraint: cp.Constraint, dual: Any, scale: float) -> cp.Expression | None:
    """Return -(t, y) . (top, rest) for a dual point (t, y) of the cone, which is its own dual.

    Replacing t by the larger of t and |y| keeps the point in the cone in spite of rounding.
    """
    import cvxpy as cp

    top, rest = constraint.args
    t, y = (np.asarray(part, dtype=float).ravel() for part in dual)
    if t.size != 1 or y.size != rest.size:
        return None
    level = max(float(t[0]), float(np.linalg.norm(y)))
    return -scale * (level * cp.sum(top) + y @ cp.vec(rest, order="F"))


def linearized(
    expression: cp.Expression, Q: cp.Variable, at: FloatArray
) -> tuple[float, FloatArray] | None:
    """Return the tangent (c, D) at a point, expression(Q) >= c + Sum D * Q; None without gradient.

    The expression is a convex scalar of ``Q`` alone; the point becomes the value of ``Q``.
    """
    Q.value = at
    gradient, value = expression.grad.get(Q, 0), expression.value
    if gradient is None or value is None or not np.isfinite(value).all():
        return None
    if isinstance(gradient, int):
        gradient = np.zeros(Q.size)
    if hasattr(gradient, "toarray"):
        gradient = gradient.toarray()
    D = np.asarray(gradient, dtype=float).ravel().reshape(Q.shape, order="F")
    if not np.isfinite(D).all():
        return None
    return float(np.asarray(value).item()) - float((D * at).sum()), D


def dual_objective(stated: cp.Problem, answer: Any) -> float | None:
    """Return the dual objective in a solver's record of its run; None if it is not recorded.

    It is the objective at the solution minus the gap of the run, as solvers omit constants of the
    objective.
    """
    value = stated.objective.value
    answered = answer.get("info", {}) if isinstance(answer, dict) else answer
    for names in (("obj_val", "obj_val_dual"), ("pcost", "dcost"), ("pobj", "dobj")):
        pair: list[Any] = [
            answered.get(key) if isinstance(answered, dict) else getattr(answered, key, None)
            for key in names
        ]
        if None not in pair and value is not None:
            return float(value) - abs(float(pair[0]) - float(pair[1]))
    return None
