"""Lagrangian bounds for convex cvxpy problems, in floating point.

With multipliers u of the constraints, the Lagrangian L(Q) = f(Q) + Sum_i u_i g_i(Q) is convex, and
at most f(Q) where the constraints hold (weak duality). So at any Q0, with any subgradient D of L,

    f(Q) >= L(Q0) - D . Q0 + D . Q        for every feasible Q.

The right side is linear in Q, and the multipliers of the notions bound it from below. The bound is
valid for all multipliers of the right sign, and tight for the optimal ones (Boyd and Vandenberghe,
Section 5.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.solver_guard import called

if TYPE_CHECKING:
    import cvxpy as cp


def lagrangian_term(constraint: cp.Constraint, scale: float) -> cp.Expression | None:
    """Return a constraint times its dual value, at most 0 where it holds; None for unknown kinds.

    Parameters
    ----------
    constraint
        Solved: an (in)equality, a second-order cone, or a semidefinite matrix.
    scale
        A factor of the dual value.
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

    Parameters
    ----------
    expression
        A convex scalar of ``Q`` alone.
    Q
        The variable.
    at
        The point, of the shape of ``Q``; it becomes the value of ``Q``.
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
