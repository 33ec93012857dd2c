"""Files of records of every kind: streams of batches to read, and tables to write."""

from __future__ import annotations

import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import pyarrow as pa

from mechdesign.collection.records.byte_streams import ByteReader, ByteWriter
from mechdesign.collection.tables.cells import Batch, Cells
from mechdesign.collection.tables.jobs import Drawer, as_mechanism, names_of
from mechdesign.domain import whole_number
from mechdesign.errors import CertificateError, InputError, shown
from mechdesign.files.mechanisms import load_mechanism
from mechdesign.files.reading import place_of_column
from mechdesign.resources import check_size
from mechdesign.writing.spreadsheets import spreadsheet_safe

__all__ = ["ColumnName", "FileKind", "Progress", "Reader", "Rows", "Writer", "checked"]
__all__ += ["checked_mechanisms", "chunk_size", "numbered", "safe_table"]

CHUNK = 1 << 15
"""Rows that are held at once, unless a caller wants it otherwise."""

CHUNK_BITS = 1 << 26
"""Bits of reports that are held at once: they are text as well, and numbers in between."""

BLOCK = 1 << 18
"""Bytes of text that are read at once."""

ColumnName = str | tuple[str, str]
"""The name of a column; two for pairs of numbers, as the points of a grid."""

Progress = Callable[[int, float | None], None]
"""Called after each batch with the rows so far and the share of the file; None if unknown."""

Rows = tuple[pa.Table, Callable[[int], str]]
"""Rows of a file, one after the other; and the name of each by its number there, ``"line 7"``.

Text may be held as a dictionary, whatever its type in the file.
"""


def numbered(noun: str, before: int) -> Callable[[int], str]:
    """Return the names of rows by their numbers in the file, counted from 1."""
    return lambda row: f"{noun} {before + row + 1}"


def safe_table(table: pa.Table) -> pa.Table:
    """Return a table as text, in which a spreadsheet runs no cell and no name of a column."""
    safe = spreadsheet_safe
    return pa.table(
        {safe(n): Cells(table.column(n), n, str).changed(safe) for n in table.column_names}
    )


class Reader(ABC):
    """A file of records that is open to read, a stream of batches; a context.

    Parameters
    ----------
    path
        The file.
    separator
        The character between cells, in text; None for the usual one.
    packed
        None, gzip or zstd.

    Attributes
    ----------
    schema
        The columns of the file, with the metadata of the file.
    rows
        The number of rows so far.

    Raises
    ------
    InputError
        If it is no such file.
    """

    kind: ClassVar[str]
    """The kind of the file, for errors."""

    separated: ClassVar[bool] = False
    """Whether a character separates its cells."""

    schema: pa.Schema

    def __init__(self, path: Path, separator: str | None, packed: str | None = None) -> None:
        if separator is not None and not self.separated:
            expected = f"none for {self.kind}: its cells are not separated"
            raise InputError("separator", expected, shown(separator))
        self.rows, self._file = 0, str(path)
        self._bytes = ByteReader(path, packed)
        try:
            self.schema = self._opened()
            check_size("columns", len(self.schema), self._file)
        except (OSError, EOFError, pa.ArrowException):  # whose words may quote the file
            self.close()
            raise self._damaged("", "a damaged one, or another kind") from None
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _opened(self) -> pa.Schema:
        """Read what comes before the rows, and return the columns."""

    @abstractmethod
    def chunks(self, names: Sequence[str], size: int) -> Iterator[Rows]:
        """Yield the rows of some columns, at most ``size`` at once; one empty chunk if none.

        Raises
        ------
        InputError
            If a row cannot be read; the key names the file and the row.
        """

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def check(self, names: Sequence[str]) -> None:
        """Raise InputError unless the file has each of some columns exactly once."""
        for name in names:
            place_of_column(name, self.names, f"{self._file}: column", "the file")

    def batches(
        self, names: Sequence[str], size: int, progress: Progress | None = None
    ) -> Iterator[Batch]:
        """Yield the rows of some columns, and show the progress after each batch."""
        for table, place in self.chunks(names, size):
            where = partial(_where, self._file, place)
            yield Batch(table.column, where, self.names, self.schema.metadata)
            self.rows += table.num_rows
            if progress is not None:
                progress(self.rows, self.share())

    def _read_on(self, place: str = "") -> bytes:
        """Return more bytes of text, none at the end."""
        try:
            return self._bytes.read(BLOCK)
        except (OSError, EOFError, zlib.error):
            raise self._damaged(place) from None

    def _damaged(self, place: str, given: str = "a damaged one") -> InputError:
        whole = "a file that can be read to its end" if place else f"{self.kind} that can be read"
        return InputError(f"{self._file}{place and ': '}{place}", whole, given)

    def share(self) -> float | None:
        """Return how much of the file was read, from 0 to 1; None where that is unknown."""
        return self._bytes.share()

    def close(self) -> None:
        """Close the file."""
        self._bytes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _where(
    file: str, place: Callable[[int], str], names: tuple[str, ...], row: int | None = None
) -> str:
    """Return the name of columns in an error, or that of their cell in a row."""
    columns = f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
    return f"{file}: {columns}" if row is None else f"{file}: {place(row)}, {columns}"


