"""Explicit private columns: exponentials and raised sets.

A column q lies in the cone of notions that bound ratios, q_x <= e**E[x, x'] q_x', exactly if ln q
is Lipschitz for E. With d the shortest paths of E, this holds for

    e**-d(z, x)                       the exponential mechanism about an input z,
    max over z in B of e**-d(z, x)    a raised set B, since maxima of private columns are private.

Under LDP the raised sets are all extreme rays, and those of the bins of a line give randomized
response on bins. In any other cone there is room about the constant column: 1 + t v is private for
t up to :func:`reach`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.search.cones.forms import closure
from mechdesign.solver_guard import called, checked

MOST_CLOSED = 700
"""Number of inputs up to which shortest paths are computed; named distances are shortest paths."""

NOTHING = 1e-13
"""Smaller terms are rounding errors."""

FARTHEST = 1e12
"""The largest ratio of positive entries of a column."""

UPDATES = 20
"""The number of updates of the sizes of rays that bring their sum close to ones."""

SCALE = 1 << 40
"""Numbers are multiplied by this and rounded for integer arithmetic."""

SWAPS = 8
"""The number of alternating updates of the outputs and the inputs of groups."""


def reach(cone: Cone, directions: FloatArray) -> FloatArray:
    """Return for each direction v the largest t with 1 + t v private, at most 1e12.

    Parameters
    ----------
    cone
        Any cone.
    directions
        ``(n_inputs, n)``.

    Examples
    --------
    >>> from mechdesign import Domain, LDP
    >>> cone = Cone([LDP(math.log(3)).family(Domain([0, 1, 2]))])
    >>> reach(cone, np.array([[1.0], [0.0], [0.0]])).round(9).tolist()
    [2.0]
    """
    found: FloatArray = np.full(directions.shape[1], FARTHEST)
    _lower(found, np.ones(1), -directions.min(axis=0)[None, :])
    for family in cone.families:
        pairs, lifts = family.ratio_rows(), family.lift_rows()
        if lifts is not None:
            _reach_lifts(found, lifts, directions)
        elif pairs is not None and _is_uniform(pairs):
            low = pairs.inverse / pairs.factors
            used = low * directions.max(axis=0)[None, :] - directions.min(axis=0)
            _lower(found, 1 - low, used)
        else:
            rows = family.matrix()
            room = -np.asarray(rows @ np.ones(cone.size))
            for y, direction in enumerate(directions.T):  # there may be many rows
                _lower(found[y : y + 1], room, np.asarray(rows @ direction)[:, None])
    return found


def _lower(found: FloatArray, room: FloatArray, used: FloatArray) -> None:
    """Lower each t until t used <= room in all rows: ``(n_rows,)`` and ``(n_rows, n)``."""
    if not len(room):
        return
    binds = used > NOTHING
    room = np.where(room > NOTHING, room, 0.0)
    most = np.where(binds, room[:, None] / np.where(binds, used, 1.0), np.inf)
    np.minimum(found, most.min(axis=0), out=found)


def _is_uniform(pairs: PairRows) -> bool:
    """Return whether all pairs have the same bound."""
    return len(pairs.units) == 1 and pairs.n_pairs == pairs.size * (pairs.size - 1) > 0


def _reach_lifts(found: FloatArray, lifts: LiftRows, directions: FloatArray) -> None:
    """Impose low (1 + t P . v) <= 1 + t v_x <= high (1 + t P . v) for all inputs and priors."""
    low, high = lifts.ends()
    least, most = _extreme_means(lifts, directions)
    if math.isfinite(high):
        _lower(found, np.array([high - 1]), (directions.max(axis=0) - high * least)[None, :])
    if low > 0:
        _lower(found, np.array([1 - low]), (low * most - directions.min(axis=0))[None, :])


def _extreme_means(lifts: LiftRows, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest P . v of each direction."""
    if lifts.priors.members:
        priors = np.array([[float(p) for p in prior] for prior in lifts.priors.members])
        means = priors @ directions
        return means.min(axis=0), means.max(axis=0)
    columns = np.round(directions.T * SCALE).astype(np.int64).tolist()
    least, most = (
        np.array([float(lifts.priors.extreme_mean(q, largest=largest)) / SCALE for q in columns])
        for largest in (False, True)
    )
    return least, most


