"""What follows from what: lengths of pairs, shortest paths, and pairs that others imply.

A pair bounds ln(q_x / q_x') by its length E[x, x'], so that two pairs in a row bound it by the sum
of theirs: the bounds that a family implies are the shortest paths between its inputs. Everything
here is in floating point and used numerically only; certificates speak of the rows of the notion.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.notions.rows.pair_rows import FREE, PairRows

__all__ = ["closure", "implied_pairs", "lengths", "masked"]


CHAIN_TOLERANCE = 1e-13
"""Chains longer than a pair by less than this share of it are ties."""

SHORTEST = 1e-9
"""Pairs at this length or less may imply each other both ways."""

MOST_SPARSE = 0.1
"""The share of pairs up to which paths are searched from each input, not through each."""


def lengths(family: PairRows) -> FloatArray:
    """Return E of shape ``(n_inputs, n_inputs)``: q_x <= e**E[x, x'] q_x'; inf where no row is.

    The diagonal is 0.

    Examples
    --------
    >>> from mechdesign import ContextAwareLDP, Domain
    >>> lengths(ContextAwareLDP([[0, 0.5], ["inf", 0]]).family(Domain(["a", "b"])))
    array([[0. , 0.5],
           [inf, 0. ]])
    """
    exponents = np.array([float(b.exponent(family.epsilon)) for b in family.bounds])
    of_bound = np.append(exponents + np.log(family.factors), np.inf)
    E: FloatArray = np.where(family.index == FREE, np.inf, of_bound[family.index])
    np.fill_diagonal(E, 0.0)
    return E


def closure(E: FloatArray) -> FloatArray:
    """Return the lengths of shortest paths, with the same channels.

    Parameters
    ----------
    E
        ``(n_inputs, n_inputs)`` lengths >= 0; inf where no row is. The diagonal is ignored.

    Examples
    --------
    >>> closure(np.array([[0, 1, 5], [np.inf, 0, 2], [np.inf, 0, 0]]))
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf,  0.,  0.]])
    """
    given = np.isfinite(E)
    np.fill_diagonal(given, False)
    x, other = np.nonzero(given)
    graph = csr_array((E[given], (x, other)), shape=E.shape)  # zeros stay, as edges of length 0
    by_each = len(x) <= MOST_SPARSE * E.size or not E[given].all()
    method: Literal["D", "FW"] = "D" if by_each else "FW"
    found: FloatArray = np.asarray(shortest_path(graph, method=method))
    return found


def implied_pairs(E: FloatArray) -> BoolArray:
    """Return which pairs follow from a chain of others: all of them can be dropped at once.

    Lengths must be positive, so that a pair is longer than each part of a chain that implies it.
    First only chains are seen that start with a pair that is kept and end with any one pair; what
    is left has the same shortest paths, in the light of which it is looked at again. On a line
    each input keeps its neighbours, on a city-block grid the four next to it, and the time is that
    of a few operations on ``(n_inputs, n_inputs)`` arrays.

    Parameters
    ----------
    E
        As in :func:`closure`. Nothing follows where a length is (nearly) 0.
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
    implied: BoolArray = finite & ~_not_by_two(far, paths, kept)
    return implied


def _not_by_two(E: FloatArray, rest: FloatArray, pairs: BoolArray) -> BoolArray:
    """Return the pairs (x, x') with no z such that (x, z) stays and E[x, z] + rest[z, x'] does.

    In each round every input takes its nearest pair that is still open, and closes what follows.
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
        # beyond this step nothing can follow, so that all that is open stays
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


def masked(family: PairRows, kept: BoolArray) -> PairRows:
    """Return the rows of a family on some of its pairs."""
    index = np.where(kept, family.index, FREE)
    x, other = np.nonzero(index != FREE)
    return PairRows(family.name, family.bounds, index, family.epsilon, (x, other))
