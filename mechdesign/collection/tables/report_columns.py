"""Reports as columns of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from mechdesign.collection.tables.cells import text_array
from mechdesign.reports import Alphabet, Labels, Numbers

SMALLEST, LARGEST = -(2**63), 2**63 - 1

Columns = Callable[[Any, bool], list[pa.Array]]
"""Returns the columns of an array of reports; the second argument asks for categorical columns."""


def report_columns(
    alphabet: Alphabet, names: tuple[Any, ...], floats: bool = False
) -> tuple[tuple[Any, ...], Columns]:
    """Return the names of the columns of reports, and a function that makes the columns.

    There is one column, or two if two names are given and every label is a pair. Integers stay
    integers; other labels are text, unless ``floats`` is set. Reports that are not labels, such as
    sets, are text in the notation of the alphabet.

    Parameters
    ----------
    alphabet
        The reports.
    names
        One name of any type, or two names for pairs.
    floats
        Whether numeric labels that are not all integers are a column of floats.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> names, write = report_columns(Labels(Domain.grid(2, 2)), ("row", "column"))
    >>> names, [cells.to_pylist() for cells in write(np.array([3, 1]), False)]
    (('row', 'column'), [[1, 0], [1, 1]])
    """
    one: tuple[Any, ...] = names if len(names) == 1 else (", ".join(names),)
    if isinstance(alphabet, Numbers):
        return one, lambda data, _: [pa.array(data)]
    if not isinstance(alphabet, Labels):
        return one, lambda data, _: [text_array(alphabet.write(data))]
    labels: Any = alphabet.outputs.labels
    numbered = labels == tuple(range(len(labels)))
    parts = [labels]
    if len(names) == 2 and all(isinstance(label, tuple) and len(label) == 2 for label in labels):
        one, parts = names, list(zip(*labels, strict=True))
    cells = [_cells(part, floats) for part in parts]

    def write(data: Any, categorical: bool) -> list[pa.Array]:
        if categorical:
            codes = pa.array(data.astype(np.int32, copy=False))
            return [pa.DictionaryArray.from_arrays(codes, own) for own in cells]
        places = pa.array(data)
        return [places] if numbered else [own.take(places) for own in cells]

    return one, write


def _cells(labels: Any, floats: bool) -> pa.Array:
    """Return labels as integers or floats if they are, else as text."""
    if all(isinstance(label, int) and SMALLEST <= label <= LARGEST for label in labels):
        return pa.array(labels, pa.int64())
    if floats and all(isinstance(label, int | float) for label in labels):
        return pa.array([float(label) for label in labels])
    return text_array([str(label) for label in labels])
