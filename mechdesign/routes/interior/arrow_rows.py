"""Rows that touch one entry and one helper each: reading them, and laying them out in arrays.

    row i:  alpha_i q[x_i] + beta_i h[j_i] <= 0

A helper is free (t <= q_x, the least entry under LDP) or defined by the column (P . q, its law).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.routes.lp.extended_formulation import ExtendedFormulation

__all__ = ["ArrowRows", "Index", "Layout", "read_arrow"]

Index = IntArray | slice


@dataclass(frozen=True)
class ArrowRows:
    """The rows of one column.

    Attributes
    ----------
    x, helper, alpha, beta
        ``(n_rows,)`` each. Helpers are numbered with the free ones first.
    law
        ``(n_inputs,)``: what the last helper is, as a combination of entries; None if all are free.
    n_free
        How many helpers are free.
    places
        ``(n_rows,)``: where each row stands among the rows of the stacked families, whose other
        rows define helpers.
    """

    x: IntArray
    helper: IntArray
    alpha: FloatArray
    beta: FloatArray
    law: FloatArray | None
    n_free: int
    places: IntArray

    @property
    def n_helpers(self) -> int:
        """How many helpers there are."""
        return self.n_free + (self.law is not None)

    def is_like(self, other: ArrowRows) -> bool:
        """Return whether the rows of another column have the same pattern."""
        return (
            self.n_free == other.n_free
            and self.n_helpers == other.n_helpers
            and np.array_equal(self.x, other.x)
            and np.array_equal(self.helper, other.helper)
            and np.array_equal(self.places, other.places)
        )


def read_arrow(parts: Sequence[ExtendedFormulation], k: int) -> ArrowRows | None:
    """Read the rows of one column of k entries from its compressed families.

    Returns None if some row touches more than one entry and one helper, if there is no row, or if
    the column defines helpers in more than one way.
    """
    found = []
    defined: list[int] = []
    laws: list[FloatArray] = []
    n_helpers = first_row = 0
    for part in parts:
        A, n_rows = part.A, part.A.shape[0]
        row = np.repeat(np.arange(n_rows), np.diff(A.indptr))
        where = np.zeros((2, n_rows), dtype=np.intp)
        value, count = np.zeros((2, n_rows)), np.zeros((2, n_rows), dtype=np.intp)
        is_entry = A.indices < k
        for side, mine in enumerate((is_entry, ~is_entry)):
            where[side, row[mine]], value[side, row[mine]] = A.indices[mine], A.data[mine]
            count[side] = np.bincount(row[mine], minlength=n_rows)
        kept = np.flatnonzero(~part.equal)
        if (count[1] != 1).any() or (count[0, kept] != 1).any():
            return None
        where[1] += n_helpers - k
        for i in np.flatnonzero(part.equal):
            law, mine = np.zeros(k), (row == i) & is_entry
            law[A.indices[mine]] = -A.data[mine] / value[1, i]
            laws.append(law)
            defined.append(int(where[1, i]))
        places = first_row + kept
        found.append((where[0, kept], where[1, kept], value[0, kept], value[1, kept], places))
        n_helpers += A.shape[1] - k
        first_row += n_rows
    x, helper, alpha, beta, places = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    used = set(helper.tolist())
    used_laws = [law for j, law in zip(defined, laws, strict=True) if j in used]
    if not len(x) or any((law != used_laws[0]).any() for law in used_laws):
        return None
    free = sorted(used.difference(defined))
    number = np.full(n_helpers, len(free))  # helpers with one law are one
    number[free] = np.arange(len(free))
    one_law = used_laws[0] if used_laws else None
    return ArrowRows(x, number[helper], alpha, beta, one_law, len(free), places)


class Layout:
    """Rows in layers: within a layer an entry has one helper, and rows on it in some slots.

    Attributes
    ----------
    slots
        For each slot the row of each entry in each layer, as an index of ``n_layers * k`` rows.
    real
        ``(n_layers, k, 1)`` for each slot: 1 where there is such a row, else 0; the index is then
        of no meaning.
    member
        ``(n_layers, n_helpers, k)``: 1 where the helper is that of the entry, else 0.
    by_entry
        Pairs (rows, entries) that together are all rows, no entry twice in a pair.
    """

    def __init__(self, rows: ArrowRows, k: int) -> None:
        helpers: list[list[int]] = [[] for _ in range(k)]
        slot_of: dict[tuple[int, int], list[int]] = {}
        for i, (x, j) in enumerate(zip(rows.x.tolist(), rows.helper.tolist(), strict=True)):
            if j not in helpers[x]:
                helpers[x].append(j)
            slot_of.setdefault((helpers[x].index(j), x), []).append(i)
        n_layers, n_slots = max(map(len, helpers)), max(map(len, slot_of.values()))
        index = np.zeros((n_slots, n_layers, k), dtype=np.intp)
        is_real = np.zeros((n_slots, n_layers, k), dtype=bool)
        for (layer, x), found in slot_of.items():
            index[: len(found), layer, x], is_real[: len(found), layer, x] = found, True
        self.slots = [as_slice(slot.ravel()) for slot in index]
        self.real: list[FloatArray] = [slot[:, :, None].astype(float) for slot in is_real]
        self.member: FloatArray = np.zeros((n_layers, rows.n_helpers, k))
        for x, mine in enumerate(helpers):
            self.member[np.arange(len(mine)), mine, x] = 1
        self.by_entry: list[tuple[Index, Index]] = [
            (as_slice(places[mine]), as_slice(np.flatnonzero(mine)))
            for slot, real in zip(index, is_real, strict=True)
            for places, mine in zip(slot, real, strict=True)
        ]


def as_slice(index: IntArray) -> Index:
    """Return an index as a slice if it is a range: taking that copies nothing."""
    first = int(index[0]) if len(index) else 0
    if np.array_equal(index, np.arange(first, first + len(index))):
        return slice(first, first + len(index))
    return index
