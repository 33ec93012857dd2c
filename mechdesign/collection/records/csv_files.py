"""CSV files, plain or compressed: the bytes are split into whole records, which pyarrow parses.

The splitting is done here, since pyarrow does not report line numbers and accepts misplaced quotes.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, cast

import pyarrow as pa
import pyarrow.csv

from mechdesign.collection.records.base import RecordFile, safe_table, text_writer, write_tables
from mechdesign.collection.tables.cells import text_array, texts_of
from mechdesign.collection.tables.jobs import NOTE
from mechdesign.errors import InputError, shown
from mechdesign.sampling import SIMULATION
from mechdesign.writing.atomic import atomic_file, check_different

if TYPE_CHECKING:
    from mechdesign.estimation import Estimate

EMPTY_LINES = (b"\n\n", b"\n\r", b"\r\r")
"""A text has an empty line, apart from the first line, only if it contains one of these."""

NO_TEXT = "text in UTF-8", "other bytes"


def check_separator(separator: Any, usual: str = ",") -> str:
    """Return the separator of cells, or the usual one for None, or raise InputError."""
    found = {None: usual, "\\t": "\t"}.get(separator, separator)
    if not isinstance(found, str) or len(found) != 1 or found in '"\r\n\0' or not found.isascii():
        raise InputError("separator", "one character in ASCII, as ; or a tab", shown(separator))
    return found


def _record(separator: str) -> bytes:
    """Return the regular expression of a record that is not an empty line, with its line end.

    Repetitions are possessive: they do not backtrack, so time and memory are linear. A carriage
    return ends a line only if the next byte is known, as it may be a line feed.
    """
    letter = re.escape(separator)
    field = rf'(?:"(?:[^"]++|"")*+"|[^"{letter}\r\n][^{letter}\r\n]*+)?+'
    return rf"(?![\r\n]){field}(?:{letter}{field})*+(?:\r\n|\n|\r(?=.))".encode()


class CSVFile(RecordFile):
    """Rows of a CSV file in UTF-8 with a header.

    The header is line 1; a row with quoted line ends is identified by its first line. Trailing
    empty lines are ignored, but in a file with one column they are empty cells.
    """

    kind, unit, separated = "a CSV file", "line", True

    usual: ClassVar[str] = ","
    """The separator by default."""

    _block, _first = b"", 1
    """The last parsed records, and their first line."""

    def __init__(self, path: Path, separator: str | None = None, packed: str | None = None) -> None:
        self._separator = check_separator(separator, self.usual)
        self._rest = b""  # the bytes read but not yet parsed
        super().__init__(path, separator, packed)

    @classmethod
    def writer(
        cls,
        stream: BinaryIO,
        schema: pa.Schema,
        *,
        separator: str | None = None,
        packed: str | None = None,
    ) -> Any:
        """Write CSV in UTF-8 with a header; cells are quoted if needed."""
        letter = check_separator(separator, cls.usual)

        def encode(table: pa.Table) -> Any:
            texts = {name: texts_of(table.column(name), name) for name in table.column_names}
            return _csv_rows(pa.table(texts), letter)

        head = _csv_rows(pa.table({name: [name] for name in schema.names}), letter)
        return text_writer(stream, packed, head, encode)

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
            fault = "the header row is missing"
            raise InputError(f"{self.file}: {self._next}", "a header row", "none", fault=fault)
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
            block, self._first = self._rest[: self._whole(self._rest)], self._number
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

    def place(self, before: int, row: int) -> str:
        """Return the first line of a row of the block, by a walk over the records."""
        end = 0
        for _ in range(row):
            end = cast(re.Match[bytes], self._one.match(self._block, end)).end()
        return f"line {self._first + _line_ends(self._block[:end])}"

    def _more(self) -> bool:
        """Read more bytes and return whether the file has ended; terminate its last line."""
        more = self._read_on(self._next)
        self._rest += more
        if not more and self._rest and not self._rest.endswith(b"\n"):
            self._rest += b"\n"
        return not more

    def _pass(self, end: int) -> None:
        """Drop the first bytes of the rest, and count their lines."""
        block, self._rest = self._rest[:end], self._rest[end:]
        self._number += _line_ends(block)

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
        return self._too_long(f"{self.file}: {self._next}", expected, len(self._rest))

    def _refused(self, expected: str, given: Any, place: str | None = None) -> InputError:
        return InputError(f"{self.file}: {place or self._next}", expected, given)


class TSVFile(CSVFile):
    """Rows of a file with tabs between the cells."""

    usual = "\t"


def _line_ends(block: bytes) -> int:
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def _csv_rows(table: pa.Table, separator: str) -> Any:
    # a line of one empty cell must not be an empty line
    quoted = table.num_columns == 1 and "" in table.column(0).unique().fill_null("").to_pylist()
    if quoted:
        table = table.set_column(0, table.column_names[0], table.column(0).fill_null(""))
    for quoting in ("needed",) if quoted else ("none", "needed"):
        rows = pa.BufferOutputStream()
        options = pa.csv.WriteOptions(
            include_header=False, delimiter=separator, quoting_style=quoting
        )
        # without quoting, pyarrow rejects cells with a separator, a quote or a line end
        with contextlib.suppress(*[pa.ArrowInvalid] * (quoting == "none")):
            pa.csv.write_csv(table, rows, options)
            break
    return rows.getvalue()


# --- estimates -----------------------------------------------------------------------------------


def check_table_name(
    path: str | os.PathLike[str], source: str | os.PathLike[str] | None = None
) -> Path:
    """Return a path, or raise :class:`InputError` unless it is a CSV file other than the source."""
    file = Path(path)
    if file.suffix.lower() != ".csv":
        raise InputError(str(path), "a file name that ends in .csv", shown(file.name))
    if source is not None:
        check_different(Path(source), file)
    return file


def save_estimate(
    estimate: Estimate,
    path: str | os.PathLike[str],
    confidence: float = 0.95,
    *,
    spreadsheet_safe: bool = False,
) -> None:
    """Write an estimate atomically to a CSV file with one row per input.

    The columns are ``input``, ``frequency``, ``standard_error``, ``lower`` and ``upper``; unknown
    values are empty. A column ``note`` marks an estimate from a simulation.

    Parameters
    ----------
    estimate
        The estimate.
    path
        A file name ending in ``.csv``.
    confidence
        Confidence of the intervals from ``lower`` to ``upper``.
    spreadsheet_safe
        Whether to prefix labels that a spreadsheet would run with an apostrophe.

    Raises
    ------
    InputError
        If the file cannot be written, or the confidence is out of range.
    """
    file, names = check_table_name(path), ("frequency", "standard_error", "lower", "upper")
    columns: dict[str, Sequence[str | None]] = {"input": estimate.inputs.texts}
    for name, numbers in zip(names, estimate.columns(confidence).T, strict=True):
        columns[name] = _numbers(numbers.tolist())
    if estimate.simulated:
        columns[NOTE] = [SIMULATION] * len(estimate.inputs)
    save_table(file, columns, spreadsheet_safe=spreadsheet_safe)


def save_table(
    path: str | os.PathLike[str],
    columns: Mapping[str, Sequence[str | None]],
    *,
    spreadsheet_safe: bool = False,
) -> None:
    """Write columns of text atomically to a CSV file."""
    table = pa.table({name: text_array(cells) for name, cells in columns.items()})
    with atomic_file(path) as stream:
        write_tables(stream, CSVFile.writer, [safe_table(table) if spreadsheet_safe else table])


def _numbers(values: Iterable[float]) -> list[str | None]:
    return [repr(value) if math.isfinite(value) else None for value in values]
