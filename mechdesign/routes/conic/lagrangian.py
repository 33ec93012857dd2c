"""Bounds for convex losses and constraints that are stated in cvxpy, in floating point.

With multipliers u of the constraints, L(Q) = f(Q) + Sum_i u_i g_i(Q) is convex, and at most f(Q)
where the constraints hold. So at any Q0, with any subgradient D of L there,

    f(Q) >= L(Q0) - D . Q0 + D . Q        for every Q that keeps the constraints,

whose right side is linear in Q: how small a private channel can make it is known from the weights
on the notions. The bound holds for all multipliers of the right sign; good ones make it tight.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["linearised", "priced", "solver_gap"]


def priced(constraint: cp.Constraint, scale: float) -> cp.Expression | None:
    """Return a constraint times its dual value, at most 0 where it holds; None if not known how.

    Parameters
    ----------
    constraint
        Solved: an (in)equality, a second-order cone, or a semidefinite matrix.
    scale
        What to multiply the dual value with.
    """
    import cvxpy as cp

    dual = constraint.dual_value
    if dual is None:
        return None
    if isinstance(constraint, cp.constraints.SOC):
        return _cone(constraint, dual, scale)
    if isinstance(constraint, cp.constraints.PSD):
        expression = constraint.args[0]
        sizes, vectors = np.linalg.eigh((dual + dual.T) / 2)
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
    """Return what is at most, or equal to, zero."""
    if len(constraint.args) == 2:
        return constraint.args[0] - constraint.args[1]
    return constraint.args[0]


def _cone(constraint: cp.Constraint, dual: Any, scale: float) -> cp.Expression | None:
    """Return minus a point (t, y) of the second-order cone times (top, rest), which lies in it."""
    import cvxpy as cp

    top, rest = constraint.args
    t, y = (np.asarray(part, dtype=float).ravel() for part in dual)
    if t.size != 1 or y.size != rest.size:
        return None
    level = max(float(t[0]), float(np.linalg.norm(y)))
    return -scale * (level * cp.sum(top) + y @ cp.vec(rest, order="F"))


def linearised(
    expression: cp.Expression, Q: cp.Variable, at: FloatArray
) -> tuple[float, FloatArray] | None:
    """Return (c, D) with expression(Q) >= c + Sum D * Q, touching at a point; None if it cannot.

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
    dense = np.zeros(Q.size) if isinstance(gradient, int) else _dense(gradient)
    D: FloatArray = dense.reshape(Q.shape, order="F")
    if not np.isfinite(D).all():
        return None
    return float(np.asarray(value).item()) - float((D * at).sum()), D


def _dense(gradient: Any) -> FloatArray:
    if hasattr(gradient, "toarray"):
        gradient = gradient.toarray()
    return np.asarray(gradient, dtype=float).ravel()


def solver_gap(stated: cp.Problem, name: str, options: dict[str, Any]) -> float | None:
    """Return by how much a solver's dual objective is below its own, where it tells both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data, chain, _ = stated.get_problem_data(name, solver_opts=dict(options))
        answer = chain.solve_via_data(stated, data, solver_opts=dict(options))
    told = answer.get("info", {}) if isinstance(answer, dict) else answer
    for names in (("obj_val", "obj_val_dual"), ("pcost", "dcost"), ("pobj", "dobj")):
        pair: list[Any] = [
            told.get(key) if isinstance(told, dict) else getattr(told, key, None) for key in names
        ]
        if None not in pair:
            return abs(float(pair[0]) - float(pair[1]))
    return None
