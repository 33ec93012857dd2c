"""Row-stochastic matrices in integers over a power of two: read, checked, and rounded to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import as_fraction, is_whole
from mechdesign.labels import labels_of

BITS = 62
"""Entries are whole multiples of 2**-62, so that a row fits machine integers."""

HALF = 32
LOW = (1 << HALF) - 1

DUST = 1e-200

ROW_TOLERANCE = 1e-9
"""How far from 1 a given float row may sum before it is refused as a mistake."""


def whole_matrix(numerators: Any, bits: int) -> AnyArray:
    """Return integers >= 0 whose rows sum to ``2**bits`` as an array that cannot be written to.

    They are machine integers where those serve.
    """
    if bits <= BITS and _sums_to_whole(numerators, bits):
        return _frozen(numerators)
    rows = _rows(numerators)
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        fault = "the rows must be of one length, and not empty"
        raise InputError("numerators", "a matrix", "others", fault=fault)
    for x, row in enumerate(rows):
        if min(row) < 0:
            raise InputError(f"numerators[{x}]", "integers >= 0", min(row))
        if sum(row) != 1 << bits:
            raise InputError(f"numerators[{x}]", f"a sum of 2**{bits}", sum(row))
    if bits <= BITS:
        return _frozen(np.array(rows, dtype=np.int64))
    table: AnyArray = np.array(rows, dtype=object)
    table.flags.writeable = False
    return table


def _frozen(table: AnyArray) -> AnyArray:
    """Return a copy of bytes, which cannot be made writeable again."""
    return np.frombuffer(table.tobytes(), dtype=np.int64).reshape(table.shape)


def _sums_to_whole(table: Any, bits: int) -> bool:
    """Return whether it is an array of machine integers >= 0 whose rows sum to ``2**bits``.

    Halves of 32 bits are added up, which do not overflow.
    """
    if not isinstance(table, np.ndarray) or table.dtype != np.int64 or table.ndim != 2:
        return False
    if not table.size or table.min() < 0:
        return False
    low = (table & LOW).sum(axis=1)
    high = (table >> HALF).sum(axis=1) + (low >> HALF)
    return bool(((high == (1 << bits) >> HALF) & (low & LOW == (1 << bits) & LOW)).all())


def rounded_rows(matrix: Sequence[Sequence[Any]]) -> list[list[int]]:
    """Return rows of probabilities in units of 2**-62, rounded so that each sums to 1 exactly.

    Examples
    --------
    >>> [[n / 2**62 for n in row] for row in rounded_rows([["3/4", 0.25]])]
    [[0.75, 0.25]]
    """
    rows = []
    for x, given in enumerate(matrix):
        if len(given) != len(matrix[0]):
            expected = f"{len(matrix[0])} entries, as in the first row"
            raise InputError(f"matrix[{x}]", expected, len(given))
        row = [_entry_of(entry, f"matrix[{x}][{y}]") for y, entry in enumerate(given)]
        total = sum(row, Fraction(0))
        if abs(total - 1) > ROW_TOLERANCE:
            raise InputError(f"matrix[{x}]", "a row that sums to 1", f"sum {float(total):.12g}")
        rows.append(_round_row([entry / total for entry in row]))
    return rows


def _entry_of(value: Any, key: str) -> Fraction:
    """Return an exact probability; floats too small to matter, which solvers leave, are 0."""
    if isinstance(value, float) and abs(value) < DUST:
        return Fraction(0)
    return as_fraction(value, key, expected="a finite number >= 0", least=0)


def _rows(numerators: Any) -> list[list[int]]:
    """Return the rows of a matrix of integers."""
    given: Any = numerators
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype == np.int64:
        return list(given.tolist())
    rows = listed(numerators, "numerators", "a matrix: a list of rows")
    if any(labels_of(part, "numerators") is not None for part in (numerators, *rows)):
        hint = "Channel.from_matrix takes probabilities by label"
        fault = "the matrix has labels"
        raise InputError("numerators", "integers by position", "labels", hint, fault)
    entries = "a list of integers"
    return [
        [_integer(entry) for entry in listed(row, f"numerators[{x}]", entries)]
        for x, row in enumerate(rows)
    ]


def _integer(entry: Any) -> int:
    if not is_whole(entry):
        hint = "Channel.from_matrix takes probabilities"
        raise InputError("numerators", "integers", shown(entry), hint)
    return int(entry)


def _round_row(row: list[Fraction]) -> list[int]:
    """Round to integers that sum to 2**62: floors, then one more where most was lost."""
    scaled = [entry * (1 << BITS) for entry in row]
    floors = [entry.numerator // entry.denominator for entry in scaled]
    left = (1 << BITS) - sum(floors)
    losses = sorted(range(len(row)), key=lambda y: scaled[y] - floors[y], reverse=True)
    for y in losses[:left]:
        floors[y] += 1
    return floors
