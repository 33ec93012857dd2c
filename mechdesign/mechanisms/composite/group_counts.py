"""Counts of reports by group: one tally for each part of a composite mechanism."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import AnyArray, Int64Array
from mechdesign.mechanisms.subsets.bit_rows import BitRows
from mechdesign.reports import Alphabet
from mechdesign.sampling import pieces

CELLS = 1 << 22
"""Bits unpacked at a time."""

WORTH_SORTING = 1 << 18
"""Number of bits of a group from which its reports are counted separately."""


def count_by_group(
    alphabet: Alphabet, data: AnyArray, group: Int64Array, n_groups: int
) -> Int64Array:
    """Return the counts of reports of one alphabet by group, ``(n_groups, size)``.

    Parameters
    ----------
    data
        Reports of the alphabet.
    group
        ``(n,)`` the group of each report, from 0.
    """
    size = alphabet.n_counts
    if is_numbered(data):  # one count for each number
        counts = np.bincount(group * size + data, minlength=n_groups * size)
        return counts.reshape(n_groups, size).astype(np.int64)
    if n_groups == 1:
        return alphabet.count(data)[None]
    table = np.zeros((n_groups, size), dtype=np.int64)
    if isinstance(alphabet, BitRows) and len(data) * size < n_groups * WORTH_SORTING:
        for piece in pieces(len(data), max(1, CELLS // size)):  # one count for each bit
            table += _bits_each(data[piece], group[piece], table.shape)
        return table
    order = np.argsort(group.astype(np.uint16) if n_groups < 1 << 16 else group, kind="stable")
    present, starts = np.unique(group[order], return_index=True)
    ends = [*starts[1:].tolist(), len(order)]
    for g, start, end in zip(present.tolist(), starts.tolist(), ends, strict=True):
        table[g] = alphabet.count(data[order[start:end]])
    return table


def _bits_each(rows: AnyArray, group: Int64Array, shape: tuple[int, int]) -> Int64Array:
    """Return the number of rows with each bit set, by group, as one sparse product.

    Sums of fewer than 2**24 ones are exact in single precision.
    """
    bits = np.unpackbits(rows, axis=1, count=shape[1], bitorder="little").astype(np.float32)
    ones, ends = np.ones(len(rows), dtype=np.float32), np.arange(len(rows) + 1)
    member = sp.csc_array((ones, group, ends), shape=(shape[0], len(rows)))
    return np.asarray(member @ bits, dtype=np.int64)


def is_numbered(data: AnyArray) -> bool:
    """Return whether reports are stored as numbers."""
    return data.ndim == 1 and data.dtype == np.int64
