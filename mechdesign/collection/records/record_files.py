"""What files of records of every kind share: readers and writers of chunks, which are tables."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import pyarrow as pa

from mechdesign.collection.records.byte_streams import ByteReader
from mechdesign.collection.tables.cells import Cells, pairs_of, text_array
from mechdesign.collection.tables.draws import Drawer, as_mechanism
from mechdesign.collection.tables.provenance import Metadata
from mechdesign.domain import whole_number
from mechdesign.errors import CertificateError, InputError, shown
from mechdesign.files.mechanisms import load_mechanism
from mechdesign.files.reading import place_of_column
from mechdesign.writing.spreadsheets import spreadsheet_safe

__all__ = [
    "CHUNK",
    "Chunk",
    "ColumnName",
    "FileKind",
    "Progress",
    "Reader",
    "Writer",
    "check_columns",
    "checked",
    "chunk_size",
    "named_columns",
    "names_of",
    "numbered",
    "safe_table",
]

CHUNK = 1 << 15
"""Rows that are held at once, unless a caller wants it otherwise."""

CHUNK_BITS = 1 << 26
"""Bits of reports that are held at once: they are text as well, and numbers in between."""

ColumnName = str | tuple[str, str]
"""The name of a column; two for pairs of numbers, as the points of a grid."""

T = TypeVar("T")

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
    schema
        The types in the file, where the table has text as numbers of different texts; else None.
    """

    table: pa.Table
    place: Callable[[int], str]
    schema: pa.Schema | None = None

    @property
    def types(self) -> list[pa.DataType]:
        """The types of the columns in the file."""
        return list((self.table.schema if self.schema is None else self.schema).types)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column in the type that it has in the file."""
        place = self.table.schema.get_field_index(name)
        column, kind = self.table.column(place), self.types[place]
        return column if column.type == kind else column.cast(kind)

    def cells(self, file: object, columns: ColumnName) -> Cells:
        """Return the cells of a column, or of two as pairs, which know their places in the file."""
        key, place = self.names(file, columns)
        found = [self.table.column(name) for name in names_of(columns)]
        held = found[0] if len(found) == 1 else pairs_of(found[0], found[1], key)
        return Cells(held, key, place)

    def names(self, file: object, columns: ColumnName) -> tuple[str, Callable[[int], str]]:
        """Return what a column of the file is called in an error, and what a row of it is."""
        names = names_of(columns)
        key = f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
        return f"{file}: {key}", lambda row: f"{file}: {self.place(row)}, {key}"


def numbered(noun: str, before: int) -> Callable[[int], str]:
    """Return what a row is called: its number in the file, counted from 1."""
    return lambda row: f"{noun} {before + row + 1}"


def safe_table(table: pa.Table) -> pa.Table:
    """Return a table as text, in which a spreadsheet runs no cell and no name of a column."""
    columns = {}
    for name in table.column_names:
        cells = Cells(table.column(name), name, str)
        texts = [None if text is None else spreadsheet_safe(text) for text in cells.texts]
        columns[spreadsheet_safe(name)] = text_array(texts).take(pa.array(cells.which))
    return pa.table(columns)


class Reader(ABC):
    """A file of records that is open to read, a stream of batches; a context."""

    _bytes: ByteReader
    """What is read."""

    names: tuple[str, ...]
    """The columns of the file, in order."""

    metadata: Metadata = None
    """What the file says of itself."""

    @abstractmethod
    def chunks(self, names: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield the rows of some columns, at most ``size`` at once; one empty chunk if none.

        Raises
        ------
        InputError
            If a row cannot be read; the key names the file and the row.
        """

    def share(self) -> float | None:
        """Return how much of the file was read, from 0 to 1; None where it cannot be told."""
        return self._bytes.share()

    def close(self) -> None:
        """Close the file."""
        self._bytes.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Writer(ABC):
    """A file of records that is open to write."""

    def write(self, table: pa.Table, schema: pa.Schema | None = None) -> None:
        """Write rows; the first call fixes the names and the types of the columns.

        Parameters
        ----------
        table
            The rows, text also as numbers of different texts.
        schema
            The types in the file; None for those of the table.
        """
        self._write(table if schema is None else table.cast(schema))

    @abstractmethod
    def _write(self, table: pa.Table) -> None:
        """Write rows as they are."""

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
        Writes to a stream; the arguments are the stream, the separator, and what the file is to
        say of itself, where it can.
    has_text_cells
        Whether a spreadsheet opens it, and may run its cells.
    """

    reader: Callable[[Path, str | None], Reader]
    writer: Callable[[BinaryIO, str | None, Metadata], Writer]
    has_text_cells: bool = False


def names_of(columns: ColumnName) -> tuple[str, ...]:
    """Return the names of the columns that hold the cells of one attribute."""
    return (columns,) if isinstance(columns, str) else columns


def check_columns(reader: Reader, wanted: Sequence[str], file: object) -> None:
    """Raise InputError unless a file has each of some columns exactly once."""
    for name in wanted:
        place_of_column(name, reader.names, f"{file}: column", "the file")


def columns_of(mechanisms: Mapping[Any, T]) -> dict[ColumnName, T]:
    """Return mechanisms by their columns, which are names or pairs of names.

    Raises
    ------
    InputError
        If there are none, one is something else, or a column is named twice.
    """
    for name in mechanisms:
        pair = isinstance(name, tuple) and len(name) == 2
        if not isinstance(name, str) and not (pair and all(isinstance(x, str) for x in name)):
            raise InputError("column", "the name of a column, or a pair of names", shown(name))
    each = [part for name in mechanisms for part in names_of(name)]
    if not each or len(set(each)) < len(each):
        raise InputError("column", "at least one column, each once", shown(each))
    return dict(mechanisms)


def named_columns(mechanism: Any, column: Any) -> dict[ColumnName, Any]:
    """Return the mechanism of each column: one for a column, or a dict by column.

    Raises
    ------
    InputError
        If neither or both are given, or a column is named twice.
    """
    if isinstance(mechanism, Mapping) != (column is None):
        given = "neither" if column is None else "both"
        raise InputError("column", "a column, or a dict of mechanisms by column", given)
    return columns_of(mechanism if isinstance(mechanism, Mapping) else {column: mechanism})


def checked(given: Any) -> Drawer:
    """Return a mechanism, that of a file if its claims hold."""
    if not isinstance(given, str | os.PathLike):
        return as_mechanism(given)
    try:
        return load_mechanism(given).mechanism
    except CertificateError as error:
        raise CertificateError(f"{given}: refused: {error}") from None


def chunk_size(mechanisms: Iterable[Drawer], wanted: Any) -> int:
    """Return how many rows to hold at once: what a user wants, else by the length of their reports.

    Raises
    ------
    InputError
        If the user wants something else than a whole number from 1 on.
    """
    bits = sum(max(as_mechanism(mechanism).bits_per_report, 1) for mechanism in mechanisms)
    if wanted is None:
        return max(1, min(CHUNK, int(CHUNK_BITS / bits)))
    return whole_number(wanted, "chunk")
