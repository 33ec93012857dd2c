"""Rows of a cone in integers: exact feasibility of columns, with a floating-point filter.

A row ``left . q <= e**a (right . q)`` becomes ``g . q <= 0`` with integers g in proportion to
``left - r right``, where r is a rational just below e**a. Most products g . q are so far below 0
that floating point decides their sign; the others are computed in integers of any size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.exact import exp_lower
from mechdesign.notions.rows.row import Row

__all__ = ["ExactRows"]

UNIT = 2.0**-52
TINY = 2.0**-900
"""An upper bound on the error from coefficients below the smallest float."""

SPARE = 8
"""Roundings of one term, besides those of the sum: of its coefficient, its entry, their product."""


class ExactRows:
    """Rows as integer vectors g, one for each row, with g . q <= 0.

    Parameters
    ----------
    rows
        The rows, exact; coefficients by the number of the entry.
    size
        The number of entries of a column.
    """

    def __init__(self, rows: Sequence[Row], size: int) -> None:
        self.rows, self.size = rows, size
        self.integers = [_integers(row) for row in rows]
        """The nonzero entries of each row, by index."""

    def _matrix(self, rows: Sequence[dict[int, Any]]) -> sp.csr_array:
        places = [(r, x) for r, row in enumerate(rows) for x in row]
        values = np.array([float(v) for row in rows for v in row.values()])
        r, x = np.array(places, dtype=np.intp).reshape(-1, 2).T
        return sp.csr_array((values, (r, x)), shape=(len(rows), self.size))

    @cached_property
    def terms(self) -> sp.csr_array:
        """The rows ``e**-a left - right`` as floats: the cost that a multiplier of 1 adds."""
        return self._matrix([_terms(row) for row in self.rows])

    @cached_property
    def scale(self) -> FloatArray:
        """The largest absolute entry of each row of :attr:`terms`; 1 for a row of zeros."""
        largest = np.asarray(abs(self.terms).max(axis=1).todense()).ravel()
        return np.where(largest > 0, largest, 1.0)

    @cached_property
    def matrix(self) -> sp.csr_array:
        """The rows as floats, scaled to a largest absolute entry of 1."""
        return sp.csr_array(sp.diags_array(1 / self.scale) @ self.terms)

    @cached_property
    def sides(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Where g is positive and where it is negative, as zeros and ones."""
        positive = [{x: 1 for x, v in row.items() if v > 0} for row in self.integers]
        negative = [{x: 1 for x, v in row.items() if v < 0} for row in self.integers]
        return self._matrix(positive), self._matrix(negative)

    @cached_property
    def tight(self) -> list[int]:
        """The rows that constant columns satisfy with equality, up to the rounding of e**a."""
        return [r for r, row in enumerate(self.integers) if row and not sum(row.values())]

    @cached_property
    def _filter(self) -> tuple[sp.csr_array, FloatArray]:
        """The rows scaled to floats, and a bound on the relative error of each product."""
        scaled = []
        for row in self.integers:
            most = max(map(abs, row.values()), default=1)
            scaled.append({x: v / most for x, v in row.items()})
        length = np.array([len(row) for row in self.integers], dtype=np.float64)
        return self._matrix(scaled), (length + SPARE) * UNIT

    def product(self, row: int, column: Sequence[int]) -> int:
        """Return g . q, exactly."""
        return sum(v * column[x] for x, v in self.integers[row].items())

    def surely_holding(self, columns: npt.NDArray[Any]) -> BoolArray:
        """Return for each column of integers >= 0 whether floats prove that its rows hold."""
        if columns.dtype == object:
            return np.zeros(columns.shape[1], dtype=bool)
        G, error = self._filter
        q = columns.astype(np.float64)
        sure: BoolArray = (G @ q < -(error[:, None] * (abs(G) @ q) + TINY)).all(axis=0)
        return sure

    def raise_needed(self, column: Sequence[int], direction: Sequence[int]) -> int | None:
        """Return the least t >= 0 for which ``column + t * direction`` satisfies all rows.

        A violated row needs t = (g . q) / -(g . d), if that is positive. The largest of these may
        violate a row that the direction makes worse; then no t exists.
        """
        needed = 0
        for r in range(len(self.rows)):
            lack = self.product(r, column)
            if lack <= 0:
                continue
            gain = -self.product(r, direction)
            if gain <= 0:
                return None
            needed = max(needed, -(-lack // gain))
        raised = [q + needed * d for q, d in zip(column, direction, strict=True)]
        fits = all(self.product(r, raised) <= 0 for r in range(len(self.rows)))
        return needed if fits else None


def _integers(row: Row) -> dict[int, int]:
    """Return left - r right times a common denominator, without zeros; r is just below e**a."""
    limit = exp_lower(row.exponent)
    both = (*row.left.values(), *row.right.values())
    whole = math.lcm(*(v.denominator for v in both))
    net = {
        x: v.numerator * (whole // v.denominator) * limit.denominator for x, v in row.left.items()
    }
    for x, v in row.right.items():
        net[x] = net.get(x, 0) - v.numerator * (whole // v.denominator) * limit.numerator
    return {x: v for x, v in net.items() if v}


def _terms(row: Row) -> dict[int, Fraction]:
    """Return e**-a left - right, with a rational just below e**-a."""
    shrink = exp_lower(-row.exponent)
    net = {x: shrink * v for x, v in row.left.items()}
    for x, v in row.right.items():
        net[x] = net.get(x, Fraction(0)) - v
    return net
