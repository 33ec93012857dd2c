"""What a file of records is to the rest of the room: chunks of columns, read and written."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from mechdesign.channel import Channel
from mechdesign.errors import InputError, did_you_mean, shown
from mechdesign.mechanisms import Mechanism

__all__ = [
    "CHUNK",
    "NOTE",
    "Chunk",
    "Column",
    "FileKind",
    "Privatizer",
    "Progress",
    "Reader",
    "TextColumn",
    "Writer",
    "check_columns",
    "chunk_size",
]

CHUNK = 1 << 16
"""Rows that are held at once, unless a caller wants it otherwise."""

CHUNK_BITS = 1 << 26
"""Bits of reports that are held at once: they are text as well, and numbers in between."""

NOTE = "note"
"""The column in which a simulation says that it is one."""

SEPARATORS = ";\t|,"

Privatizer = Channel | Mechanism
"""What turns records into reports."""

Progress = Callable[[int, float | None], None]
"""Is told, after each chunk, the rows so far and the share of the file, None where unknown."""


class Column(ABC):
    """The cells of one column in one chunk."""

    @abstractmethod
    def take(self, rows: Sequence[int]) -> Column:
        """Return the cells of some rows, in their order."""

    @abstractmethod
    def texts(self) -> list[str | None]:
        """Return the cells as text; None where a cell holds nothing at all."""

    @abstractmethod
    def arrow(self) -> Any:
        """Return the cells as an array of pyarrow."""


class TextColumn(Column):
    """Cells that are text."""

    def __init__(self, cells: Sequence[str | None]) -> None:
        self._cells = list(cells)

    def take(self, rows: Sequence[int]) -> TextColumn:
        """Return the cells of some rows."""
        return TextColumn([self._cells[row] for row in rows])

    def texts(self) -> list[str | None]:
        """Return the cells."""
        return self._cells

    def arrow(self) -> Any:
        """Return an array of strings."""
        import pyarrow as pa

        return pa.array(self._cells, type=pa.string())


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file, one after the other.

    Attributes
    ----------
    columns
        The columns that were asked for, by name.
    size
        How many rows there are.
    place
        Says where a row of the chunk, counted from 0, stands in the file: ``"line 7"``.
    """

    columns: Mapping[str, Column]
    size: int
    place: Callable[[int], str]

    def cell(self, file: object, column: str) -> Callable[[int], str]:
        """Return what says where the cell of a row is: ``"in.csv: line 7, column 'age'"``."""
        return lambda row: f"{file}: {self.place(row)}, column {column!r}"


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
    def write(self, columns: Mapping[str, Column]) -> None:
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
        if name not in reader.names:
            known = ", ".join(map(repr, reader.names[:20]))
            hint = did_you_mean(str(name), reader.names) or _separator_hint(reader.names)
            raise InputError(f"{file}: column", f"one of {known}", shown(name), hint)
        if reader.names.count(name) > 1:
            expected = f"one column of the name {name!r}"
            raise InputError(f"{file}: column", expected, f"{reader.names.count(name)} of them")


def _separator_hint(names: Sequence[str]) -> str:
    """Return what to do about a header of one name that has another separator in it."""
    if len(names) == 1:
        for other in SEPARATORS:
            if other in names[0]:
                return f"is the separator {other!r}?"
    return ""


def chunk_size(mechanism: Privatizer, wanted: Any) -> int:
    """Return how many rows to hold at once: what a user wants, else by the length of a report.

    Raises
    ------
    InputError
        If the user wants something else than a whole number from 1 on.
    """
    if wanted is None:
        if isinstance(mechanism, Channel):
            bits = math.log2(len(mechanism.outputs))
        else:
            bits = mechanism.bits_per_report
        return max(1, min(CHUNK, int(CHUNK_BITS / max(bits, 1))))
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise InputError("chunk", "a whole number >= 1", shown(wanted))
    return wanted
