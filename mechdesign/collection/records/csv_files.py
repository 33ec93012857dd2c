"""CSV files, plain or compressed, read and written a chunk at a time."""

from __future__ import annotations

import csv
import gzip
import io
import re
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from mechdesign.collection.records.record_files import Chunk, Column, Reader, TextColumn, Writer
from mechdesign.errors import InputError, shown

__all__ = ["CSVReader", "CSVWriter", "check_separator"]

BREAK = re.compile("\r\n|\r|\n")

MOST_LETTERS = 1 << 22
"""Letters of a cell: more than a report takes, and little enough for a quote that has no end."""

Rows = list[list[str]]


def check_separator(separator: Any) -> str:
    """Return what stands between cells; a comma unless something else is given.

    Raises
    ------
    InputError
        If it is not one character, or one that a cell is quoted or ended by.
    """
    found = {None: ",", "\\t": "\t"}.get(separator, separator)
    if not isinstance(found, str) or len(found) != 1 or found in '"\r\n\0':
        raise InputError("separator", "one character, as ; or a tab", shown(separator))
    return found


class CSVReader(Reader):
    """Rows of a CSV file in UTF-8. The first line holds the names of the columns.

    Lines are counted from 1, the header being line 1; a row that goes over several lines, by line
    ends inside quotes, is named by its first. Empty lines at the end do not count as rows; in a
    file of one column they are empty cells.
    """

    def __init__(self, path: Path, separator: str | None, *, packed: bool = False) -> None:
        self._file, self._separator = str(path), check_separator(separator)
        try:
            self._raw = path.open("rb")
        except (OSError, ValueError) as error:  # a name with a zero byte is no value
            given = getattr(error, "strerror", None) or error
            raise InputError(self._file, "a file that can be read", given) from None
        info = path.stat()
        self._bytes = info.st_size if stat.S_ISREG(info.st_mode) else 0
        packing = gzip.GzipFile(fileobj=self._raw) if packed else self._raw
        self._text = io.TextIOWrapper(
            cast(BinaryIO, packing), encoding="utf-8-sig", errors="surrogateescape", newline=""
        )
        self._next = 1  # the line at which the next row begins
        self._rows = csv.reader(self._lines(), delimiter=self._separator, strict=True)
        try:
            header = self._read(1)
            if not header or not header[0]:
                raise InputError(f"{self._file}: line 1", "the names of the columns", "nothing")
        except BaseException:
            self.close()
            raise
        self.names, self._next = tuple(header[0]), self._rows.line_num + 1

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield the rows of some columns."""
        places, first = [self.names.index(name) for name in names], True
        while True:
            rows = self._read(size)
            if rows or first:
                yield self._chunk(rows, names, places)
            if len(rows) < size:
                return
            first = False
            self._next = self._rows.line_num + 1

    def share(self) -> float | None:
        """Return how many of the bytes of the file were read."""
        return min(1.0, self._raw.tell() / self._bytes) if self._bytes else None

    def close(self) -> None:
        """Close the file."""
        self._text.close()
        self._raw.close()

    def _lines(self) -> Iterator[str]:
        """Yield the lines, and refuse what is no UTF-8."""
        for line in self._text:
            if not line.isascii() and any("\ud800" <= letter <= "\udfff" for letter in line):
                raise UnicodeError
            yield line

    def _read(self, size: int) -> Rows:
        """Return the next rows; if one cannot be read, the error names where it begins."""
        rows: Rows = []
        most = csv.field_size_limit(MOST_LETTERS)  # of the process: given back below
        try:
            for row in self._rows:
                rows.append(row)
                if len(rows) == size:
                    break
        except UnicodeError:
            raise self._unreadable(rows, "text in UTF-8", "other bytes") from None
        except csv.Error as error:
            expected = (
                f"cells that are quoted right, or not at all, of at most {MOST_LETTERS} letters"
            )
            raise self._unreadable(rows, expected, error) from None
        except (OSError, EOFError, zlib.error) as error:
            raise self._unreadable(rows, "a file that can be read to its end", error) from None
        finally:
            csv.field_size_limit(most)
        return rows

    def _chunk(self, rows: Rows, names: Sequence[str], places: list[int]) -> Chunk:
        """Return the cells at some places of each row, once all rows are known to be whole."""
        width = len(self.names)
        if any(len(row) != width for row in rows):
            rows = self._whole(rows, width)
        columns = {
            name: TextColumn([row[place] for row in rows])
            for name, place in zip(names, places, strict=True)
        }
        return Chunk(columns, len(rows), partial(self._place, rows, self._next))

    def _whole(self, rows: Rows, width: int) -> Rows:
        """Return rows with empty lines seen to: cells of the only column, or the end of a file."""
        if width == 1:
            rows = [row or [""] for row in rows]
        else:
            filled = max((n for n, row in enumerate(rows) if row), default=-1) + 1
            if filled < len(rows) and self._ended():
                rows = rows[:filled]
        for n, row in enumerate(rows):
            if len(row) != width:
                cells = f"{len(row)} cell{'s' * (len(row) != 1)}"
                raise self._unreadable(rows[:n], f"{width} cells, as in the header", cells)
        return rows

    def _ended(self) -> bool:
        """Return whether only empty lines follow."""
        try:
            while row := self._read(1):
                if row[0]:
                    return False
        except InputError:
            return False
        return True

    def _place(self, rows: Rows, first: int, row: int) -> str:
        return f"line {first + sum(map(_lines_of, rows[:row]))}"

    def _unreadable(self, before: Rows, expected: str, given: Any) -> InputError:
        place = self._place(before, self._next, len(before))
        return InputError(f"{self._file}: {place}", expected, given)


def _lines_of(row: list[str]) -> int:
    """Return how many lines of the file a row takes."""
    return 1 + sum(len(BREAK.findall(cell)) for cell in row)


class CSVWriter(Writer):
    """Rows of a CSV file in UTF-8, one line each, the names of the columns first."""

    def __init__(
        self, stream: BinaryIO, separator: str | None, simulated: bool, *, packed: bool = False
    ) -> None:
        # no name and no time of day go into the head of a compressed file
        packing = gzip.GzipFile("", "wb", fileobj=stream, mtime=0) if packed else None
        below = cast(BinaryIO, packing) if packing else stream
        self._packing = packing
        self._text = io.TextIOWrapper(below, encoding="utf-8", newline="")
        self._as_needed, self._always = (
            csv.writer(
                self._text,
                delimiter=check_separator(separator),
                lineterminator="\n",
                quoting=quoting,
            )
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        )
        self._begun = False

    def write(self, columns: Mapping[str, Column]) -> None:
        """Write rows."""
        cells = [column.texts() for column in columns.values()]
        if not self._begun:
            self._write([list(columns)])
            self._begun = True
        self._write(list(zip(*cells, strict=True)))

    def _write(self, rows: Sequence[Sequence[str | None]]) -> None:
        # a carriage return alone would end a line, and is not quoted by every version of csv
        returned = any(cell is not None and "\r" in cell for row in rows for cell in row)
        try:
            (self._always if returned else self._as_needed).writerows(rows)
        except UnicodeEncodeError:
            raise InputError("labels", "text that can be written in UTF-8", "other text") from None

    def close(self) -> None:
        """Write what is left."""
        self._text.flush()
        self._text.detach()
        if self._packing is not None:
            self._packing.close()
