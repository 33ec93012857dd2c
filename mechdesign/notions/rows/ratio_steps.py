"""Label-correcting repair of ratio bounds, as in Bellman-Ford, for all outputs at once.

A row ``q_x <= m q_z`` with m >= 1 requires ``q_z >= q_x / m``. In logarithms the least column above
a given one that satisfies all rows is a longest-path problem on the graph of the pairs; here
entries are raised until every row holds. Entries are integers, multiples of 2**-62, and so are the
shares 1/m, rounded up: the result satisfies the rows exactly. An entry may exceed its least value
by a unit, and :meth:`Raising.holds` may return False where a row holds by less than a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from mechdesign._typing import BoolArray, Int64Array, IntArray

FREE = -1
"""The index of an unconstrained pair."""

BITS, HALF = 62, 31
LOW = (1 << HALF) - 1
"""A product of two numbers below 2**62 is computed from halves of 31 bits."""


def share_above(q: Int64Array, share: Int64Array | np.int64) -> Int64Array:
    """Return ``q * share / 2**62``, rounded up, for numbers from 0 to 2**62."""
    return _share(q, share, LOW)


def share_below(q: Int64Array, share: Int64Array | np.int64) -> Int64Array:
    """Return ``q * share / 2**62``, rounded down, for numbers from 0 to 2**62."""
    return _share(q, share, 0)


def _share(q: Int64Array, share: Int64Array | np.int64, carry: int) -> Int64Array:
    high, low = q >> HALF, q & LOW
    share_high, share_low = share >> HALF, share & LOW
    middle = high * share_low + low * share_high + ((low * share_low + carry) >> HALF)
    part: Int64Array = high * share_high + ((middle + carry) >> HALF)
    return part


class Raising:
    """Rows on ratios, in a form for raising and checking columns.

    ``index`` is ``(size, size)``: the number of the bound on ``q_x / q_z``, or -1 for none. All
    bounds are at least 1.
    """

    def __init__(self, index: IntArray, limits: Sequence[Fraction]) -> None:
        shares = [-((-limit.denominator << BITS) // limit.numerator) for limit in limits]
        self._index, self._shares = index, np.array(shares, dtype=np.int64)

    @cached_property
    def _bounds(self) -> list[tuple[IntArray, Int64Array, IntArray]]:
        """The rows as ``(sources, shares, targets)``: each target against all sources.

        Inputs with the same lower bounds are targets of one entry, as all are under LDP: an input
        may count as a source of itself, since shares are at most 1. Equal shares are one number.
        The entries are ordered so that neighbors are close and one sweep propagates far.
        """
        index = self._index.copy()
        np.fill_diagonal(index, index.max(axis=1))
        graph = sp.csr_array((index != FREE).astype(np.int8))
        order = reverse_cuthill_mckee(sp.csr_array(graph + graph.T), symmetric_mode=True)
        by_sources: dict[bytes, list[int]] = {}
        for z in order.tolist():
            by_sources.setdefault(index[:, z].tobytes(), []).append(z)
        found = []
        for targets in by_sources.values():
            bound = index[:, targets[0]]
            sources = np.flatnonzero(bound != FREE)
            if len(sources):
                shares = self._shares[bound[sources]]
                shares = shares[0] if (shares == shares[0]).all() else shares[:, None]
                found.append((sources, shares, np.array(targets)))
        return found

    def raised(self, columns: Int64Array) -> Int64Array:
        """Return ``(n_inputs, n_outputs)`` columns raised by the least that makes all rows hold.

        Columns that satisfy all rows are unchanged.
        """
        bad = np.flatnonzero(~self.holds(columns))
        if not len(bad):
            return columns
        raised = columns.copy()
        q, before = columns[:, bad], None
        while before is None or (q != before).any():
            before = q.copy()
            for sweep in (self._bounds, self._bounds[::-1]):
                for sources, shares, targets in sweep:
                    q[targets] = np.maximum(q[targets], _largest(q[sources], shares))
        raised[:, bad] = q
        return raised

    def holds(self, columns: Int64Array) -> BoolArray:
        """Return for each column whether all its rows surely hold."""
        good = np.ones(columns.shape[1], dtype=bool)
        for sources, shares, targets in self._bounds:
            good &= _largest(columns[sources], shares) <= columns[targets].min(axis=0)
        return good


def _largest(q: Int64Array, shares: Int64Array) -> Int64Array:
    """Return the largest share of each column; of equal shares it is that of the largest entry."""
    if shares.ndim == 0:
        return share_above(q.max(axis=0), shares)
    largest: Int64Array = share_above(q, shares).max(axis=0)
    return largest
