"""Reports as columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from mechdesign.collection.tables.cells import text_array
from mechdesign.reports import Alphabet, Labels, Numbers

__all__ = ["ReportColumns"]

SMALLEST, LARGEST = -(2**63), 2**63 - 1


class ReportColumns:
    """Writes reports as one column; as two, where every label is a pair and two are asked for.

    Whole numbers stay such; other labels are text, unless numbers are to stay numbers. Reports that
    are no labels, as sets, are text as the alphabet writes them.

    Parameters
    ----------
    alphabet
        The reports.
    names
        One name, of any kind, or two for pairs.
    floats
        Whether labels that are all numbers, not all of them whole, are a column of floats.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> columns = ReportColumns(Labels(Domain.grid(2, 2)), ("row", "column"))
    >>> {name: cells.to_pylist() for name, cells in columns.of(np.array([3, 1])).items()}
    {'row': [1, 0], 'column': [1, 1]}
    """

    def __init__(self, alphabet: Alphabet, names: tuple[str, ...], floats: bool = False) -> None:
        self._alphabet, self.names = alphabet, names
        self._labels: list[Any] | None = None
        if isinstance(alphabet, Numbers) or not isinstance(alphabet, Labels):
            self._as_they_are = isinstance(alphabet, Numbers)
        else:
            labels = alphabet.outputs.labels
            self._as_they_are = labels == tuple(range(len(labels)))
            parts: list[Any] = [labels]
            if len(names) == 2 and all(isinstance(x, tuple) and len(x) == 2 for x in labels):
                parts = list(zip(*labels, strict=True))
            self._labels = [_cells(part, floats) for part in parts]
        if len(self._labels or [None]) < len(names):
            self.names = (", ".join(names),)

    def of(self, data: Any, categorical: bool = False) -> dict[str, pa.Array]:
        """Return the columns of reports, given as an array of the alphabet.

        Parameters
        ----------
        data
            The reports.
        categorical
            Whether labels are to be categories.
        """
        if self._labels is not None and categorical:
            codes = pa.array(data.astype(np.int32, copy=False))
            return {
                name: pa.DictionaryArray.from_arrays(codes, labels)
                for name, labels in zip(self.names, self._labels, strict=True)
            }
        if self._as_they_are:
            return {self.names[0]: pa.array(data)}
        if self._labels is None:
            return {self.names[0]: text_array(self._alphabet.write(data))}
        places = pa.array(data)
        return {
            name: labels.take(places) for name, labels in zip(self.names, self._labels, strict=True)
        }


def _cells(labels: Any, floats: bool) -> pa.Array:
    """Return labels as whole numbers or as floats where they are such, else as text."""
    if all(isinstance(label, int) and SMALLEST <= label <= LARGEST for label in labels):
        return pa.array(labels, pa.int64())
    if floats and all(isinstance(label, int | float) for label in labels):
        return pa.array([float(label) for label in labels])
    return text_array([str(label) for label in labels])
