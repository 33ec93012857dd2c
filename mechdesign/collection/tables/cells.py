"""Rows of a table or a file, cells of a column as text, and reports as columns."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import BoolArray, IntArray
from mechdesign.errors import InputError
from mechdesign.reports import Alphabet, Labels, Numbers

Column = Any
"""An Arrow array or chunked array."""

Metadata = Mapping[bytes, bytes] | None
"""The metadata of an Arrow table."""


@dataclass(frozen=True)
class Batch:
    """Consecutive rows: a table in memory is one batch, a file a stream of batches.

    ``column`` returns a column by its name; ``where`` the key for errors about a column, or two
    columns read as pairs, and with a row number, counted from 0, about the cell in that row.
    ``names`` are all columns of the table or the file.
    """

    column: Callable[[Any], Column]
    where: Callable[..., str]
    names: Sequence[Any]
    metadata: Metadata = None

    def cells(self, names: tuple[Any, ...]) -> Cells:
        """Return the cells of a column, or of two as pairs."""
        columns, key = [self.column(name) for name in names], self.where(names)
        held = columns[0] if len(columns) == 1 else pairs_of(columns[0], columns[1], key)
        return Cells(held, key, partial(self.where, names))


class Cells:
    """The dictionary-encoded cells of a column.

    ``texts`` are the distinct texts, None for an empty cell, ``which`` the index of the text of
    each row, and ``counts`` the number of rows of each text, at least 1.

    Examples
    --------
    >>> found = Cells(pa.array(["b", None, "b"]), "answers", str)
    >>> found.texts, found.which.tolist()
    (['b', None], [0, 1, 0])
    """

    def __init__(
        self, column: pa.Array | pa.ChunkedArray, key: str, place: Callable[[int], str]
    ) -> None:
        if pa.types.is_dictionary(column.type):
            _check_codes(column, key)
        whole = one_array(column)
        self.categorical = pa.types.is_dictionary(whole.type)
        if not self.categorical:
            check_plain(whole.type, key)
            try:
                whole = whole.dictionary_encode(null_encoding="encode")
            except pa.ArrowNotImplementedError:
                raise no_text(whole.type, key) from None
        texts = texts_of(whole.dictionary, key).to_pylist()
        which = whole.indices
        if which.null_count:
            which, texts = which.fill_null(len(texts)), [*texts, None]
        self.texts: list[str | None] = texts
        self.which: IntArray = which.to_numpy(zero_copy_only=False)
        self.counts = np.bincount(self.which, minlength=len(texts))
        if not self.counts.all():  # categories without a cell
            self._keep(self.counts > 0)
        self._place = place

    def _keep(self, kept: BoolArray) -> None:
        """Drop the unused texts, and renumber the others."""
        self.texts = [text for text, stays in zip(self.texts, kept, strict=True) if stays]
        self.which = (np.cumsum(kept) - 1)[self.which]
        self.counts = self.counts[kept]

    def changed(self, change: Callable[[str], str]) -> pa.Array:
        """Return the column with every text replaced by a function."""
        texts = [None if text is None else change(text) for text in self.texts]
        return text_array(texts).take(pa.array(self.which))

    def filled(self) -> Cells:
        """Return the nonempty cells."""
        kept = np.array([bool(text and text.strip()) for text in self.texts], dtype=bool)
        rows = np.flatnonzero(kept[self.which])
        some = copy.copy(self)
        some.which, some._place = self.which[rows], lambda row: self._place(int(rows[row]))
        some._keep(kept)
        return some

    def place(self, text: int) -> str:
        """Return the first occurrence of a text, given by index, such as ``"in.csv: line 7"``."""
        return self._place(int(np.argmax(self.which == text)))

    def as_they_occur(self) -> list[int]:
        """Return the indices of the texts in order of first occurrence."""
        numbers, first = np.unique(self.which, return_index=True)
        return [int(n) for n in numbers[np.argsort(first)]]


def _check_codes(column: pa.Array | pa.ChunkedArray, key: str) -> None:
    """Raise InputError unless every code is valid; Arrow does not check them."""
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        try:
            chunk.validate()
            chunk.dictionary.validate(full=True)
        except pa.ArrowInvalid:
            raise InputError(key, "categories that are whole", "others") from None
        least, most = (end.as_py() for end in pc.min_max(chunk.indices).values())
        if least is not None and not 0 <= least <= most < len(chunk.dictionary):
            raise InputError(key, "codes of categories that exist", "others")


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, with a common dictionary."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def check_plain(kind: pa.DataType, key: str) -> None:
    """Raise InputError unless cells of a type can be converted to text."""
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        raise no_text(kind, key)


def no_text(kind: pa.DataType, key: str) -> InputError:
    """Return the error for a column of a type, without the names of nested fields."""
    return InputError(key, "a column of text or numbers", str(kind).partition("<")[0])


def texts_of(column: pa.Array | pa.ChunkedArray, key: str) -> pa.Array:
    """Return the cells of a column as text, NaN as an empty cell, or raise InputError."""
    try:
        texts = one_array(column.cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise no_text(column.type, key) from None
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.equal(texts, "nan"), None, texts)
    return texts


def pairs_of(first: pa.ChunkedArray, second: pa.ChunkedArray, key: str) -> pa.Array:
    """Return two columns of numbers as text like the points of a grid, empty if a part is."""
    parts = []
    for column in (first, second):
        check_plain(column.type, key)
        text = pc.utf8_trim_whitespace(texts_of(column, key))
        parts.append(pc.if_else(pc.equal(text, ""), None, text))
    return pc.binary_join_element_wise("(", parts[0], ", ", parts[1], ")", "")


def text_array(cells: Sequence[Any]) -> pa.Array:
    """Return strings and None as an Arrow array, or raise InputError."""
    try:
        return pa.array(cells, pa.string())
    except UnicodeEncodeError:
        raise InputError("labels", "text that can be written in UTF-8", "other text") from None


# --- reports --------------------------------------------------------------------------------------

SMALLEST, LARGEST = -(2**63), 2**63 - 1

Columns = Callable[[Any, bool], list[pa.Array]]
"""Returns the columns of an array of reports; the second argument asks for categorical columns."""


def report_columns(
    alphabet: Alphabet, names: tuple[Any, ...], floats: bool = False
) -> tuple[tuple[Any, ...], Columns]:
    """Return the names of the columns of reports, and a function that makes the columns.

    There is one column, or two if two names are given and every label is a pair. Integers stay
    integers, and with ``floats`` numbers stay numbers; other labels are text. Reports that are not
    labels, such as sets, are text in the notation of the alphabet.
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
