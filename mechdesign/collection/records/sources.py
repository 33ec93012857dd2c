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
from typing import Any, BinaryIO, ClassVar

import pyarrow as pa

from mechdesign.errors import InputError, LimitError, shown
from mechdesign.files.reading import open_plain
from mechdesign.resources import check_size, current

__all__ = ["BLOCK", "STANDARD", "Reader"]

BLOCK = 1 << 18
"""Bytes of text read at once."""

STANDARD = Path("-")
"""The file name that stands for standard input and standard output."""

DAMAGED = (OSError, EOFError, zlib.error, pa.ArrowException)
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
        except BaseException as error:
            self.close()
            if not isinstance(error, DAMAGED):
                raise
            raise self._damaged("", "a damaged one, or another kind") from None

    @abstractmethod
    def _opened(self) -> pa.Schema:
        """Read the header, and return the columns."""

    @abstractmethod
    def tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns, in order, in tables that fit in memory.

        Text may be dictionary-encoded, whatever its type in the file.

        Raises
        ------
        InputError
            If a row cannot be read; the key gives the file and the row.
        """

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
