"""CSV files, plain or compressed: the bytes are split into whole records, which pyarrow parses.

The splitting is done here, since pyarrow does not report line numbers and accepts misplaced quotes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.csv

from mechdesign.collection.records.sinks import check_separator
from mechdesign.collection.records.sources import Reader
from mechdesign.errors import InputError

EMPTY_LINES = (b"\n\n", b"\n\r", b"\r\r")
"""A text has an empty line, apart from the first line, only if it contains one of these."""


NO_TEXT = "text in UTF-8", "other bytes"


def _record(separator: str) -> bytes:
    """Return the regular expression of a record that is not an empty line, with its line end.

    Repetitions are possessive: they do not backtrack, so time and memory are linear. A carriage
    return ends a line only if the next byte is known, as it may be a line feed.
    """
    letter = re.escape(separator)
    field = rf'(?:"(?:[^"]++|"")*+"|[^"{letter}\r\n][^{letter}\r\n]*+)?+'
    return rf"(?![\r\n]){field}(?:{letter}{field})*+(?:\r\n|\n|\r(?=.))".encode()


class CSVReader(Reader):
    """Rows of a CSV file in UTF-8 with a header.

    The header is line 1; a row with quoted line ends is identified by its first line. Trailing
    empty lines are ignored, but in a file with one column they are empty cells.
    """

    kind = "a CSV file"
    separated = True

    _block, _first = b"", 1
    """The last parsed records, and their first line."""

    def __init__(
        self,
        path: Path,
        separator: str | None = None,
        packed: str | None = None,
        *,
        usual: str = ",",
    ) -> None:
        self._separator = check_separator(separator, usual)
        self._line, self._rest = 1, b""  # the bytes read but not yet parsed, and their first line
        super().__init__(path, separator, packed)

    def _opened(self) -> pa.Schema:
        """Read the names of the columns."""
        record, ended = _record(self._separator), False
        first = re.compile(record, re.DOTALL)
        while (found := first.match(self._rest)) is None and not ended:
            if len(self._rest) > self._most:
                break
            ended = self._more()
            self._rest = self._rest.removeprefix(b"\xef\xbb\xbf")  # byte-order mark
        if self._rest[:1] in b"\r\n":
            raise self._refused("the names of the columns", "nothing")
        if found is None:
            raise self._badly_quoted()
        try:
            text = io.StringIO(found[0].decode(), newline="")
            (names,) = csv.reader(text, delimiter=self._separator, strict=True)
        except UnicodeDecodeError:
            raise self._refused(*NO_TEXT) from None
        except csv.Error as error:
            raise self._refused("names of columns", error) from None
        self._pass(found.end())
        if len(names) == 1:
            record = rb"(?:%b|\r\n|\n|\r(?=.))" % record  # an empty line is an empty cell
        self._one, self._many = (
            re.compile(pattern, re.DOTALL) for pattern in (record, rb"(?:%b)*+" % record)
        )
        return pa.schema([(name, pa.string()) for name in names])

    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns."""
        expected = f"{len(self.schema)} cells, as in the header"
        ended = False
        while not ended:
            ended, is_text = self._more(), True
            block, self._first = self._rest[: self._whole(self._rest)], self._line
            try:
                block.decode()
            except UnicodeDecodeError as error:
                block, is_text = block[: self._whole(block[: error.start + 1])], False
            self._pass(len(block))
            self._block = block
            if block:
                table, wrong = self._parsed(names)
                yield table
                if wrong is not None:
                    cells = f"{wrong} cell{'s' * (wrong != 1)}"
                    raise self._refused(expected, cells, self.place(0, table.num_rows))
            if not is_text:
                raise self._refused(*NO_TEXT)
            if self._rest.strip(b"\r\n"):  # else empty, or empty lines that may be trailing
                if self._rest[:1] in b"\r\n":
                    raise self._refused(expected, "0 cells")
                if ended or len(self._rest) > self._most:
                    raise self._badly_quoted()
            else:
                self._rest = self._rest[-1:]  # one line end represents all: nothing may follow it

    def _next(self) -> str:
        return f"line {self._line}"

    def place(self, before: int, row: int) -> str:
        """Return the first line of a row of the block, by a walk over the records."""
        end = 0
        for _ in range(row):
            end = cast(re.Match[bytes], self._one.match(self._block, end)).end()
        return f"line {self._first + _line_ends(self._block[:end])}"

    def _more(self) -> bool:
        """Read more bytes and return whether the file has ended; terminate its last line."""
        more = self._read_on(f"line {self._line}")
        self._rest += more
        if not more and self._rest and not self._rest.endswith(b"\n"):
            self._rest += b"\n"
        return not more

    def _pass(self, end: int) -> None:
        """Drop the first bytes of the rest, and count their lines."""
        block, self._rest = self._rest[:end], self._rest[end:]
        self._line += _line_ends(block)

    def _whole(self, block: bytes) -> int:
        """Return the length of the longest prefix of whole, correctly quoted records."""
        odd = b'"' in block or block[:1] in b"\r\n" or any(pair in block for pair in EMPTY_LINES)
        if odd:
            return cast(re.Match[bytes], self._many.match(block)).end()  # may match nothing
        return max(block.rfind(b"\n"), block.rfind(b"\r", 0, -1)) + 1

    def _parsed(self, names: Sequence[str]) -> tuple[pa.Table, int | None]:
        """Return columns of the block up to the first row of the wrong length.

        Also return the number of cells of that row; None if there is none.
        """
        wrong: list[tuple[int, int]] = []

        def note(row: Any) -> str:
            wrong.append((row.number - 1, row.actual_columns))
            return "skip"

        places = [str(self.schema.names.index(name)) for name in names]
        reading = pa.csv.ReadOptions(
            column_names=[str(n) for n in range(len(self.schema))],
            use_threads=False,  # rows have no numbers otherwise
            block_size=len(self._block) + 1,
        )
        parsing = pa.csv.ParseOptions(
            delimiter=self._separator,
            newlines_in_values=True,
            ignore_empty_lines=False,
            invalid_row_handler=note,
        )
        texts = pa.csv.ConvertOptions(  # a label "007" stays as it is
            column_types=dict.fromkeys(places, pa.string()), include_columns=places
        )
        try:
            table = pa.csv.read_csv(pa.BufferReader(self._block), reading, parsing, texts)
        except pa.ArrowException:  # its message quotes the row
            raise self._refused("rows that can be read", "others") from None
        table = table.rename_columns(list(names))
        return (table.slice(0, wrong[0][0]), wrong[0][1]) if wrong else (table, None)

    def _badly_quoted(self) -> InputError:
        expected = "cells that are quoted right, or not at all, in "
        return self._too_long(f"{self.file}: line {self._line}", expected, len(self._rest))

    def _refused(self, expected: str, given: Any, place: str | None = None) -> InputError:
        return InputError(f"{self.file}: {place or f'line {self._line}'}", expected, given)


def _line_ends(block: bytes) -> int:
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
