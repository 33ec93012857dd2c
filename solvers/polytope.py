"""All extreme rays of a cone of columns, as the vertices of its cut with {Sum q = 1}, by Qhull.

Qhull finds the vertices of an intersection of half-spaces around a point inside as facets of the
hull of the dual points; where many rows meet in one vertex it merges them. Its vertices are floats
of some 1e-12: of each only the tight rows are kept, and the ray is solved from them again.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import HalfspaceIntersection, QhullError

from solvers.base import FloatArray, UnsuitableError

MOST_INPUTS = 12

THIN = 1e-6
"""Rows with an entry smaller than this, but not 0, leave cones too thin for floats."""

FLAT = 1e-9
"""Slack that is 0: of rows in the cone, and of vertices in rows."""

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def extreme_rays(G: FloatArray) -> FloatArray:
    """Return the extreme rays of {q >= 0 : G q <= 0}, largest entry 1, ``(n_rays, n_inputs)``.

    Parameters
    ----------
    G
        ``(n_rows, n_inputs)``.

    Raises
    ------
    UnsuitableError
        If there are too many inputs, or the cone is too thin for floats.
    """
    k = G.shape[1]
    if k > MOST_INPUTS:
        raise UnsuitableError(f"{k} inputs are too many for all rays")
    rows = np.vstack([G[np.abs(G).max(axis=1, initial=0.0) > 0], -np.eye(k)])
    rows = rows / np.abs(rows).max(axis=1, keepdims=True)
    if (np.abs(rows[rows != 0]) < THIN).any():
        raise UnsuitableError("a budget too large, or a prior too small, for floats")
    rows = np.unique(rows.round(15), axis=0)
    inside, level = _inside(rows)
    # q = inside + plane z, with level rows and the sum left as they are
    plane = _null_space(np.vstack([np.ones((1, k)), rows[level]]))
    slope, slack = rows @ plane, -rows @ inside
    steep = np.linalg.norm(slope, axis=1) > FLAT
    corners = _corners(slope[steep], slack[steep]) @ plane.T + inside
    found: dict[tuple[float, ...], FloatArray] = {}
    for corner in corners:
        ray = _solved_again(rows, corner)
        found[tuple(ray.round(9))] = ray
    return np.array([found[key] for key in sorted(found)])


def _inside(rows: FloatArray) -> tuple[FloatArray, np.ndarray]:
    """Return a point of the cone with sum 1, inside of all rows but those that are 0 on it.

    Its least slack is as large as can be; a row in which nothing has any slack is level.
    """
    k = rows.shape[1]
    level = np.zeros(len(rows), dtype=bool)
    while True:
        body = np.column_stack([rows, ~level])  # rows q + (slack, unless level) <= 0
        best = linprog(
            np.append(np.zeros(k), -1.0),
            A_ub=body,
            b_ub=np.zeros(len(rows)),
            A_eq=np.append(np.ones(k), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0, None)] * k + [(None, 1)],
            options=TIGHT,
        )
        if best.status != 0:
            raise UnsuitableError(f"no point inside the cone was found: {best.message}")
        if best.x[-1] > FLAT:
            return best.x[:k], level
        before = level.sum()
        for n in np.flatnonzero(~level):
            most = linprog(
                rows[n],
                A_ub=rows,
                b_ub=np.zeros(len(rows)),
                A_eq=np.ones((1, k)),
                b_eq=[1.0],
                options=TIGHT,
            )
            level[n] = -most.fun <= FLAT
        if level.sum() == before:
            raise UnsuitableError("the cone is too thin for floats")


def _null_space(rows: FloatArray) -> FloatArray:
    """Return an orthonormal basis of {z : rows z = 0}, as columns."""
    _, sizes, basis = np.linalg.svd(rows)
    rank = int((sizes > FLAT).sum())
    plane: FloatArray = basis[rank:].T
    return plane


def _corners(slope: FloatArray, slack: FloatArray) -> FloatArray:
    """Return the vertices of {z : slope z <= slack}, 0 being inside."""
    dimension = slope.shape[1]
    if dimension == 0:
        return np.zeros((1, 0))
    if dimension == 1:
        ends = slack / slope[:, 0]
        return np.array([[ends[ends < 0].max()], [ends[ends > 0].min()]])
    scale = np.linalg.norm(slope, axis=1)
    planes = np.column_stack([slope, -slack]) / scale[:, None]
    try:
        corners: FloatArray = HalfspaceIntersection(planes, np.zeros(dimension)).intersections
    except QhullError as error:
        raise UnsuitableError(f"Qhull: {str(error).splitlines()[0]}") from None
    return corners


def _solved_again(rows: FloatArray, corner: FloatArray) -> FloatArray:
    """Return the ray that is tight in the rows that a vertex is tight in."""
    _, sizes, basis = np.linalg.svd(rows[np.abs(rows @ corner) <= FLAT])
    k = len(corner)
    if k > 1 and (len(sizes) < k - 1 or sizes[k - 2] < 100 * FLAT):
        raise UnsuitableError("a vertex that too few rows meet in: the cone is too thin for floats")
    ray = basis[-1] / basis[-1].sum()
    ray = np.where(np.abs(ray) < 1e-13, 0.0, ray)
    if ray.min() < 0 or (rows @ ray).max() > 1e-12:
        raise UnsuitableError("a vertex outside the cone: it is too thin for floats")
    solved: FloatArray = ray / ray.max()
    return solved
