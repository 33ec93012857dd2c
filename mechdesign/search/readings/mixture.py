"""The best mixture of given rays, each with its best reading: a second-order cone program.

An output that is theta times a ray r with the reading v adds theta v r to the means and theta v**2
r to the second moments. With z = theta v and s >= z**2 / theta the program

    minimize  Sum s P . r    such that  Sum theta r = 1,  Sum z r = f,  z**2 <= theta s,

or, in the worst case, t with Sum s r_x - f_x**2 <= t for every input x, is convex, without a guess
of the readings. Its dual variables u, m and, in the worst case, P price other rays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.search.limits import running
from mechdesign.solver_guard import called, checked

SOLVER = "CLARABEL"
TOLERANCE, ENDED_WELL = 1e-10, ("Solved", "AlmostSolved", "InsufficientProgress")

MIXED = 1e-9
"""The weight of the uniform mean in the worst case, so that no input has the weight 0, which would
leave its readings undetermined."""

SPARE, SHARE = 1e-9, 0.05
"""Relative increase of the worst case allowed to a mixture with few rays; or this share of the gap
of the search."""


@dataclass(frozen=True)
class Mixture:
    """A mixture of rays, and the dual variables.

    Attributes
    ----------
    theta, readings
        ``(n_rays,)``: the weight of each ray, and its reading.
    value
        The variance, on average or in the worst case.
    potentials, slopes, weights
        ``(n_inputs,)``: u, m and P, which sums to 1.
    """

    theta: FloatArray
    readings: FloatArray
    value: float
    potentials: FloatArray
    slopes: FloatArray
    weights: FloatArray


def best_mixture(rays: FloatArray, f: FloatArray, prior: FloatArray | None) -> Mixture:
    """Return the mixture of least variance.

    Parameters
    ----------
    rays
        ``(n_inputs, n_rays)``, nonnegative.
    f
        ``(n_inputs,)`` values.
    prior
        ``(n_inputs,)``; None for the worst case.

    Raises
    ------
    SolverError
        If the solver fails, or there is no mixture.

    Examples
    --------
    >>> found = best_mixture(np.array([[3.0, 1.0], [1.0, 3.0]]), np.array([-1.0, 1.0]), None)
    >>> np.round(found.theta, 6), np.round(found.readings, 6), round(found.value, 6)
    (array([0.25, 0.25]), array([-2.,  2.]), 3.0)
    """
    import clarabel
    from scipy import sparse

    (k, n), is_worst = rays.shape, prior is None
    mean = np.full(k, MIXED / k) if prior is None else prior
    cost = np.concatenate([np.zeros(2 * n), mean @ rays, [1 - MIXED] * is_worst])
    R, j, one = sparse.csc_matrix(rays), np.arange(n), np.ones(n)
    blocks: list[list[Any]] = [[R, None, None], [None, R, None], [None, None, R]]
    if is_worst:
        blocks = [[*row, None] for row in blocks]
        blocks[2][3] = sparse.csc_matrix(-np.ones((k, 1)))
    # z**2 <= theta s as the cone of (theta + s, theta - s, 2 z)
    rows = np.concatenate([3 * j, 3 * j, 3 * j + 1, 3 * j + 1, 3 * j + 2])
    columns = np.concatenate([j, 2 * n + j, j, 2 * n + j, n + j])
    entries = np.concatenate([-one, -one, -one, one, -2 * one])
    cone = sparse.csc_matrix((entries, (rows, columns)), shape=(3 * n, len(cost)))
    linear = sparse.bmat(blocks if is_worst else [[*row[:2], None] for row in blocks[:2]])
    if not is_worst:  # second moments are in the cost only
        linear = sparse.hstack([linear, sparse.csc_matrix((2 * k, n))])
    right = np.concatenate([np.ones(k), f, f**2 if is_worst else [], np.zeros(3 * n)])
    cones = [clarabel.ZeroConeT(2 * k)]
    cones += [clarabel.NonnegativeConeT(k)] * is_worst + [clarabel.SecondOrderConeT(3)] * n
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.time_limit = running().grace
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    whole = sparse.vstack([linear, cone]).tocsc()
    nothing = sparse.csc_matrix((len(cost), len(cost)))
    solver = called(SOLVER, clarabel.DefaultSolver, nothing, cost, whole, right, cones, settings)
    found = called(SOLVER, solver.solve)
    if str(found.status) not in ENDED_WELL:
        raise SolverError(f"{SOLVER} ended with {found.status}")
    x, dual = checked(SOLVER, found.x, (len(cost),)), checked(SOLVER, found.z, (len(right),))
    theta, z, s = (np.asarray(x[part * n : (part + 1) * n]) for part in range(3))
    theta, s = np.maximum(theta, 0.0), np.maximum(s, 0.0)
    readings = np.divide(z, theta, out=np.zeros(n), where=theta > 0)
    if prior is not None:
        value, weights = float(prior @ (rays @ s - f**2)), prior
    else:
        value = float((rays @ s - f**2).max())
        weights = np.maximum(dual[2 * k : 3 * k], 0.0) + MIXED / k
    return Mixture(theta, readings, value, -dual[:k], -dual[k : 2 * k], weights / weights.sum())


def thinned(
    rays: FloatArray,
    theta: FloatArray,
    readings: FloatArray,
    f: FloatArray,
    prior: Any,
    gap: float,
) -> FloatArray:
    """Return an equally good mixture of the same rays and readings, with few rays.

    With the readings fixed the best mixture is a linear program, and a vertex of it has no more
    rays than there are equations and binding rows. An interior-point method ends in the middle of
    the optimal face, with many rays. If the simplex method fails, the mixture is unchanged.

    Parameters
    ----------
    rays, theta, readings
        ``(n_inputs, n_rays)``, and ``(n_rays,)`` each.
    f, prior
        As for :func:`best_mixture`.
    gap
        The gap of the search.
    """
    from mechdesign.search.highs import UNIT, RestrictedMaster

    k = len(f)
    columns = np.vstack([rays, rays * readings])
    low = high = np.concatenate([np.ones(k), f])
    weights = np.full(k, 1 / k) if prior is None else prior
    gain = -(weights @ rays) * readings**2
    if prior is None:
        second = (rays * readings**2) @ theta
        columns = np.vstack([columns, rays * readings**2])
        low = np.concatenate([low, np.full(k, -np.inf)])
        worst = float((second - f**2).max())
        high = np.concatenate([high, f**2 + (1 + max(SPARE, SHARE * gap)) * worst])
    try:
        found = RestrictedMaster(columns, gain, unit=UNIT, sides=(low, high)).solve()[0]
    except SolverError:
        return theta
    return np.asarray(np.maximum(found, 0.0))
