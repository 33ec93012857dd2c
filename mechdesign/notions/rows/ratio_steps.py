"""Label-correcting repair of ratio bounds, as in Bellman-Ford, for all outputs at once.

A row ``q_x <= m q_x'`` with m >= 1 requires ``q_x' >= q_x / m``. In logarithms the least column
above a given one that satisfies all rows is a longest-path problem on the graph of the pairs; here
entries are raised until every row holds. Entries are integers, multiples of 2**-62, and so are the
shares 1/m, rounded up: the result satisfies the rows exactly. An entry may exceed its least value
by a unit, or by 2**-50 of its size where floats are used; and :meth:`Raising.holds` may return
False where a row holds by less than a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from mechdesign._typing import BoolArray, FloatArray, Int64Array, IntArray

__all__ = ["FREE", "HALF", "LOW", "Raising", "share_above", "share_below"]

Blocks = list[tuple[np.int64, IntArray, IntArray]]

FREE = -1
"""The index of an unconstrained pair."""

BITS, HALF = 62, 31
LOW = (1 << HALF) - 1
"""A product of two numbers below 2**62 is computed from halves of 31 bits."""

ABOVE, BELOW = 1 + 2.0**-50, 1 - 2.0**-52
"""Factors that cover the rounding of a product of floats, and of a conversion to a float."""

WIDEST = (1 << BITS) - (1 << 20)
"""Shares up to this stay below 1 when :data:`ABOVE` rounds them up."""

CHUNK = 1 << 18
"""Entries of a temporary array that fits the cache of a processor."""


def share_above(q: Int64Array, share: Int64Array | np.int64) -> Int64Array:
    """Return ``q * share / 2**62``, rounded up, for numbers from 0 to 2**62.

    Examples
    --------
    >>> share_above(np.array([3, 4]), np.int64(1 << 61)).tolist()
    [2, 2]
    """
    return _share(q, share, LOW)


def share_below(q: Int64Array, share: Int64Array | np.int64) -> Int64Array:
    """Return ``q * share / 2**62``, rounded down, for numbers from 0 to 2**62.

    Examples
    --------
    >>> share_below(np.array([3, 4]), np.int64(1 << 61)).tolist()
    [1, 2]
    """
    return _share(q, share, 0)


def _share(q: Int64Array, share: Int64Array | np.int64, carry: int) -> Int64Array:
    high, low = q >> HALF, q & LOW
    share_high, share_low = share >> HALF, share & LOW
    middle = high * share_low + low * share_high + ((low * share_low + carry) >> HALF)
    part: Int64Array = high * share_high + ((middle + carry) >> HALF)
    return part


class Raising:
    """Rows on ratios, in a form for raising and checking columns.

    Parameters
    ----------
    index
        ``(size, size)`` integers: the bound on ``q_x / q_x'``, or -1 for none.
    limits
        The bounds, all at least 1.
    """

    def __init__(self, index: IntArray, limits: Sequence[Fraction]) -> None:
        self._index = index
        shares = [-((-limit.denominator << BITS) // limit.numerator) for limit in limits]
        self._shares = np.array(shares, dtype=np.int64)

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        x, other = np.nonzero(self._index != FREE)
        return x, other

    @cached_property
    def _blocks(self) -> Blocks | None:
        """The rows as ``(share, sources, targets)``, each source against each target.

        None if there would be many: rows are then processed one target at a time.
        """
        size, found = len(self._index), []
        if len(self._shares) > size // 4 + 8:
            return None
        for b, share in enumerate(self._shares):
            bounded = self._index == b
            sources = np.flatnonzero(bounded.any(axis=1))
            bounded[sources, sources] = True
            by_targets: dict[bytes, list[int]] = {}
            for x in sources.tolist():
                by_targets.setdefault(bounded[x].tobytes(), []).append(x)
            for members in by_targets.values():
                targets = np.flatnonzero(bounded[members[0]])
                found.append((share, np.array(members), targets))
            if len(found) > size // 4 + 8:
                return None
        return found

    @cached_property
    def _pulls(self) -> list[tuple[int, IntArray, FloatArray]]:
        """For each input, its lower bounds: the inputs concerned and their shares, rounded up.

        The inputs are ordered so that neighbors are close and one sweep propagates far.
        """
        x, other = self._pairs
        size = len(self._index)
        graph = sp.csr_array((np.ones(len(x)), (x, other)), shape=(size, size))
        order = reverse_cuthill_mckee(sp.csr_array(graph + graph.T), symmetric_mode=True).tolist()
        by_target = np.argsort(other, kind="stable")
        ends = np.searchsorted(other[by_target], np.arange(size + 1)).tolist()
        share = self._float_shares[self._index[x, other]]
        found = []
        for z in order:
            part = by_target[ends[z] : ends[z + 1]]
            if len(part):
                found.append((z, x[part], share[part][:, None]))
        return found

    @cached_property
    def _float_shares(self) -> FloatArray:
        """The shares as floats, rounded up enough to cover a product in floats as well."""
        shares: FloatArray = np.ldexp(self._shares.astype(np.float64), -BITS) * ABOVE
        return shares

    def raised(self, columns: Int64Array) -> Int64Array:
        """Return ``(n_inputs, n_outputs)`` columns raised by the least that makes all rows hold.

        Columns that satisfy all rows are unchanged.
        """
        bad = np.flatnonzero(~self.holds(columns))
        if not len(bad):
            return columns
        if self._blocks is not None:
            raised = self._raised_by_blocks
        elif int(self._shares[self._index[self._pairs]].max()) > WIDEST:
            raised = self._raised_by_pairs
        else:
            raised = self._raised_in_floats
        q = columns.copy()
        q[:, bad] = raised(q[:, bad])
        return q

    def _raised_by_blocks(self, q: Int64Array) -> Int64Array:
        while True:
            before = q.copy()
            for share, sources, targets in self._blocks or ():
                q[targets] = np.maximum(q[targets], share_above(q[sources].max(axis=0), share))
            if (q == before).all():
                return q

    def _raised_by_pairs(self, q: Int64Array) -> Int64Array:
        x, other = self._pairs
        shares = self._shares[self._index[x, other]]
        while True:
            before = q.copy()
            for a, z, share in zip(x.tolist(), other.tolist(), shares, strict=True):
                np.maximum(q[z], share_above(q[a], share), out=q[z])
            if (q == before).all():
                return q

    def _raised_in_floats(self, q: Int64Array) -> Int64Array:
        """Sweep forward and backward over integers that floats hold exactly, rounded down first.

        Products are rounded up, by at most 2**-50 of their size, and stay below their first factor:
        raising ends, and the rows then hold for these numbers exactly.
        """
        F = np.floor(q.astype(np.float64) * BELOW)
        F = np.where(q < 1 << 52, q, F)
        while True:
            before = F.copy()
            for steps in (self._pulls, self._pulls[::-1]):
                for z, sources, shares in steps:
                    np.maximum(F[z], np.ceil((F[sources] * shares).max(axis=0)), out=F[z])
            if (before == F).all():
                return F.astype(np.int64)

    def holds(self, columns: Int64Array) -> BoolArray:
        """Return for each column whether all its rows surely hold."""
        good = np.ones(columns.shape[1], dtype=bool)
        if self._blocks is not None:
            for share, sources, targets in self._blocks:
                above = share_above(columns[sources].max(axis=0), share)
                good &= above <= columns[targets].min(axis=0)
            return good
        x, other = self._pairs
        bound = self._index[x, other]
        step, floats = max(1, CHUNK // columns.shape[1]), columns.astype(np.float64)
        for first in range(0, len(x), step):
            left, right = x[first : first + step], other[first : first + step]
            b = bound[first : first + step]
            # floats decide most rows; the others are compared in integers
            unsure = floats[left] * self._float_shares[b][:, None] > floats[right] * BELOW
            row, y = np.nonzero(unsure)
            above = share_above(columns[left[row], y], self._shares[b[row]])
            good[y[above > columns[right[row], y]]] = False
        return good