class Writer(ABC):
    """A file of records that is open to write.

    Parameters
    ----------
    stream
        The bytes go there; it stays open.
    separator
        The character between cells, in text; None for the usual one.
    metadata
        Those of the file, where it can have some.
    packed
        None, gzip or zstd.
    """

    def __init__(
        self,
        stream: BinaryIO,
        separator: str | None,
        metadata: Mapping[bytes, bytes] | None = None,
        packed: str | None = None,
    ) -> None:
        self._bytes, self._metadata = ByteWriter(stream, packed), metadata

    @abstractmethod
    def write(self, table: pa.Table) -> None:
        """Write rows; the first call fixes the names and the types of the columns."""

    def close(self) -> None:
        """Write what is left."""
        self._bytes.close()


@dataclass(frozen=True)
class FileKind:
    """A kind of file: how it is opened.

    Attributes
    ----------
    reader
        Opens a file to read; the second argument separates cells, None for the usual.
    writer
        Writes to a stream; the arguments are the stream, the separator, and the metadata.
    has_text_cells
        Whether a spreadsheet opens it, and may run its cells.
    """

    reader: Callable[[Path, str | None], Reader]
    writer: Callable[[BinaryIO, str | None, Mapping[bytes, bytes] | None], Writer]
    has_text_cells: bool = False


def checked_mechanisms(mechanism: Any, column: Any) -> tuple[dict[ColumnName, Drawer], list[Path]]:
    """Return the mechanism of each column, and the files that mechanisms come from.

    Parameters
    ----------
    mechanism, column
        One for a column, or a dict by column in place of both; columns are names or pairs of names.

    Raises
    ------
    InputError
        If neither or both are given, or a column is named twice.
    CertificateError
        If a claim in a file of a mechanism does not hold.
    """
    if isinstance(mechanism, Mapping) != (column is None):
        given = "neither" if column is None else "both"
        raise InputError("column", "a column, or a dict of mechanisms by column", given)
    named = mechanism if isinstance(mechanism, Mapping) else {column: mechanism}
    for name in named:
        pair = isinstance(name, tuple) and len(name) == 2
        if not isinstance(name, str) and not (pair and all(isinstance(x, str) for x in name)):
            raise InputError("column", "the name of a column, or a pair of names", shown(name))
    each = [part for name in named for part in names_of(name)]
    if not each or len(set(each)) < len(each):
        raise InputError("column", "at least one column, each once", shown(each))
    files = [Path(one) for one in named.values() if isinstance(one, str | os.PathLike)]
    return {name: checked(one) for name, one in named.items()}, files


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
