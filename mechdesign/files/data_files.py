"""CSV data referenced by a problem file: columns of records, matrices, and rows of a notion.

Tables are read line by line, within limits. Error messages give locations but do not quote the
data: an untrusted problem may reference a file that its author must not see.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from mechdesign.domain import Domain
from mechdesign.errors import InputError, check_keys, shown
from mechdesign.exact import Exact, as_fraction
from mechdesign.files.reading import find_data, open_plain, place_of_column
from mechdesign.notions.base import is_infinite
from mechdesign.resources import check_size, current

COLUMNS = ("name", "side", "label", "coefficient", "exponent", "slope")
"""The columns of a table of rows; the last is optional."""

NUMBER = "a finite number >= 0, or inf"
"""An entry of a matrix."""

OTHER = "something else"
"""Replaces a cell in an error, which never quotes it."""


def is_file(value: Any) -> bool:
    """Return whether a table of a problem file references a data file."""
    return isinstance(value, dict) and "file" in value


class DataFile:
    """A CSV file in a table of a problem file: ``{ file, separator }``, with optional columns.

    ``columns`` is the key for the names of columns: ``"column"`` for one, ``"columns"`` for two;
    ``also`` are further keys allowed in the table, and ``expected`` is a valid table, for errors.
    """

    def __init__(
        self,
        given: Any,
        key: str,
        folder: Path,
        columns: str = "",
        also: tuple[str, ...] = (),
        expected: str = "",
    ) -> None:
        keys = ("file", columns) if columns else ("file",)
        if not isinstance(given, dict):
            expected = expected or f"a table {{ {', '.join((*keys, *also))} }}"
            raise InputError(key, expected, shown(given))
        check_keys(given, key, (*keys, "separator", *also), required=keys)
        names = given[columns] if columns == "columns" else [given[columns]] if columns else []
        if columns == "columns" and (not isinstance(names, list) or len(names) != 2):
            raise InputError(f"{key}.columns", "the names of two columns", shown(names))
        separator = given.get("separator", ",")
        texts = [("file", given["file"]), ("separator", separator)]
        for word, value in (*texts, *((columns, name) for name in names)):
            if not isinstance(value, str):
                raise InputError(f"{key}.{word}", "text", shown(value))
        if len(separator) != 1 or separator in '"\r\n':
            expected = "one character, no quote or line end"
            raise InputError(f"{key}.separator", expected, shown(separator))
        self._key, self.where, self._separator, self._names = key, f"{key}.file", separator, names
        self.path = find_data(given["file"], folder, self.where)

    def rows(self) -> Iterator[list[str]]:
        """Yield the cells of each row, without empty lines."""
        return _rows(self.path, self._separator, self.where)

    def cells(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the location of each record, for errors, and its cells in the columns."""
        rows = self.rows()
        header = next(rows, [])
        key, name = f"{self._key}.column", self.path.name
        places = [place_of_column(column, header, key, name) for column in self._names]
        for n, row in enumerate(rows, 1):
            where = f"{self.where}: record {n} of {name}"
            yield where, tuple(row[place] if place < len(row) else "" for place in places)

    def numbers(self) -> list[Any]:
        """Return the exact number in the column for each record, or the pair in two columns."""
        rows = [
            tuple(_number(cell, where, "a number") for cell in cells)
            for where, cells in self.cells()
        ]
        return rows if len(self._names) > 1 else [number for (number,) in rows]


def _rows(path: Path, separator: str, where: str) -> Iterator[list[str]]:
    """Yield the cells of each row of a table, gzipped or not, without empty lines."""
    whole, in_row = "a complete table in UTF-8", 0

    def lines(stream: io.TextIOWrapper) -> Iterator[str]:
        """Yield lines, with limits on the length of each row and on the total length."""
        nonlocal in_row
        total, most = 0, current().row_bytes
        while line := stream.readline(most + 1):
            in_row, total = in_row + len(line), total + len(line)
            check_size("row_bytes", in_row, where)
            check_size("bytes", total, where)
            yield line

    with open_plain(path) as raw:
        packed = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        text = io.TextIOWrapper(packed, encoding="utf-8-sig", newline="")
        try:
            for row in csv.reader(lines(text), delimiter=separator):
                in_row = 0
                check_size("columns", len(row), where)
                if row:
                    yield [cell.strip() for cell in row]
        except csv.Error as error:  # its message is about quoting, and does not contain cells
            raise InputError(where, whole, f"{path.name}: {error}") from None
        except UnicodeDecodeError:
            fault = f"{path.name} is not UTF-8 text"
            raise InputError(where, whole, "other bytes", fault=fault) from None
        except (OSError, EOFError, zlib.error):
            fault = f"{path.name} is truncated or damaged"
            raise InputError(where, whole, "a damaged one", fault=fault) from None


