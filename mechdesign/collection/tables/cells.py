"""The cells of a column as text, each different text once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import IntArray
from mechdesign.errors import InputError

__all__ = ["Cells", "pairs_of", "text_array", "texts_of"]


class Cells:
    """The cells of one column, each different text once.

    A column of categories, which Arrow calls a dictionary, is taken by its codes: its texts are all
    categories in their order, also those that no cell has.

    Attributes
    ----------
    texts
        The different texts; None where nothing is held.
    which
        For each row the number of its text.
    categorical
        Whether the column holds categories.

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
        whole = _one_array(column)
        self.categorical = pa.types.is_dictionary(whole.type)
        if not self.categorical:
            check_plain(whole.type, key)
            whole = whole.dictionary_encode(null_encoding="encode")
        texts = texts_of(whole.dictionary, key).to_pylist()
        which = whole.indices
        if which.null_count:
            which, texts = which.fill_null(len(texts)), [*texts, None]
        self.texts: list[str | None] = texts
        self.which: IntArray = which.to_numpy(zero_copy_only=False)
        self._place = place

    def restore(self, restored: Callable[[str], str]) -> None:
        """Replace each text by what it stands for, as in a file made safe for spreadsheets."""
        self.texts = [None if text is None else restored(text) for text in self.texts]

    def filled(self) -> Cells:
        """Return the cells that hold something."""
        empty = [n for n, text in enumerate(self.texts) if text is None or not text.strip()]
        rows = np.flatnonzero(~np.isin(self.which, empty))
        some = copy.copy(self)
        some.which, some._place = self.which[rows], lambda row: self._place(int(rows[row]))
        return some

    def place(self, text: int) -> str:
        """Return where a text, given by its number, is first: ``"in.csv: line 7"``."""
        return self._place(int(np.argmax(self.which == text)))

    def as_they_occur(self) -> list[int]:
        """Return the numbers of the texts that occur, the first one first.

        So that the first text of them that is wrong is in the first row that is.
        """
        numbers, first = np.unique(self.which, return_index=True)
        return [int(n) for n in numbers[np.argsort(first)]]


def _check_codes(column: pa.Array | pa.ChunkedArray, key: str) -> None:
    """Raise InputError unless every code is that of a category; Arrow itself trusts them."""
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        try:
            chunk.validate()
            chunk.dictionary.validate(full=True)
        except pa.ArrowInvalid:
            raise InputError(key, "categories that are whole", "others") from None
        least, most = (end.as_py() for end in pc.min_max(chunk.indices).values())
        if least is not None and not 0 <= least <= most < len(chunk.dictionary):
            raise InputError(key, "codes of categories that exist", "others")


def _one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece, its codes those of one list of categories."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def check_plain(kind: pa.DataType, key: str) -> None:
    """Raise InputError unless cells of a type can be text."""
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        raise InputError(key, "a column of text or numbers", str(kind).partition("<")[0])


def texts_of(column: pa.Array | pa.ChunkedArray, key: str) -> pa.Array:
    """Return the cells of a column as text; a number that is none ("nan") holds nothing.

    Raises
    ------
    InputError
        If they are neither text nor numbers.
    """
    try:
        texts = _one_array(column.cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kind = str(column.type).partition("<")[0]  # without the names of what is nested in it
        raise InputError(key, "a column of text or numbers", kind) from None
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.equal(texts, "nan"), None, texts)
    return texts


def pairs_of(first: pa.ChunkedArray, second: pa.ChunkedArray, key: str) -> pa.Array:
    """Return two columns of numbers as one of pairs, as the text of a point of a grid.

    A pair of which a part holds nothing holds nothing.

    Examples
    --------
    >>> pairs_of(pa.chunked_array([[0, 1]]), pa.chunked_array([[" 3", ""]]), "point").to_pylist()
    ['(0, 3)', None]
    """
    parts = []
    for column in (first, second):
        check_plain(column.type, key)
        text = pc.utf8_trim_whitespace(texts_of(column, key))
        parts.append(pc.if_else(pc.equal(text, ""), None, text))
    return pc.binary_join_element_wise("(", parts[0], ", ", parts[1], ")", "")


def text_array(cells: Sequence[Any]) -> pa.Array:
    """Return cells, text or None, as an array of text.

    Raises
    ------
    InputError
        If one cannot be written in UTF-8.
    """
    try:
        return pa.array(cells, pa.string())
    except UnicodeEncodeError:
        raise InputError("labels", "text that can be written in UTF-8", "other text") from None
