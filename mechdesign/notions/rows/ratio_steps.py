"""Raising columns until every ratio holds: all outputs at once, in machine integers.

A row ``q_x <= m q_x'`` with m >= 1 asks ``q_x' >= q_x / m``. Entries are whole multiples of 2**-62,
and so are the shares 1/m here, rounded up: what these steps leave satisfies the rows exactly. An
entry may be larger than it need be by a unit, or by 2**-50 of its size where floats are used; and
:meth:`Raising.holds` may say no where a row holds by less than a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from mechdesign._typing import FloatArray, Int64Array, IntArray

__all__ = ["FREE", "HALF", "LOW", "Raising", "share_above", "share_below"]

Blocks = list[tuple[np.int64, IntArray, IntArray]]

FREE = -1
"""The index of a pair that is not constrained."""

BITS, HALF = 62, 31
LOW = (1 << HALF) - 1
CHUNK = 1 << 18

ABOVE, BELOW = 1 + 2.0**-50, 1 - 2.0**-52
WIDEST = (1 << BITS) - (1 << 20)
"""Shares up to this stay below 1 when they are rounded up."""


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
    """Rows on ratios, in the form in which columns are raised and checked.

    Parameters
    ----------
    index
        ``(size, size)`` integers: the bound on ``q_x / q_x'``, or -1 for none.
    limits
        The bounds, all at least 1.
    near
        Pairs ``(x, x')`` from which the others follow; None for all that are bounded.
    """

    def __init__(
        self, index: IntArray, limits: Sequence[Fraction], near: tuple[IntArray, IntArray] | None
    ) -> None:
        self._index, self._near = index, near
        shares = [-((-limit.denominator << BITS) // limit.numerator) for limit in limits]
        self._shares = np.array(shares, dtype=np.int64)

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        if self._near is not None:
            return self._near
        x, other = np.nonzero(self._index != FREE)
        return x, other

    @cached_property
    def _blocks(self) -> Blocks | None:
        """The rows as ``(share, sources, targets)``, each source against each target.

        None where there would be many: then the rows are better taken one target at a time.
        """
        size, found = len(self._index), []
        if self._near is not None or len(self._shares) > size // 4 + 8:
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
        """For each input, those that it must not fall behind, with the share of each, rounded up.

        In an order in which neighbours are close, so that what one raises is seen by the next.
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
        """The shares as floats, rounded up by enough to cover a product in floats as well."""
        shares: FloatArray = np.ldexp(self._shares.astype(np.float64), -BITS) * ABOVE
        return shares

    def raised(self, columns: Int64Array) -> Int64Array:
        """Return ``(n_inputs, n_outputs)`` columns raised by the least that makes all rows hold.

        Columns for which they do stay as they are.
        """
        bad = np.flatnonzero(~self.holds(columns))
        if not len(bad):
            return columns
        q = columns.copy()
        part = q[:, bad]
        if self._blocks is not None:
            q[:, bad] = self._raised_by_blocks(part, self._blocks)
        elif int(self._shares[self._index[self._pairs]].max()) > WIDEST:
            q[:, bad] = self._raised_by_pairs(part)
        else:
            q[:, bad] = self._raised_in_floats(part)
        return q

    def _raised_by_blocks(self, q: Int64Array, blocks: Blocks) -> Int64Array:
        while True:
            before = q.copy()
            for share, sources, targets in blocks:
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
        """Work on whole numbers that floats hold, after a first rounding down to such.

        Products are rounded up, by 2**-50 of their size at most, and so are still below what they
        are a share of: raising ends, and the rows then hold for these numbers exactly.
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

    def holds(self, columns: Int64Array) -> npt.NDArray[np.bool_]:
        """Return for each column whether all its rows hold for sure."""
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
            # floats settle most rows; those that they cannot tell are compared in integers
            unsure = floats[left] * self._float_shares[b][:, None] > floats[right] * BELOW
            row, y = np.nonzero(unsure)
            above = share_above(columns[left[row], y], self._shares[b[row]])
            good[y[above > columns[right[row], y]]] = False
        return good
