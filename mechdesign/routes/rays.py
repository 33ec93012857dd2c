"""Extreme rays of a cone, in floating point, all of them where they are few.

Double description on all rays at once: the orthant's units are cut by one row after the other, and
each row makes a new ray of every pair of adjacent rays on its two sides (Fukuda and Prodon 1996).
Nothing is proved here: the checker enumerates again, in integers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mechdesign.errors import UnsupportedError
from mechdesign.notions import Cone
from mechdesign.notions.pair_rows import PairRows
from mechdesign.routes.compress import chain_reduced
from mechdesign.routes.one_budget import OneBudget

__all__ = ["MOST_RAYS", "all_rays"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

MOST_RAYS = 10_000
MOST_LISTED = 1 << 14
"""Rays of one budget, which need no search."""

MOST_PAIRS = 1 << 26
TIGHT = 1e-11
"""A row that is this near 0, relative to its terms, is tight."""

CHUNK = 1 << 22


def all_rays(cone: Cone) -> FloatArray:
    """Return all extreme rays, largest entry 1, shape ``(n_inputs, n_rays)``.

    Raises
    ------
    UnsupportedError
        If there are more than :data:`MOST_RAYS`, or finding them would take too long; or if the
        cone is so thin that rounding leaves none.
    """
    if not cone.equal_classes().any():  # all inputs are tied: one ray, which floats might miss
        return np.ones((cone.size, 1))
    budget = OneBudget.of(cone)
    listed = None if budget is None else budget.subset_rays(MOST_LISTED)
    if listed is not None:
        return listed
    reduced = [chain_reduced(f) if isinstance(f, PairRows) else f for f in cone.families]
    G = np.unique(Cone(reduced).matrix().toarray(), axis=0)
    G = G / np.abs(G).max(axis=1, keepdims=True, initial=1e-300)
    k = cone.size
    rays: FloatArray = np.eye(k)
    tight: BoolArray = ~np.eye(k, dtype=bool)
    for row in G:
        value = rays @ row
        near = np.abs(value) <= TIGHT * (rays @ np.abs(row))
        bad, good = np.flatnonzero((value > 0) & ~near), np.flatnonzero((value < 0) & ~near)
        if len(bad) * len(good) > MOST_PAIRS:
            raise _too_many()
        first, second = _adjacent(tight, bad, good, k)
        made = value[first, None] * rays[second] - value[second, None] * rays[first]
        made /= made.max(axis=1, keepdims=True, initial=1e-300)
        kept = np.concatenate([np.flatnonzero(near), good])
        old = np.column_stack([tight[kept], near[kept]])
        new = np.column_stack([tight[first] & tight[second], np.ones(len(first), dtype=bool)])
        rays, tight = np.concatenate([rays[kept], made]), np.concatenate([old, new])
        if len(rays) > MOST_RAYS:
            raise _too_many()
    if not len(rays):
        thick = "a cone that floats can tell from a line"
        raise UnsupportedError("epsilon", thick, "a thinner one")
    return np.ascontiguousarray(rays.T)


def _adjacent(
    tight: BoolArray, bad: npt.NDArray[np.intp], good: npt.NDArray[np.intp], k: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the pairs, one of each side, that no third ray shares all tight rows with."""
    ones = tight.astype(np.float32)
    first: list[npt.NDArray[np.intp]] = [np.zeros(0, dtype=np.intp)]
    second: list[npt.NDArray[np.intp]] = [np.zeros(0, dtype=np.intp)]
    shared = ones[bad] @ ones[good].T
    i, j = np.nonzero(shared >= k - 2)
    step = max(1, CHUNK // max(1, len(tight)))
    for start in range(0, len(i), step):
        a, b = bad[i[start : start + step]], good[j[start : start + step]]
        both = ones[a] * ones[b]
        sizes = both.sum(axis=1)
        holders = ((both @ ones.T) >= sizes[:, None] - 0.5).sum(axis=1)
        alone = holders == 2
        first.append(a[alone])
        second.append(b[alone])
    return np.concatenate(first), np.concatenate(second)


def _too_many() -> UnsupportedError:
    return UnsupportedError(
        "domain", f"a cone of at most {MOST_RAYS} extreme rays to list them all", "more"
    )
