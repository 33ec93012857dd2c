"""Tables as users have them, arrays, DataFrames and lists, as columns of plain values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from mechdesign.errors import InputError, shown

__all__ = ["columns_of", "plain", "sorted_values"]


def columns_of(X: Any) -> tuple[list[list[Any]], list[Any] | None]:
    """Return the columns as lists of plain values, and their names where they have any.

    Raises
    ------
    InputError
        If there is no table, or it has no rows or no columns.
    """
    if hasattr(X, "iloc"):  # a pandas DataFrame or Series
        if X.ndim == 1:
            return _filled([plain(X)]), None if X.name is None else [X.name]
        return _filled([plain(X.iloc[:, j]) for j in range(X.shape[1])]), list(X.columns)
    if isinstance(X, np.ndarray):
        if X.ndim not in (1, 2):
            raise InputError("X", "a table of rows and columns", f"an array of {X.ndim} axes")
        table = X if X.ndim == 2 else X[:, None]
        return _filled([plain(table[:, j]) for j in range(table.shape[1])]), None
    if isinstance(X, str | bytes | dict) or not isinstance(X, Iterable):
        raise InputError("X", "a table of rows and columns", shown(X))
    try:
        rows = list(X)
    except TypeError:  # a sparse matrix that cannot be read row by row
        raise InputError("X", "a table of rows and columns", type(X).__name__) from None
    if not any(isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) for row in rows):
        return _filled([plain(rows)]), None
    try:
        return _filled([plain(column) for column in zip(*rows, strict=True)]), None
    except (TypeError, ValueError):
        raise InputError("X", "rows of one length", "rows of different lengths") from None


def _filled(columns: list[list[Any]]) -> list[list[Any]]:
    if not columns or not columns[0]:
        raise InputError("X", "at least one row and one column", "none")
    return columns


def plain(values: Any) -> list[Any]:
    """Return values as Python's own: numbers of NumPy become numbers."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [v.item() if isinstance(v, np.generic) else v for v in listed]


def sorted_values(column: list[Any]) -> list[Any]:
    """Return the different values, in order where they have one."""
    try:
        found = list(dict.fromkeys(column))
        return sorted(found)
    except TypeError:
        texts = all(isinstance(v, Hashable) for v in column)
        raise InputError(
            "X",
            "values of one kind, all text or all numbers, and none missing",
            "others" if texts else "values that are no labels",
            "give the categories",
        ) from None