def _table(rows: Iterator[list[str]], where: str, of: str) -> list[list[str]]:
    """Return rows of equal length, within the limit on entries."""
    lines: list[list[str]] = []
    for n, line in enumerate(rows, 1):
        if lines and len(line) != len(lines[0]):
            cells = f"{len(lines[0])} cell{'s' * (len(lines[0]) != 1)}"
            expected = f"{cells} in line {n}{of}, as in the first"
            raise InputError(where, expected, f"{len(line)}")
        check_size("entries", n * len(line), where)
        lines.append(line)
    return lines


def read_numbers(path: Path) -> list[list[Exact]]:
    """Return the cells of a table of nonnegative numbers without a header."""
    where = str(path)
    lines = _table(_rows(path, ",", where), where, "")
    return _numbers(lines, where, "", 1, "a table without a header and without labels is read")


def read_matrix(
    table: Mapping[str, Any],
    key: str,
    folder: Path,
    columns: Domain,
    rows: Domain | None = None,
) -> list[list[Exact]]:
    """Return the entries of a matrix in a file, in the order of the labels.

    If lines have one cell more than there are columns, the first cell and the header are labels and
    are matched with the domains. Otherwise the order of the file is used. Without a domain of the
    rows there may be any number of them, such as guesses.
    """
    file, m = DataFile(table, key, folder), len(columns)
    of = f" of {file.path.name}"
    lines = _table(file.rows(), file.where, of)
    labels = (len(lines[0]) if lines else m) - m
    if labels not in (0, 1):
        expected = f"{m} cells in each line, one for each column, and optionally a label"
        raise InputError(file.where, expected, f"{m + labels} in line 1{of}")
    body = lines[labels:]
    if rows is not None and len(body) != len(rows):
        expected = f"{len(rows)} lines, one for each input, and a header if there are labels"
        raise InputError(file.where, expected, f"{len(lines)} lines in {file.path.name}")
    if not body:
        fault = f"{file.path.name} has no lines with numbers"
        raise InputError(file.where, "a line for each guess", "none", fault=fault)
    numbers = _numbers([line[labels:] for line in body], file.where, of, 1 + labels)
    if not labels:
        return numbers
    order = _places(lines[0][1:], columns, f"{file.where}: header line{of}")
    found = [[row[column] for column in order] for row in numbers]
    if rows is None:
        return found
    key = f"{file.where}: column of labels in {file.path.name}"
    return [found[x] for x in _places([line[0] for line in body], rows, key)]


def _numbers(
    lines: list[list[str]], where: str, of: str, first: int, hint: str = ""
) -> list[list[Exact]]:
    """Return numbers in [0, inf], inf as text; ``first`` is their first line and column."""
    found = list[list[Exact]]()
    for n, line in enumerate(lines, first):
        found.append([])
        for m, cell in enumerate(line, first):
            try:
                found[-1].append(as_fraction(cell, least=0))
            except InputError:
                if not is_infinite(cell):
                    place = f"{where}: line {n}{of}, column {m}"
                    raise InputError(place, NUMBER, OTHER, hint) from None
                found[-1].append(cell)
    return found


def _number(cell: str, where: str, expected: str) -> Fraction:
    """Return the number in a cell; the error does not quote the cell."""
    try:
        return as_fraction(cell)
    except InputError:
        raise InputError(where, expected, OTHER) from None


def _places(given: Sequence[str], labels: Domain, key: str) -> list[int]:
    """Return the index of each label among texts, which must contain each exactly once."""
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

    The lines of a row share its ``name``; ``side`` is left or right. ``exponent``, and the optional
    ``slope``, may be in any of its lines, and must not differ.
    """
    file = DataFile(table, key, folder)
    lines = file.rows()
    header = next(lines, [])
    known, needed = set(COLUMNS), set(COLUMNS) - {"slope"}
    if len(set(header)) < len(header) or not needed <= set(header) <= known:
        expected = f"the header {','.join(COLUMNS[:-1])}, and optionally slope"
        raise InputError(file.where, expected, f"another in {file.path.name}")
    rows: dict[str, dict[str, Any]] = {}
    for n, line in enumerate(lines, 2):
        where = f"{file.where}: line {n} of {file.path.name}"
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
