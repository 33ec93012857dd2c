"""The base class of readers of files of records."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import pyarrow as pa

from mechdesign.collection.tables.cells import Batch
from mechdesign.errors import InputError, shown
from mechdesign.files.reading import open_plain, place_of_column
from mechdesign.resources import check_size

__all__ = ["BLOCK", "STANDARD", "Reader"]

BLOCK = 1 << 18
"""Bytes of text read at once."""

STANDARD = Path("-")
"""The file name that stands for standard input and standard output."""


class Reader(ABC):
    """Context manager for a file of records, read in batches.

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
    rows
        The number of rows read so far, including the current batch.

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
        self.rows = self._before = self._start = 0
        self._file = str(path)
        self._raw: BinaryIO = sys.stdin.buffer if path == STANDARD else open_plain(path)
        self._size = 0 if path == STANDARD else os.fstat(self._raw.fileno()).st_size
        self._bytes: Any = self._raw
        if packed == "gzip":
            self._bytes = gzip.GzipFile(fileobj=self._raw)
        elif packed is not None:
            self._bytes = pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packed)
        try:
            self.schema = self._opened()
            check_size("columns", len(self.schema), self._file)
        except (OSError, EOFError, pa.ArrowException):  # their messages may quote the file
            self.close()
            raise self._damaged("", "a damaged one, or another kind") from None
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def _opened(self) -> pa.Schema:
        """Read the header, and return the columns."""

    @abstractmethod
    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns, in order, in tables that fit in memory.

        Text may be dictionary-encoded, whatever its type in the file.

        Raises
        ------
        InputError
            If a row cannot be read; the key gives the file and the row.
        """

    def check(self, names: Sequence[str]) -> None:
        """Raise InputError unless the file has each of some columns exactly once."""
        for name in names:
            place_of_column(name, self.schema.names, f"{self._file}: column", "the file")

    def batches(self, names: Sequence[str], size: int) -> Iterator[Batch]:
        """Yield batches of at most ``size`` rows of some columns, at least one batch."""
        self.check(names)
        for table in self._tables(names, size):
            for self._start in range(0, table.num_rows, size):
                yield self._batch(table.slice(self._start, size))
        if not self.rows:
            kinds = [self.schema.field(name) for name in names]
            yield self._batch(pa.schema(kinds).empty_table())

    def _batch(self, table: pa.Table) -> Batch:
        self._before, self.rows = self.rows, self.rows + table.num_rows
        return Batch(table.column, self._where, self.schema.names, self.schema.metadata)

    def _where(self, names: tuple[str, ...], row: int | None = None) -> str:
        """Return the key for errors about columns, or about their cell in a row of the batch."""
        place = "" if row is None else f"{self._place(row)}, "
        return f"{self._file}: {place}column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"

    def _place(self, row: int) -> str:
        """Return the location of a row of the current batch, for errors."""
        return f"{self.noun} {self._before + row + 1}"

    def _read_on(self, place: str) -> bytes:
        """Return more bytes of text, empty at the end."""
        try:
            return bytes(self._bytes.read(BLOCK))
        except (OSError, EOFError, zlib.error):
            raise self._damaged(place) from None

    def _damaged(self, place: str, given: str = "a damaged one") -> InputError:
        whole = "a file that can be read to its end" if place else f"{self.kind} that can be read"
        return InputError(f"{self._file}{place and ': '}{place}", whole, given)

    def share(self) -> float | None:
        """Return the share of the file read so far, from 0 to 1; None if unknown."""
        return min(1.0, self._raw.tell() / self._size) if self._size else None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._file != str(STANDARD):
            with contextlib.suppress(OSError, EOFError, zlib.error):
                self._bytes.close()
            self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
