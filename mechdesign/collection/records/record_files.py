"""What files of records of every kind share: readers and writers of chunks, which are tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import IntArray
from mechdesign.channel import Channel
from mechdesign.domain import whole_number
from mechdesign.errors import InputError, shown_kind
from mechdesign.files.reading import place_of_column
from mechdesign.mechanisms import Mechanism
from mechdesign.writing.spreadsheets import spreadsheet_restored, spreadsheet_safe

__all__ = [
    "CHUNK",
    "NOTE",
    "Cells",
    "Chunk",
    "FileKind",
    "Progress",
    "Reader",
    "Writer",
    "check_columns",
    "chunk_size",
    "safe_table",
    "text_array",
    "texts_of",
]

CHUNK = 1 << 16
"""Rows that are held at once, unless a caller wants it otherwise."""

CHUNK_BITS = 1 << 26
"""Bits of reports that are held at once: they are text as well, and numbers in between."""

NOTE = "note"
"""The column in which a simulation says that it is one."""

Progress = Callable[[int, float | None], None]
"""Is told, after each chunk, the rows so far and the share of the file, None where unknown."""


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file, one after the other.

    Attributes
    ----------
    table
        The columns that were asked for.
    place
        Says where a row of the chunk, counted from 0, stands in the file: ``"line 7"``.
    """

    table: pa.Table
    place: Callable[[int], str]

    def cells(self, file: object, column: str) -> Cells:
        """Return the cells of a column, which know their places in the file."""
        texts = texts_of(self.table.column(column), f"{file}: column {column!r}")
        return Cells(texts, lambda row: f"{file}: {self.place(row)}, column {column!r}")


class Cells:
    """The cells of one column in one chunk as text, each different text once.

    Attributes
    ----------
    texts
        The different texts in the order in which they first occur; None where nothing is held.
    which
        For each row the number of its text.
    """

    def __init__(self, texts: pa.Array, place: Callable[[int], str]) -> None:
        found = texts.dictionary_encode(null_encoding="encode")
        self.texts: list[str | None] = found.dictionary.to_pylist()
        self.which: IntArray = found.indices.to_numpy()
        self._place = place

    def restore(self) -> None:
        """Take the cells for those of a file that was made safe for spreadsheets."""
        self.texts = [None if t is None else spreadsheet_restored(t) for t in self.texts]

    def place(self, text: int) -> str:
        """Return where a text, given by its number, is first: ``"in.csv: line 7, column 'age'"``.

        Texts are numbered as they occur, so that the first bad text is in the first bad row.
        """
        return self._place(int(np.argmax(self.which == text)))


def texts_of(column: pa.ChunkedArray, key: str) -> pa.Array:
    """Return the cells of a column as text; a number that is none ("nan") holds nothing.

    Raises
    ------
    InputError
        If they are neither text nor numbers.
    """
    try:
        texts = column.cast(pa.string()).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kind = str(column.type).partition("<")[0]  # without the names of what is nested in it
        raise InputError(key, "a column of text or numbers", kind) from None
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.equal(texts, "nan"), None, texts)
    return texts


def text_array(cells: Sequence[str | None]) -> pa.Array:
    """Return cells as an array of text.

    Raises
    ------
    InputError
        If one cannot be written in UTF-8.
    """
    try:
        return pa.array(cells, pa.string())
    except UnicodeEncodeError:
        raise InputError("labels", "text that can be written in UTF-8", "other text") from None


def safe_table(table: pa.Table) -> pa.Table:
    """Return a table as text, in which a spreadsheet runs no cell and no name of a column."""
    columns = {}
    for name in table.column_names:
        cells = Cells(texts_of(table.column(name), name), str)
        texts = [None if text is None else spreadsheet_safe(text) for text in cells.texts]
        columns[spreadsheet_safe(name)] = text_array(texts).take(pa.array(cells.which))
    return pa.table(columns)


class Reader(ABC):
    """A file of records that is open to read; a context."""

    names: tuple[str, ...]
    """The columns of the file, in order."""

    says_simulation: bool = False
    """Whether the file as a whole says that it holds a simulation."""

    @abstractmethod
    def chunks(self, names: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield the rows of some columns, at most ``size`` at once; one empty chunk if none.

        Raises
        ------
        InputError
            If a row cannot be read; the key names the file and the row.
        """

    @abstractmethod
    def share(self) -> float | None:
        """Return how much of the file was read, from 0 to 1; None where it cannot be told."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Writer(ABC):
    """A file of records that is open to write."""

    @abstractmethod
    def write(self, table: pa.Table) -> None:
        """Write rows; the first call fixes the names and the types of the columns."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left. The stream below stays open."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file: how it is opened.

    Attributes
    ----------
    reader
        Opens a file to read; the second argument is what separates cells, None for the usual.
    writer
        Writes to a stream; the arguments are the stream, the separator, and whether the file is
        to say that it holds a simulation.
    """

    reader: Callable[[Path, str | None], Reader]
    writer: Callable[[BinaryIO, str | None, bool], Writer]


def check_columns(reader: Reader, wanted: Sequence[str], file: object) -> None:
    """Raise InputError unless a file has each of some columns exactly once."""
    for name in wanted:
        place_of_column(name, reader.names, f"{file}: column", "the file")


def chunk_size(mechanism: Channel | Mechanism, wanted: Any) -> int:
    """Return how many rows to hold at once: what a user wants, else by the length of a report.

    Raises
    ------
    InputError
        If the user wants something else than a whole number from 1 on.
    """
    if not isinstance(mechanism, Channel | Mechanism):
        raise InputError("mechanism", "a Channel or a Mechanism", shown_kind(mechanism))
    if wanted is None:
        return max(1, min(CHUNK, int(CHUNK_BITS / max(mechanism.bits_per_report, 1))))
    return whole_number(wanted, "chunk")
