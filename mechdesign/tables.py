"""Exact tables of numbers or distances, held as integers: ``n / d`` or ``sqrt(n) / d``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.errors import InputError, shown
from mechdesign.exact import PRECISION, as_fraction, sqrt_lower, sqrt_upper

__all__ = ["ExactTable"]

Points = Sequence[tuple[Fraction, ...]]


class ExactTable:
    """A matrix of exact nonnegative numbers.

    Parameters
    ----------
    numerators
        ``(n_rows, n_columns)`` integers >= 0.
    denominator
        What the entries, or their roots, are over.
    root
        Whether entry ``(x, y)`` is ``sqrt(numerators[x, y]) / denominator`` and not
        ``numerators[x, y] / denominator``.
    is_metric
        Whether the table is known to hold the distances of a metric between its rows and columns,
        row x and column x being the same point. None: not known.

    Examples
    --------
    >>> table = ExactTable.distances([(0, 0), (1, 1)], [(0, 0)], "euclidean")
    >>> table.array
    array([[0.        ],
           [1.41421356]])
    >>> table.lower(1, 0) < table.upper(1, 0)
    True
    """

    def __init__(
        self,
        numerators: npt.NDArray[Any],
        denominator: int,
        *,
        root: bool = False,
        is_metric: bool | None = None,
    ) -> None:
        self.numerators, self.denominator, self.root = numerators, denominator, root
        self._is_metric = is_metric

    @classmethod
    def of(cls, rows: Any, key: str, shape: tuple[int | None, int | None]) -> ExactTable:
        """Read a matrix of numbers >= 0.

        Parameters
        ----------
        rows
            A list of lists of exact numbers.
        key
            What to call it in an error.
        shape
            The shape that it must have; None where any will do.

        Raises
        ------
        InputError
            If it is no such matrix; the message names the entry.
        """
        wanted = "" if None in shape else "{} x {} ".format(*shape)
        expected = f"a {wanted}matrix of numbers >= 0"
        if isinstance(rows, str | dict) or not isinstance(rows, Iterable):
            raise InputError(key, expected, shown(rows))
        table: list[list[Fraction]] = []
        for x, row in enumerate(rows):
            if isinstance(row, str | dict) or not isinstance(row, Iterable):
                raise InputError(f"{key}[{x}]", "a list of numbers >= 0", shown(row))
            table.append([])
            for y, entry in enumerate(row):
                number = as_fraction(entry, f"{key}[{x}][{y}]", expected="a finite number >= 0")
                if number < 0:
                    raise InputError(f"{key}[{x}][{y}]", "a finite number >= 0", shown(entry))
                table[x].append(number)
        width = len(table[0]) if table else 0
        if width == 0:
            raise InputError(key, expected, "an empty one")
        for x, line in enumerate(table):
            if len(line) != width:
                raise InputError(f"{key}[{x}]", f"a row of {width} numbers", f"{len(line)} numbers")
        if any(n not in (None, m) for n, m in zip(shape, (len(table), width), strict=True)):
            raise InputError(key, expected, f"a {len(table)} x {width} matrix")
        denominator = math.lcm(*(entry.denominator for line in table for entry in line))
        return cls(_integers(table, denominator), denominator)

    @classmethod
    def distances(cls, rows: Points, columns: Points, kind: str) -> ExactTable:
        """Return the distances between two lists of points.

        Parameters
        ----------
        rows, columns
            Points with exact coordinates, all of one dimension.
        kind
            ``"manhattan"`` (``"absolute"`` in one dimension), ``"euclidean"`` or ``"squared"``.
        """
        exact_rows = [[Fraction(part) for part in point] for point in rows]
        exact_columns = [[Fraction(part) for part in point] for point in columns]
        parts = [part for point in exact_rows + exact_columns for part in point]
        denominator = math.lcm(*(part.denominator for part in parts))
        a, b = _integers(exact_rows, denominator), _integers(exact_columns, denominator)
        difference = a[:, None, :] - b[None, :, :]
        if kind in ("manhattan", "absolute") or (kind == "euclidean" and a.shape[1] == 1):
            return cls(np.abs(difference).sum(axis=2), denominator, is_metric=rows == columns)
        squares = (difference * difference).sum(axis=2)
        if kind == "euclidean":
            return cls(squares, denominator, root=True, is_metric=rows == columns)
        return cls(squares, denominator**2)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_rows, n_columns)``."""
        return self.numerators.shape[0], self.numerators.shape[1]

    @property
    def array(self) -> npt.NDArray[np.float64]:
        """The entries as float64."""
        if self.root:
            return np.sqrt(self.numerators.astype(np.float64)) / self.denominator
        if self.numerators.dtype == object:
            return (self.numerators / self.denominator).astype(np.float64)
        return self.numerators / self.denominator

    def lower(self, x: int, y: int) -> Fraction:
        """Return a rational at most entry ``(x, y)``, equal to it where it is rational."""
        return self.bound(int(self.numerators[x, y]), up=False)

    def upper(self, x: int, y: int) -> Fraction:
        """Return a rational at least entry ``(x, y)``, equal to it where it is rational."""
        return self.bound(int(self.numerators[x, y]), up=True)

    def bound(self, numerator: int, *, up: bool) -> Fraction:
        """Return a rational bound on the entry that ``numerator`` stands for."""
        if not self.root:
            return Fraction(numerator, self.denominator)
        return (sqrt_upper if up else sqrt_lower)(Fraction(numerator, self.denominator**2))

    def upper_integers(self) -> tuple[list[list[int]], int]:
        """Return integers and what they are over: entries, rounded up where they are irrational."""
        rows = self.numerators.tolist()
        if not self.root:
            return rows, self.denominator
        rounded = {n: _root_above(n) for n in {entry for row in rows for entry in row}}
        return [[rounded[n] for n in row] for row in rows], self.denominator << PRECISION

    @property
    def is_metric(self) -> bool:
        """Whether rows and columns are the same points and the triangle inequality holds."""
        if self._is_metric is None:
            self._is_metric = self._check_metric()
        return self._is_metric

    def _check_metric(self) -> bool:
        n = self.numerators
        if self.root or n.shape[0] != n.shape[1] or (n != n.T).any() or n.diagonal().any():
            return False
        return all(bool((n <= n[:, [z]] + n[[z], :]).all()) for z in range(len(n)))


def _root_above(number: int) -> int:
    """Return the root of ``number << 2 * PRECISION``, rounded up."""
    scaled = number << 2 * PRECISION
    root = math.isqrt(scaled)
    return root + (root * root != scaled)


def _integers(table: list[list[Fraction]], denominator: int) -> npt.NDArray[Any]:
    """Return ``table * denominator``, as machine integers where squares of them fit."""
    whole = [
        [entry.numerator * (denominator // entry.denominator) for entry in row] for row in table
    ]
    largest = max((abs(entry) for row in whole for entry in row), default=0)
    return np.array(whole, dtype=np.int64 if largest < 2**30 else object)
