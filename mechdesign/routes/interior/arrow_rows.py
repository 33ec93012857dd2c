"""Rows on one entry and one auxiliary variable each: reading them, and their layout in arrays.

    row i:  alpha_i q[x_i] + beta_i h[j_i] <= 0

An auxiliary variable is free (t <= q_x, the least entry under LDP) or defined by the column
(h = P . q, the probability of the output).
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
    x, auxiliary, alpha, beta
        ``(n_rows,)`` each. Auxiliary variables are numbered with the free ones first.
    definition
        ``(n_inputs,)``: the last auxiliary variable as a combination of entries; None if all are
        free.
    n_free
        How many auxiliary variables are free.
    places
        ``(n_rows,)``: where each row stands among the rows of the stacked families, whose other
        rows define auxiliary variables.
    """

    x: IntArray
    auxiliary: IntArray
    alpha: FloatArray
    beta: FloatArray
    definition: FloatArray | None
    n_free: int
    places: IntArray

    @property
    def n_auxiliary(self) -> int:
        """How many auxiliary variables there are."""
        return self.n_free + (self.definition is not None)

    def is_like(self, other: ArrowRows) -> bool:
        """Return whether the rows of another column have the same pattern."""
        return (
            self.n_free == other.n_free
            and self.n_auxiliary == other.n_auxiliary
            and np.array_equal(self.x, other.x)
            and np.array_equal(self.auxiliary, other.auxiliary)
            and np.array_equal(self.places, other.places)
        )


def read_arrow(parts: Sequence[ExtendedFormulation], k: int) -> ArrowRows | None:
    """Read the rows of one column of k entries from its compressed families.

    Returns None if some row touches more than one entry and one auxiliary variable, if there is no
    row, or if auxiliary variables are defined in more than one way.
    """
    found = []
    defined: list[int] = []
    definitions: list[FloatArray] = []
    n_auxiliary = first_row = 0
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
        where[1] += n_auxiliary - k
        for i in np.flatnonzero(part.equal):
            combination, mine = np.zeros(k), (row == i) & is_entry
            combination[A.indices[mine]] = -A.data[mine] / value[1, i]
            definitions.append(combination)
            defined.append(int(where[1, i]))
        places = first_row + kept
        found.append((where[0, kept], where[1, kept], value[0, kept], value[1, kept], places))
        n_auxiliary += A.shape[1] - k
        first_row += n_rows
    x, auxiliary, alpha, beta, places = (
        np.concatenate(arrays) for arrays in zip(*found, strict=True)
    )
    used = set(auxiliary.tolist())
    used_definitions = [own for j, own in zip(defined, definitions, strict=True) if j in used]
    if not len(x) or any((own != used_definitions[0]).any() for own in used_definitions):
        return None
    free = sorted(used.difference(defined))
    number = np.full(n_auxiliary, len(free))  # those with one definition are one
    number[free] = np.arange(len(free))
    definition = used_definitions[0] if used_definitions else None
    return ArrowRows(x, number[auxiliary], alpha, beta, definition, len(free), places)


class Layout:
    """Rows in layers: within a layer an entry has one auxiliary variable, and rows in some slots.

    So each slot of all layers is one array, and the loops of a factor are over slots and layers.

    Attributes
    ----------
    slots
        For each slot the row of each entry in each layer, as an index of ``n_layers * k`` rows.
    real
        ``(n_layers, k, 1)`` for each slot: 1 where there is such a row, else 0; the index is then
        of no meaning.
    member
        ``(n_layers, n_auxiliary, k)``: 1 where the auxiliary variable is that of the entry, else 0.
    by_entry
        Pairs (rows, entries) that together are all rows, no entry twice in a pair.
    """

    def __init__(self, rows: ArrowRows, k: int) -> None:
        of_entry: list[list[int]] = [[] for _ in range(k)]
        slot_of: dict[tuple[int, int], list[int]] = {}
        for i, (x, j) in enumerate(zip(rows.x.tolist(), rows.auxiliary.tolist(), strict=True)):
            if j not in of_entry[x]:
                of_entry[x].append(j)
            slot_of.setdefault((of_entry[x].index(j), x), []).append(i)
        n_layers, n_slots = max(map(len, of_entry)), max(map(len, slot_of.values()))
        index = np.zeros((n_slots, n_layers, k), dtype=np.intp)
        is_real = np.zeros((n_slots, n_layers, k), dtype=bool)
        for (layer, x), found in slot_of.items():
            index[: len(found), layer, x], is_real[: len(found), layer, x] = found, True
        self.slots = [as_slice(slot.ravel()) for slot in index]
        self.real: list[FloatArray] = [slot[:, :, None].astype(float) for slot in is_real]
        self.member: FloatArray = np.zeros((n_layers, rows.n_auxiliary, k))
        for x, mine in enumerate(of_entry):
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
