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

HALF = BITS // 2
MASK = (1 << HALF) - 1

DUST = 1e-200

ROW_TOLERANCE = 1e-9
"""How far from 1 a given float row may sum before it is refused as a mistake."""


def whole_matrix(numerators: Any, bits: int) -> AnyArray:
    """Return integers >= 0 whose rows sum to ``2**bits`` as an array that cannot be written to."""
    table = _integers(numerators, bits)
    if table.size == 0:
        raise InputError("numerators", "a matrix", "none", fault="the matrix is empty")
    _check_rows(table, bits)
    return _frozen(table)


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
        for y, entry in enumerate(row):
            if entry < 0:
                raise InputError(f"matrix[{x}][{y}]", "a number >= 0", float(entry))
        if abs(total - 1) > ROW_TOLERANCE:
            raise InputError(f"matrix[{x}]", "a row that sums to 1", f"sum {float(total):.12g}")
        rows.append(_round_row([entry / total for entry in row]))
    return rows


def _entry_of(value: Any, key: str) -> Fraction:
    """Return an exact probability; floats too small to matter, which solvers leave, are 0."""
    if isinstance(value, float) and abs(value) < DUST:
        return Fraction(0)
    return as_fraction(value, key)


def _rows(matrix: Any, key: str) -> list[list[Any]]:
    expected = "a matrix: a list of rows"
    rows = listed(matrix, key, expected)
    if any(labels_of(part, key) is not None for part in (matrix, *rows)):
        hint = "Channel.from_matrix takes probabilities by label"
        raise InputError(key, "integers by position", "labels", hint, "the matrix has labels")
    return [listed(row, f"{key}[{x}]", "a list of integers") for x, row in enumerate(rows)]


def _integers(numerators: Any, bits: int) -> AnyArray:
    """Return a matrix of integers, of machine integers where those serve."""
    given = numerators
    if not (isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype == np.int64):
        rows = [[_integer(entry) for entry in row] for row in _rows(numerators, "numerators")]
        if not rows or any(len(row) != len(rows[0]) for row in rows):
            fault = "the rows must be of one length, and not empty"
            raise InputError("numerators", "a matrix", "others", fault=fault)
        given = np.array(rows, dtype=object).reshape(len(rows), len(rows[0]))
        for x, row in enumerate(rows):
            if any(not 0 <= entry <= 1 << bits for entry in row):
                _refuse(x, row, bits)
    table: AnyArray = given.astype(np.int64 if bits <= BITS else object)
    return table


def _check_rows(table: AnyArray, bits: int) -> None:
    """Raise unless all entries are at least 0 and all rows sum to 2**bits."""
    if table.dtype == object:
        good = [min(row) >= 0 and sum(row) == 1 << bits for row in table.tolist()]
    else:  # in two halves, whose sums cannot overflow
        high, low = (table >> HALF).sum(axis=1), (table & MASK).sum(axis=1)
        whole = 1 << bits
        right = (high + (low >> HALF) == whole >> HALF) & (low & MASK == whole & MASK)
        good = (right & (table.min(axis=1) >= 0)).tolist()
    if not all(good):
        x = good.index(False)
        _refuse(x, table[x].tolist(), bits)


def _refuse(x: int, row: list[int], bits: int) -> None:
    if min(row) < 0:
        raise InputError(f"numerators[{x}]", "integers >= 0", min(row))
    raise InputError(f"numerators[{x}]", f"a sum of 2**{bits}", sum(row))


def _frozen(table: AnyArray) -> AnyArray:
    """Return an array that cannot be made writeable again, where machine integers serve."""
    if table.dtype == object:
        table.flags.writeable = False
        return table
    return np.frombuffer(table.tobytes(), dtype=np.int64).reshape(table.shape)


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
