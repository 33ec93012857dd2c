"""All extreme rays of a cone, by the double description method in floating point.

It begins with the unit vectors, the rays of the orthant, and adds one row g . q <= 0 at a time:
rays with g . q > 0 are removed, and every pair of adjacent rays on the two sides gives a new one,
on g . q = 0. Two rays are adjacent if no third one has all their common tight rows. This proves
nothing: the checker enumerates again, in integers.

Source: Fukuda and Prodon 1996.
"""

from __future__ import annotations

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import UnsupportedError
from mechdesign.notions import Cone
from mechdesign.resources import current
from mechdesign.search.cones.forms import OneBudgetCone
from mechdesign.search.limits import Limits
from mechdesign.search.presolve.reductions import thinned

MOST_RAYS = 10_000
"""The largest number of rays of an enumeration."""

MOST_LISTED = 1 << 14
"""The largest number of rays of a cone of one budget, which need no enumeration."""

MOST_STEPS, STEPS_A_SECOND = 1_000_000_000, 20_000_000
"""The largest number of comparisons of 64 rows of two rays, and the number per second of a time
limit: about a tenth of it."""

PAIR_STEPS, RAY_STEPS, GAIN_STEPS = 40, 25, 600
"""Checker steps for a pair that may be adjacent, for an entry of a new ray, and for the gain of a
ray."""

TIGHT = 1e-11
"""A row this close to 0, relative to its terms, is tight."""

CHUNK = 1 << 20
"""Comparisons made at a time."""


def all_rays(cone: Cone, limits: Limits | None = None) -> FloatArray:
    """Return all extreme rays, largest entry 1, shape ``(n_inputs, n_rays)``.

    Raises
    ------
    UnsupportedError
        If there are more than :data:`MOST_RAYS`, or finding them takes too many steps; or if the
        cone is so thin that rounding removes all.
    """
    limits = limits or Limits()
    steps = _Steps(limits.steps(MOST_STEPS, STEPS_A_SECOND), limits)
    if not cone.equal_classes().any():  # all entries are equal: one ray, which rounding might miss
        return np.ones((cone.size, 1))
    budget = OneBudgetCone.of(cone, scaled=True)
    if budget is not None:
        listed = budget.subset_rays(MOST_LISTED)
        if listed is None:
            raise _too_many()
        return listed
    rows = thinned(cone).matrix()
    steps.take(cone.size * rows.shape[0] * rows.shape[0].bit_length())
    G = np.unique(rows.toarray(), axis=0)
    G = G / np.abs(G).max(axis=1, keepdims=True, initial=1e-300)
    k = cone.size
    rays: FloatArray = np.eye(k)
    tight: BoolArray = ~np.eye(k, dtype=bool)
    for row in G:
        value = rays @ row
        near = np.abs(value) <= TIGHT * (rays @ np.abs(row))
        bad, good = np.flatnonzero((value > 0) & ~near), np.flatnonzero((value < 0) & ~near)
        if not len(bad):  # the previous rows imply this one
            continue
        first, second = _adjacent(tight, bad, good, k, steps)
        steps.foresee(RAY_STEPS * k * len(first))
        made = value[first, None] * rays[second] - value[second, None] * rays[first]
        made /= made.max(axis=1, keepdims=True, initial=1e-300)
        kept = np.concatenate([np.flatnonzero(near), good])
        old = np.column_stack([tight[kept], near[kept]])
        new = np.column_stack([tight[first] & tight[second], np.ones(len(first), dtype=bool)])
        rays, tight = np.concatenate([rays[kept], made]), np.concatenate([old, new])
        if len(rays) > MOST_RAYS:
            raise _too_many()
    steps.foresee(GAIN_STEPS * len(rays))
    if not len(rays):
        thick = "a cone that floats can tell from a line"
        raise UnsupportedError("epsilon", thick, "a thinner one")
    return np.ascontiguousarray(rays.T)


class _Steps:
    """Counts comparisons, and ends the enumeration after too many."""

    def __init__(self, most: int, limits: Limits) -> None:
        self._left, self._limits = most, limits
        self._readable = current().proof_steps

    def take(self, steps: int) -> None:
        """Count the following steps."""
        self._left -= steps
        if self._left < 0 or self._limits.expired():
            raise _too_many()

    def foresee(self, steps: int) -> None:
        """Count the steps of the checker, which enumerates again."""
        self._readable -= steps
        if self._readable < 0:
            raise _too_many()


def _adjacent(
    tight: BoolArray, bad: IntArray, good: IntArray, k: int, steps: _Steps
) -> tuple[IntArray, IntArray]:
    """Return the pairs, one of each side, that no third ray shares all tight rows with."""
    flags, n_words = tight.astype(np.float32), -(-tight.shape[1] // 64)
    steps.take(len(bad) * len(good) * n_words)
    steps.foresee(len(bad) * len(good) // 2)
    # two rays span a face of dimension 2 only if at least k - 2 rows are tight on both
    i, j = np.nonzero(flags[bad] @ flags[good].T >= k - 2)
    steps.foresee(PAIR_STEPS * len(i))
    first, second, alone = bad[i], good[j], np.zeros(len(i), dtype=bool)
    step = max(1, CHUNK // len(tight))
    for start in range(0, len(i), step):
        part = slice(start, start + step)
        both = flags[first[part]] * flags[second[part]]
        steps.take(len(both) * len(tight) * n_words)
        holds = both @ flags.T == both.sum(axis=1, keepdims=True)
        alone[part] = holds.sum(axis=1) == 2
    return first[alone], second[alone]


def _too_many() -> UnsupportedError:
    return UnsupportedError(
        "domain", f"a cone of at most {MOST_RAYS} extreme rays to list them all", "more"
    )
