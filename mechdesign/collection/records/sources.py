"""The base class of readers of files of records."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import IntArray
from mechdesign.errors import InputError, LimitError, shown
from mechdesign.files.reading import open_plain
from mechdesign.resources import check_size, current

BLOCK = 1 << 18
"""Bytes of text read at once."""

STANDARD = Path("-")
"""The file name that stands for standard input and standard output."""

PIECE = 2**23
"""Approximate expanded size in bytes of a table passed on."""

MANY = 2**16
"""Maximum number of rows of a table passed on."""

DAMAGED = (OSError, EOFError, UnicodeError, zlib.error, pa.ArrowException)
"""Exceptions for a file that is damaged or of another kind; their messages may quote it."""


class Reader(ABC):
    """A file of records, read as a stream of Arrow tables.

    Parameters
    ----------
    path
        The file; ``-`` for standard input.
    separator
        The separator of a text file; None for the default.
    packed
        None, gzip or zstd.

    Attributes
    ----------
    schema
        The columns of the file, with its metadata.

    Raises
    ------
    InputError
        If the file does not have this format.
    """

    kind: ClassVar[str]
    """The format of the file, for errors."""

    noun: ClassVar[str] = "row"
    """The word for a row in errors, followed by its number from 1."""

    separated: ClassVar[bool] = False
    """Whether the format has a separator."""

    schema: pa.Schema

    def __init__(self, path: Path, separator: str | None = None, packed: str | None = None) -> None:
        if separator is not None and not self.separated:
            expected = f"none for {self.kind}: its cells are not separated"
            raise InputError("separator", expected, shown(separator))
        self.file, self._most = str(path), current().row_bytes
        self._raw: BinaryIO = sys.stdin.buffer if path == STANDARD else open_plain(path)
        self._size = 0 if path == STANDARD else os.fstat(self._raw.fileno()).st_size
        self._bytes: Any = self._raw
        if packed == "gzip":
            self._bytes = gzip.GzipFile(fileobj=self._raw)
        elif packed is not None:
            self._bytes = pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packed)
        try:
            self.schema = self._opened()
            check_size("columns", len(self.schema), self.file)
            self.schema.names  # noqa: B018 - decoded here, so that it raises here
        except BaseException as error:
            self.close()
            if not isinstance(error, DAMAGED):
                raise
            raise self._damaged("", "a damaged one, or another kind") from None

    @abstractmethod
    def _opened(self) -> pa.Schema:
        """Read the header, and return the columns."""

    def tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns, in order, in tables that fit in memory.

        Text may be dictionary-encoded, whatever its type in the file.

        Raises
        ------
        InputError
            If a row cannot be read; the key gives the file and the row.
        """
        try:
            yield from self._tables(names, size)
        except pa.ArrowNotImplementedError:
            raise self._unsupported() from None
        except DAMAGED:
            raise self._damaged(self._next()) from None

    def empty(self, names: Sequence[str]) -> pa.Table:
        """Return a table of some columns without rows."""
        try:
            return pa.schema([self.schema.field(name) for name in names]).empty_table()
        except pa.ArrowNotImplementedError:
            raise self._unsupported() from None

    def _unsupported(self) -> InputError:
        return InputError(self.file, "columns of types and encodings that can be read", "others")

    @abstractmethod
    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the tables; exceptions are converted by the caller."""

    @abstractmethod
    def _next(self) -> str:
        """Return the location of the rows to read next."""

    def _pieces(self, batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the rows of a batch in tables of bounded expanded size, if the batch is valid."""
        batch = batch.select(list(names))
        batch.validate(full=True)
        for start in range(0, batch.num_rows, MANY):  # nulls take no bytes
            rows = batch.slice(start, MANY)
            cost = _bytes_of_rows(rows)
            check_size("row_bytes", int(cost.max()), f"{self.file}: {self._next()}")
            table = pa.Table.from_batches([rows])
            cuts = np.flatnonzero(np.diff(cost.cumsum() // PIECE)) + 1
            for first, end in pairwise([0, *cuts.tolist(), rows.num_rows]):
                yield table.slice(first, end - first)

    def place(self, before: int, row: int) -> str:
        """Return the location of a row of the last table, before which some rows were read."""
        return f"{self.noun} {before + row + 1}"

    def _read_on(self, place: str) -> bytes:
        """Return more bytes of text, empty at the end."""
        try:
            return bytes(self._bytes.read(BLOCK))
        except DAMAGED:
            raise self._damaged(place) from None

    def _damaged(self, place: str, given: str = "a damaged one") -> InputError:
        whole = "a file that can be read to its end" if place else f"{self.kind} that can be read"
        return InputError(f"{self.file}{place and ': '}{place}", whole, given)

    def _too_long(self, place: str, expected: str, size: int) -> InputError:
        """Return the error for a row of text that is longer than the limit, or does not end."""
        expected += f"a row of at most {self._most} bytes"
        if size <= self._most:
            return InputError(place, expected, "others")
        hint = f"allow longer rows with --allow row_bytes={2 * size}"
        return LimitError(place, expected, "others", hint)

    def share(self) -> float | None:
        """Return the share of the file read so far, from 0 to 1; None if unknown."""
        return min(1.0, self._raw.tell() / self._size) if self._size else None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.file != str(STANDARD):
            with contextlib.suppress(*DAMAGED):
                self._bytes.close()
            self._raw.close()


def is_text(kind: pa.DataType) -> bool:
    """Return whether cells of a type are text or bytes with offsets."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


def _bytes_of_rows(batch: pa.RecordBatch) -> IntArray:
    """Return the approximate expanded size of each row in bytes."""
    total = np.full(batch.num_rows, 8 * batch.num_columns)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
            lengths = pc.binary_length(column.dictionary).take(column.indices)
        elif is_text(column.type):
            lengths = pc.binary_length(column)
        else:
            total += column.nbytes // max(1, batch.num_rows)
            continue
        total += lengths.fill_null(0).to_numpy(zero_copy_only=False)
    return total