def is_quick(cone: Cone) -> bool:
    """Return whether :func:`reach` takes linear time in the entries."""
    return all(_is_uniform(rows) for rows in cone.ratios.values() if rows.n_pairs)


def lengths(cone: Cone) -> FloatArray | None:
    """Return shortest paths d with ln(q_x / q_z) <= d[x, z]; None without ratios or with many."""
    known = [rows for rows in cone.ratios.values() if rows.n_pairs]
    if not known:
        return None
    if len(known) == 1 and (known[0].near is not None or _is_uniform(known[0])):
        return known[0].lengths()
    if cone.size > MOST_CLOSED:
        return None
    return closure(cone.lengths())


def raised(cone: Cone, d: FloatArray | None, sets: FloatArray) -> FloatArray:
    """Return private columns that are largest on given sets, ``(n_inputs, n)`` zeros and ones."""
    if d is None:
        return inside(cone, sets)
    found = np.empty_like(sets)
    for y, members in enumerate(sets.T > 0):
        found[:, y] = np.exp(-d[members].min(axis=0))
    return found if cone.is_by_ratios else inside(cone, found)


def inside(cone: Cone, columns: FloatArray) -> FloatArray:
    """Return the columns, moved towards the constant or away from it as far as allowed."""
    t = reach(cone, columns - columns.min(axis=0))
    moved = 1 + t * (columns - columns.min(axis=0))
    return np.asarray(moved / moved.max(axis=0))


def groups(cost: FloatArray, sizes: list[int]) -> Iterator[IntArray]:
    """Yield for each size, in increasing order, the group of every input; each has one output.

    Outputs are added greedily, each to reduce the sum of the least costs ``(n_inputs, n_outputs)``
    most; then groups choose their outputs and inputs their groups in alternation (Lloyd 1982).
    """
    least = np.full(len(cost), float(cost.max()))
    chosen: list[int] = []
    for size in sizes:
        while len(chosen) < size:
            best = int(np.argmin(np.minimum(cost, least[:, None]).sum(axis=0)))
            chosen.append(best)
            np.minimum(least, cost[:, best], out=least)
        outputs = np.array(chosen)
        for _ in range(SWAPS):
            member = np.argmin(cost[:, outputs], axis=1)
            sets = np.eye(len(outputs))[member]
            again = np.argmin(sets.T @ cost, axis=1)
            if (again == outputs).all():
                break
            outputs = again
        yield np.unique(member, return_inverse=True)[1]


def completed(cone: Cone, rays: FloatArray) -> FloatArray:
    """Return a channel of scaled rays that nearly sum to ones, and one more column.

    The last column is the rest, 1 - s Sum_y q_y, for the largest s at which it is private.
    """
    columns = rays * _sizes(rays)
    total = columns.sum(axis=1, keepdims=True)
    s = float(reach(cone, -total)[0])
    return np.hstack([s * columns, np.maximum(0.0, 1 - s * total)])


def _sizes(rays: FloatArray) -> FloatArray:
    """Return sizes >= 0 at which rays sum to ones, exactly or nearly.

    Multiplicative updates minimize the Kullback-Leibler divergence of 1 from the sum (Richardson
    1972, Lucy 1974); with as many rays as inputs there is at most one solution.
    """
    k, n = rays.shape
    if k == n:
        with contextlib.suppress(SolverError):
            solved = called("LAPACK", np.linalg.solve, rays, np.ones(k))
            found = checked("LAPACK", solved, (k,))
            if found.min() >= -NOTHING:
                return np.maximum(found, 0.0)
    share, sizes = rays.sum(axis=0), np.ones(n)
    for _ in range(UPDATES):
        sizes *= ((1 / (rays @ sizes)) @ rays) / share
    return sizes
