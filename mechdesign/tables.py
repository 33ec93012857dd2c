"""Exact tables of numbers or distances, held as integers: ``n / d`` or ``sqrt(n) / d``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.domain import Label
from mechdesign.errors import InputError
from mechdesign.exact import as_fraction, fraction_text, sqrt_lower, sqrt_upper
from mechdesign.labels import Labels, aligned, by_label, split_matrix

Points = Sequence[tuple[Fraction, ...]]


class ExactTable:
    """A matrix ``numerators / denominator`` of exact numbers, or their roots if ``root``.

    Parameters
    ----------
    numerators, denominator
        ``(n_rows, n_columns)`` integers, and one above 0.
    root
        Whether entries are ``sqrt(numerators) / denominator``, as Euclidean distances are.
    row_labels, column_labels
        The labels of the rows and columns, if the matrix has them.

    Examples
    --------
    >>> table = ExactTable.distances([(0, 0), (1, 1)], [(0, 0)], "euclidean")
    >>> table.lower(1, 0) < table.upper(1, 0)
    True
    """

    def __init__(
        self,
        numerators: AnyArray,
        denominator: int,
        *,
        root: bool = False,
        row_labels: Labels | None = None,
        column_labels: Labels | None = None,
    ) -> None:
        self.numerators, self.denominator, self.root = numerators, denominator, root
        self.row_labels, self.column_labels = row_labels, column_labels

    @classmethod
    def of(cls, rows: Any, key: str) -> ExactTable:
        """Read a matrix of numbers >= 0, of lists by position, or of dicts or a frame by label."""
        if isinstance(rows, ExactTable):
            return rows
        expected = "a matrix of numbers >= 0"
        listed, row_labels, column_labels = split_matrix(
            rows, key, expected, "a list of numbers >= 0"
        )
        wanted = "a finite number >= 0"
        table = [
            [
                as_fraction(entry, f"{key}[{x}][{y}]", expected=wanted, least=0)
                for y, entry in enumerate(row)
            ]
            for x, row in enumerate(listed)
        ]
        width = len(table[0]) if table else 0
        if width == 0:
            raise InputError(key, expected, "an empty one")
        for x, line in enumerate(table):
            if len(line) != width:
                raise InputError(f"{key}[{x}]", f"a row of {width} numbers", f"{len(line)} numbers")
        denominator = math.lcm(*(entry.denominator for line in table for entry in line))
        numerators = _integers(table, denominator)
        return cls(numerators, denominator, row_labels=row_labels, column_labels=column_labels)

    @classmethod
    def of_function(
        cls, function: Callable[[Any, Any], Any], rows: Labels, columns: Labels, key: str
    ) -> ExactTable:
        """Return the table of a function of two labels, exact if its values are."""
        return cls.of([[function(x, y) for y in columns] for x in rows], key)

    def aligned(
        self, rows: Sequence[Label], columns: Sequence[Label], key: str, what: str = "output"
    ) -> ExactTable:
        """Return the table with its rows and columns in the order of these labels.

        Sides without labels count by position. The error contains ``what`` the columns are.
        """
        if not self.has_labels:
            if self.shape != (len(rows), len(columns)):
                wanted = f"a {len(rows)} x {len(columns)} matrix"
                expected = f"{wanted}, a row for each input, a column for each {what}"
                raise InputError(key, expected, "a {} x {} matrix".format(*self.shape))
            return self
        x = aligned(range(self.shape[0]), self.row_labels, rows, f"{key}, rows")
        y = aligned(range(self.shape[1]), self.column_labels, columns, f"{key}, columns", what)
        return ExactTable(self.numerators[np.ix_(x, y)], self.denominator, root=self.root)

    @property
    def has_labels(self) -> bool:
        """Whether rows or columns are given by label."""
        return self.row_labels is not None or self.column_labels is not None

    def for_inputs(self, inputs: Sequence[Label], key: str) -> ExactTable:
        """Return the table of guesses with one column for each input, in order."""
        return self.aligned(self.row_labels or range(self.shape[0]), inputs, key, "input")

    def to_table(self) -> Any:
        """Return the entries as exact text: a list of rows, or a dict by label.

        An irrational entry is rounded down.
        """
        rows = [
            by_label([fraction_text(self.bound(n, up=False)) for n in row], self.column_labels)
            for row in self.numerators.tolist()
        ]
        return by_label(rows, self.row_labels)

    @classmethod
    def distances(cls, rows: Points, columns: Points, kind: str) -> ExactTable:
        """Return the distances between two lists of points of one dimension.

        ``kind`` is ``"manhattan"`` (in one dimension ``"absolute"``), ``"euclidean"`` or
        ``"squared"``.
        """
        exact_rows = [[Fraction(part) for part in point] for point in rows]
        exact_columns = [[Fraction(part) for part in point] for point in columns]
        parts = [part for point in exact_rows + exact_columns for part in point]
        denominator = math.lcm(*(part.denominator for part in parts))
        a, b = _integers(exact_rows, denominator), _integers(exact_columns, denominator)
        difference = a[:, None, :] - b[None, :, :]
        if kind in ("manhattan", "absolute") or (kind == "euclidean" and a.shape[1] == 1):
            return cls(np.abs(difference).sum(axis=2), denominator)
        squares = (difference * difference).sum(axis=2)
        if kind == "euclidean":
            return cls(squares, denominator, root=True)
        return cls(squares, denominator**2)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_rows, n_columns)``."""
        return self.numerators.shape[0], self.numerators.shape[1]

    @property
    def array(self) -> FloatArray:
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


def _integers(table: list[list[Fraction]], denominator: int) -> AnyArray:
    """Return ``table * denominator``, as machine integers if their squares fit."""
    whole = [
        [entry.numerator * (denominator // entry.denominator) for entry in row] for row in table
    ]
    largest = max((abs(entry) for row in whole for entry in row), default=0)
    return np.array(whole, dtype=np.int64 if largest < 2**30 else object)
