"""Gauss-Jordan elimination in rationals: columns that satisfy equations, and integers that do so.

A budget of 0 about a sensitive attribute makes Pr(y|s) equal for all its values s: equations on
every column, which no mixing loosens. Their solutions are the combinations of a rational basis;
those whose free entries are multiples of its common denominator are integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Basis: TypeAlias = list[tuple[Fraction, ...]]
"""``(size, n_basis)``: a row for each entry, unit vectors for the free entries."""

MOST_UNIT = 1 << 40
"""The largest useful grid unit."""


def null_space(rows: Sequence[Sequence[Fraction]], size: int) -> Basis:
    """Return a basis of {v : row . v = 0 for all rows}, by Gauss and Jordan.

    Examples
    --------
    >>> equation = [Fraction(2), Fraction(-1), Fraction(-1)]
    >>> [[str(v) for v in row] for row in null_space([equation], 3)]
    [['1/2', '1/2'], ['1', '0'], ['0', '1']]
    """
    pivots = reduced(rows, size)
    free = [x for x in range(size) if x not in pivots]
    return [
        tuple(-pivots[x][z] for z in free) if x in pivots else tuple(Fraction(x == z) for z in free)
        for x in range(size)
    ]


def reduced(rows: Sequence[Sequence[Fraction]], size: int) -> dict[int, list[Fraction]]:
    """Return the reduced rows by pivot: each is 1 at its pivot, and 0 at the other pivots.

    Pivots are among the first ``size`` entries; right-hand sides may follow them.

    Examples
    --------
    >>> one, half = Fraction(1), Fraction(1, 2)
    >>> [(x, str(row[2])) for x, row in reduced([[one, one, one], [half, -half, half]], 2).items()]
    [(0, '1'), (1, '0')]
    """
    pivots: dict[int, list[Fraction]] = {}
    for equation in rows:
        row = list(equation)
        for place, head in pivots.items():
            row = _less(row, row[place], head)
        pivot = max(range(size), key=lambda x: abs(row[x]))
        if not row[pivot]:
            continue
        row = [entry / row[pivot] for entry in row]
        for place, head in pivots.items():
            pivots[place] = _less(head, head[pivot], row)
        pivots[pivot] = row
    return pivots


def _less(row: list[Fraction], times: Fraction, other: list[Fraction]) -> list[Fraction]:
    return [a - times * b for a, b in zip(row, other, strict=True)] if times else row


def on_grid(basis: Basis, Q: npt.NDArray[np.float64], whole: int) -> npt.NDArray[np.int64] | None:
    """Return integer columns in the span of a basis, near ``whole`` times those of a channel.

    Parameters
    ----------
    basis
        A basis whose span contains the constants.
    Q
        ``(size, n_outputs)``, a channel.
    whole
        The sum of each row of the result.

    Returns
    -------
    columns
        Integers; None if the grid is too coarse, or an entry would be negative.
    """
    unit = math.lcm(*(entry.denominator for row in basis for entry in row))
    if unit > MOST_UNIT:
        return None
    width = len(basis[0])
    units = [tuple(Fraction(i == j) for j in range(width)) for i in range(width)]
    free = [basis.index(row) for row in units]
    steps = [[round(v * (whole / unit)) for v in Q[x].tolist()] for x in free]
    scaled = np.array([[int(entry * unit) for entry in row] for row in basis], dtype=object)
    columns = scaled @ np.array(steps, dtype=object)
    columns[:, int(np.argmax(Q.min(axis=0)))] += whole - columns.sum(axis=1)
    return columns.astype(np.int64) if columns.min() >= 0 else None
