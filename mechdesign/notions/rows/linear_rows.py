"""Arbitrary rows ``left . q <= e**a (right . q)``, identified by number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from mechdesign._typing import IntArray
from mechdesign.notions.rows.family import Family
from mechdesign.notions.rows.least import LOWEST
from mechdesign.notions.rows.row import CarryBack, Row

__all__ = ["LinearRows"]


class LinearRows(Family):
    """Rows that are listed one by one.

    Parameters
    ----------
    rows
        The rows at ``epsilon``; coefficients by the number of the input.
    size
        The number of inputs.
    epsilon
        The epsilon of the bounds.
    floor
        The smallest reported leakage.
    numbers
        The number of each row, in increasing order; default 0, 1, 2, ...
    """

    def __init__(
        self,
        rows: Sequence[Row],
        size: int,
        epsilon: Fraction,
        floor: float = LOWEST,
        numbers: IntArray | None = None,
    ) -> None:
        self._rows, self.size, self.epsilon, self.floor = tuple(rows), size, epsilon, floor
        self.row_numbers = np.arange(len(self._rows)) if numbers is None else numbers

    def rows(self) -> Iterator[Row]:
        """Yield the rows."""
        yield from self._rows

    def at(self, epsilon: Fraction) -> LinearRows:
        """Return the rows with their exponents at another epsilon."""
        more = epsilon - self.epsilon
        rows = [row._replace(exponent=row.exponent + row.slope * more) for row in self._rows]
        return LinearRows(rows, self.size, epsilon, self.floor, self.row_numbers)

    def restricted(self, inputs: IntArray) -> LinearRows:
        """Return the rows on a subset of the inputs, with their numbers."""
        place = {x: n for n, x in enumerate(inputs.tolist())}
        kept = [r for r, row in enumerate(self._rows) if place.keys() & {*row.left, *row.right}]
        rows = [_placed(self._rows[r], place) for r in kept]
        numbers = self.row_numbers[kept]
        return LinearRows(rows, len(inputs), self.epsilon, self.floor, numbers)

    def merged(self, member_of: IntArray) -> tuple[LinearRows, CarryBack]:
        """Add up the coefficients of each class; the numbers of the rows stay."""
        place = dict(enumerate(member_of.tolist()))
        rows = [_placed(row, place) for row in self._rows]
        size = int(member_of.max()) + 1
        family = LinearRows(rows, size, self.epsilon, self.floor, self.row_numbers)
        return family, lambda found: found


def _placed(row: Row, place: Mapping[int, int]) -> Row:
    """Return a row with its coefficients moved and added up; those without a new place go."""
    left: dict[int, Fraction] = {}
    right: dict[int, Fraction] = {}
    for side, moved in ((row.left, left), (row.right, right)):
        for x, v in side.items():
            if x in place:
                moved[place[x]] = moved.get(place[x], Fraction(0)) + v
    return row._replace(left=left, right=right)
