"""Data beside a problem file: columns of records, matrices and rows of a notion, as CSV tables.

Tables are read line by line, within limits. Messages say where something is wrong, and do not quote
what stands there: a problem that somebody else wrote may name a file that is not meant for it.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, did_you_mean, shown
from mechdesign.exact import as_fraction
from mechdesign.files.folders import find_data
from mechdesign.files.reading import open_plain, place_of_column
from mechdesign.notions.base import is_infinite
from mechdesign.resources import check_size, current

__all__ = [
    "file_keys",
    "is_file",
    "number_column",
    "read_column",
    "read_gains",
    "read_matrix",
    "read_numbers",
    "read_rows",
]

COLUMNS = ("name", "side", "label", "coefficient", "exponent", "slope")
"""The columns of a table of rows; the last may be left out."""

OTHER = "something else"
"""Stands for a cell in an error, which never quotes it."""


def is_file(value: Any) -> bool:
    """Return whether a table of a problem file refers to a data file."""
    return isinstance(value, dict) and "file" in value


def file_keys(table: Mapping[str, Any], key: str) -> tuple[str, str]:
    """Return the file and the separator that ``{ file, separator }`` names."""
    known = ("file", "separator")
    for word, value in table.items():
        if word not in known:
            expected = f"one of the keys {', '.join(known)}"
            raise InputError(f"{key}.{word}", expected, shown(word), did_you_mean(word, known))
        if not isinstance(value, str):
            raise InputError(f"{key}.{word}", "text", shown(value))
    return table["file"], table.get("separator", ",")


class _Lines:
    """The lines of a text, counted, with limits on each row and on their total length."""

    def __init__(self, stream: io.TextIOWrapper, key: str) -> None:
        self._stream, self._key, self._most = stream, key, current().row_bytes
        self._total, self.row = 0, 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(self._most + 1)
        if not line:
            raise StopIteration
        self.row += len(line)
        self._total += len(line)
        check_size("row_bytes", self.row, self._key)
        check_size("bytes", self._total, self._key)
        return line


def _checked(separator: str, key: str) -> str:
    """Return the separator of cells."""
    if len(separator) != 1 or separator in '"\r\n':
        expected = "one character, no quote or line end"
        raise InputError(f"{key}.separator", expected, shown(separator))
    return separator


def _rows(path: Path, separator: str, where: str) -> Iterator[list[str]]:
    """Yield the cells of each row of a table, gzipped or not, without empty lines."""
    whole = "a complete table in UTF-8"
    with open_plain(path) as raw:
        packed = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        lines = _Lines(io.TextIOWrapper(packed, encoding="utf-8-sig", newline=""), where)
        try:
            for row in csv.reader(lines, delimiter=separator):
                lines.row = 0
                check_size("columns", len(row), where)
                if row:
                    yield [cell.strip() for cell in row]
        except csv.Error as error:  # its text names faults of quoting, and no cell
            raise InputError(where, whole, f"{path.name}: {error}") from None
        except UnicodeDecodeError:
            fault = f"{path.name} is not UTF-8 text"
            raise InputError(where, whole, "other bytes", fault=fault) from None
        except (OSError, EOFError, zlib.error):
            fault = f"{path.name} is truncated or damaged"
            raise InputError(where, whole, "a damaged one", fault=fault) from None


def read_column(path: Path, column: str, separator: str) -> Iterator[str]:
    """Yield the cells in one column of a table with a header."""
    rows = _rows(path, _checked(separator, "data"), "data.file")
    place = place_of_column(column, next(rows, []), "data.column", path.name)
    for row in rows:
        yield row[place] if place < len(row) else ""


def read_numbers(path: Path) -> list[list[str]]:
    """Return the cells of a table of numbers >= 0 without a header, as text.

    Raises
    ------
    InputError
        If a cell is no such number, or the file cannot be read.
    """
    lines: list[list[str]] = []
    entries = 0
    for line in _rows(path, ",", str(path)):
        entries += len(line)
        check_size("entries", entries, str(path))
        lines.append(line)
    return _numbers(lines, str(path), "", 1)


def read_matrix(
    table: Mapping[str, Any],
    key: str,
    folder: Path,
    inputs: Domain,
    outputs: Sequence[Label] | None = None,
) -> list[list[str]]:
    """Return the entries of a matrix in a file, as text, in the order of the labels.

    A file with one line more than there are inputs has a header line and a column of labels, which
    are matched; without, the order counts.

    Parameters
    ----------
    table
        ``{ file, separator }``.
    key
        What refers to the file, for errors.
    folder
        Where the problem file is.
    inputs
        What rows are for.
    outputs
        What columns are for; default the inputs.
    """
    name, separator = file_keys(table, key)
    path = find_data(name, folder, f"{key}.file")
    where, k, entries = f"{key}.file", len(inputs), 0
    lines: list[list[str]] = []
    expected = f"{k} lines, one for each input, and optionally a header"
    for n, line in enumerate(_rows(path, _checked(separator, key), where), 1):
        if n > k + 1:
            raise InputError(where, expected, f"more than {k + 1} in {path.name}")
        if lines and len(line) != len(lines[0]):
            cells = f"{len(lines[0])} cells in line {n} of {path.name}, as in the first"
            raise InputError(where, cells, f"{len(line)}")
        entries += len(line)
        check_size("entries", entries, where)
        lines.append(line)
    if len(lines) < k:
        raise InputError(where, expected, f"{len(lines)} lines in {path.name}")
    if len(lines) == k:
        return _numbers(lines, where, f" of {path.name}", 1)
    header, *body = lines
    columns = inputs if outputs is None else Domain(outputs)
    x = _places([line[0] for line in body], inputs, f"{where}: column of labels in {path.name}")
    y = _places(header[1:], columns, f"{where}: header line of {path.name}")
    numbers = _numbers([line[1:] for line in body], where, f" of {path.name}", 2)
    return [[numbers[row][column] for column in y] for row in x]


def read_gains(table: Mapping[str, Any], key: str, folder: Path, inputs: Domain) -> list[list[str]]:
    """Return a matrix in a file with a line for each guess and a column for each input, as text.

    Lines with one cell more than there are inputs begin with the name of the guess, below a header
    line of labels, which are matched; without, the order counts.
    """
    name, separator = file_keys(table, key)
    path = find_data(name, folder, f"{key}.file")
    where, k, entries = f"{key}.file", len(inputs), 0
    lines: list[list[str]] = []
    for n, line in enumerate(_rows(path, _checked(separator, key), where), 1):
        if len(line) not in (k, k + 1) or (lines and len(line) != len(lines[0])):
            expected = f"{k} cells in each line, one for each input, and optionally a label"
            raise InputError(where, expected, f"{len(line)} in line {n} of {path.name}")
        entries += len(line)
        check_size("entries", entries, where)
        lines.append(line)
    labelled = bool(lines) and len(lines[0]) > k
    if len(lines) <= labelled:
        fault = f"{path.name} has no lines with numbers"
        raise InputError(where, "a line for each guess", "none", fault=fault)
    if not labelled:
        return _numbers(lines, where, f" of {path.name}", 1)
    header, *body = lines
    order = _places(header[1:], inputs, f"{where}: header line of {path.name}")
    numbers = _numbers([line[1:] for line in body], where, f" of {path.name}", 2)
    return [[row[column] for column in order] for row in numbers]


def _numbers(lines: list[list[str]], where: str, of: str, first: int) -> list[list[str]]:
    """Return cells that are numbers >= 0, maybe infinite; ``first`` is their line and column."""
    for n, line in enumerate(lines, first):
        for m, cell in enumerate(line, first):
            if not is_infinite(cell):
                place = f"{where}: line {n}{of}, column {m}"
                _number(cell, place, "a finite number >= 0, or inf", 0)
    return lines


def _number(cell: str, where: str, expected: str, least: int | None = None) -> None:
    """Raise InputError unless a cell is a number; the error does not quote the cell."""
    try:
        found = as_fraction(cell)
    except InputError:
        raise InputError(where, expected, OTHER) from None
    if least is not None and found < least:
        raise InputError(where, expected, "a smaller number")


def _places(given: Sequence[str], labels: Domain, key: str) -> list[int]:
    """Return the place of each label among texts, in which each must occur exactly once."""
    found = [labels.index_of_text(text, key, quoted=False) for text in given]
    if sorted(found) != list(range(len(labels))):
        expected = f"each of {len(labels)} labels once"
        raise InputError(key, expected, f"{len(given)} cells, {len(set(found))} labels")
    order = {place: n for n, place in enumerate(found)}
    return [order[place] for place in range(len(labels))]


def read_rows(
    table: Mapping[str, Any], key: str, folder: Path, inputs: Domain
) -> list[dict[str, Any]]:
    """Return the rows of a user's own notion from a file with one coefficient per line.

    The lines of one row share its ``name``; ``side`` is left or right. ``exponent``, and ``slope``
    where there is such a column, stand in any of them, and do not differ.
    """
    name, separator = file_keys(table, key)
    path = find_data(name, folder, f"{key}.file")
    lines = _rows(path, _checked(separator, key), f"{key}.file")
    header = next(lines, [])
    known, needed = set(COLUMNS), set(COLUMNS) - {"slope"}
    if len(set(header)) < len(header) or not needed <= set(header) <= known:
        expected = f"the header {separator.join(COLUMNS[:-1])}, and optionally slope"
        raise InputError(f"{key}.file", expected, f"another in {path.name}")
    rows: dict[str, dict[str, Any]] = {}
    for n, line in enumerate(lines, 2):
        where = f"{key}.file: line {n} of {path.name}"
        check_size("entries", n * len(header), where)
        if len(line) != len(header):
            raise InputError(where, f"{len(header)} cells", f"{len(line)}")
        cells = dict(zip(header, line, strict=True))
        if cells["side"] not in ("left", "right"):
            raise InputError(where, "left or right as the side", "another word")
        inputs.index_of_text(cells["label"], f"{where}, label", quoted=False)
        for word in ("coefficient", "exponent", "slope"):
            if word == "coefficient" or cells.get(word):
                _number(cells[word], f"{where}, {word}", "a finite number")
        row = rows.setdefault(cells["name"], {"name": cells["name"], "left": [], "right": []})
        row[cells["side"]].append((cells["label"], cells["coefficient"]))
        for word in ("exponent", "slope"):
            value = cells.get(word, "")
            if value and row.setdefault(word, value) != value:
                fault = f"the {word} differs from that of an earlier line of the same row"
                raise InputError(where, f"one {word} for a row", "two", fault=fault)
    return list(rows.values())


def number_column(path: Path, column: str, separator: str, key: str) -> list[Any]:
    """Return the numbers in a column of a file, exact."""
    found = []
    for row, cell in enumerate(read_column(path, column, separator), 1):
        try:
            found.append(as_fraction(cell))
        except InputError:
            where = f"{key}: record {row} of {path.name}"
            raise InputError(where, "a number", "something else") from None
    return found
