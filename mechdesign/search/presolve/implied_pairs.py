"""Removal of bounds on ratios that follow from chains of others.

With E the lengths, all positive, a pair with some z such that E[x, z] + E[z, x'] <= E[x, x']
follows from the other two. Of k**2 pairs on a line, 2 (k - 1) remain.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.search.cones.shortest_paths import closure
from mechdesign.search.presolve.reduction import ConicProgram, Reduced

CHAIN_TOLERANCE = 1e-13
"""Chains longer than a pair by less than this relative amount are ties."""

SHORTEST = 1e-9
"""Pairs of at most this length may imply each other both ways."""


def without_implied(program: ConicProgram) -> Reduced | None:
    """Remove the pairs that others of the same notion imply.

    The remaining rows are rows of the notion, so multipliers on them stay the same.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Domain, MetricPrivacy
    >>> cone = MetricPrivacy(1, "manhattan").cone(Domain.grid(7, 7))
    >>> without_implied(ConicProgram(cone, np.ones((49, 1)))).note
    '2,184 of 2,352 pairs follow from others'
    """
    cone = thinned(program.cone)
    more, fewer = (sum(r.n_pairs for r in c.ratios.values()) for c in (program.cone, cone))
    if more == fewer:
        return None
    verb = "follows" if more - fewer == 1 else "follow"
    note = f"{more - fewer:,} of {more:,} pairs {verb} from others"
    return Reduced((replace(program, cone=cone),), note)


def thinned(cone: Cone) -> Cone:
    """Return a cone without the implied pairs of its families.

    The exact check of the result catches pairs removed only because of rounding.
    """
    thin = {n: thin_pairs(rows) for n, rows in cone.ratios.items()}
    return Cone([thin.get(n, family) for n, family in enumerate(cone.families)])


def thin_pairs(family: PairRows) -> PairRows:
    """Return bounds on ratios without those that others imply."""
    finite = family.index != FREE
    if family.near is None:
        kept = finite & ~implied_pairs(family.lengths())
    else:
        kept = finite & family.near
    return family if (kept == finite).all() else family.on_pairs(kept)


def implied_pairs(E: FloatArray) -> BoolArray:
    """Return which pairs follow from a chain of others.

    All of them can be removed at once: as lengths are positive, a pair is longer than each pair of
    a chain that implies it, so by induction on the length the remaining pairs imply all. A first
    pass looks only for chains of a remaining pair and one more pair of any kind; the result has the
    same shortest paths, and a second pass looks for chains of a remaining pair and a shortest path.
    On a line each input keeps its neighbors, on a Manhattan grid its four neighbors. This takes a
    few operations on ``(n_inputs, n_inputs)`` arrays.

    Parameters
    ----------
    E
        As in :func:`~mechdesign.search.cones.shortest_paths.closure`. Where a length is (nearly) 0
        pairs may imply each other, and nothing is removed.
    """
    finite = np.isfinite(E)
    np.fill_diagonal(finite, False)
    nothing = np.zeros_like(finite)
    if len(E) < 3 or not finite.any():
        return nothing
    least, most = float(E[finite].min()), float(E[finite].max())
    if least <= max(SHORTEST, 2 * CHAIN_TOLERANCE * most) or 2 * least > (1 + 1e-9) * most:
        return nothing
    far = np.where(finite, E, np.inf)
    kept = _not_by_two(far, far, finite)
    left = np.where(kept, E, np.inf)
    np.fill_diagonal(left, 0.0)
    paths = closure(left)
    np.fill_diagonal(paths, np.inf)
    return finite & ~_not_by_two(far, paths, kept)


def _not_by_two(E: FloatArray, rest: FloatArray, pairs: BoolArray) -> BoolArray:
    """Return the pairs (x, x') with no z such that (x, z) remains and E[x, z] + rest[z, x'] does.

    In each round every input keeps its shortest open pair and closes the pairs implied by chains
    that begin with it.
    """
    kept = np.zeros_like(pairs)
    row = np.flatnonzero(pairs.any(axis=1))
    open_lengths = np.where(pairs, E, np.inf)[row]
    reach = E[row] * (1 + CHAIN_TOLERANCE)
    last = np.where(pairs[row], E[row], 0.0).max(axis=1)
    shortest = float(rest.min())
    while len(row):
        place = np.arange(len(row))
        z = open_lengths.argmin(axis=1)
        step = open_lengths[place, z]
        # a chain is at least this step and the shortest pair long: if that exceeds every length
        # of the input, all its open pairs stay
        done = step + shortest > last * (1 + CHAIN_TOLERANCE)
        kept[row[done]] |= np.isfinite(open_lengths[done])
        if done.any():
            row, open_lengths, reach = row[~done], open_lengths[~done], reach[~done]
            last, z, step = last[~done], z[~done], step[~done]
            place = place[: len(row)]
        kept[row, z] = True
        open_lengths[place, z] = np.inf
        open_lengths[step[:, None] + rest[z] <= reach] = np.inf
    return kept
