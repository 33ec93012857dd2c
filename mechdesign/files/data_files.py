"""Data beside a problem file: columns of records, matrices and rows of a notion, as CSV tables."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mechdesign.domain import Domain, Label
from mechdesign.errors import InputError, did_you_mean, shown
from mechdesign.files.disk import DATA_VARIABLE, data_folder

__all__ = ["file_keys", "find_data", "is_file", "read_column", "read_matrix", "read_rows"]

COLUMNS = ("name", "side", "label", "coefficient", "exponent", "slope")
"""The columns of a table of rows; the last may be left out."""


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


def find_data(name: str, folder: Path, key: str) -> Path:
    """Return the data file: beside the problem file, else in the data folder."""
    places = [folder / name]
    shared = data_folder()
    if shared is not None:
        places.append(shared / name)
    for place in places:
        if place.is_file():
            return place
    hint = "" if shared else f"set {DATA_VARIABLE} to the folder of data"
    raise InputError(key, "a file beside the problem or in the data folder", name, hint)


def _lines(path: Path, separator: str, key: str) -> list[list[str]]:
    """Return the cells of a table, gzipped or not, without empty lines."""
    if len(separator) != 1 or separator in '"\r\n':
        expected = "one character, no quote or line end"
        raise InputError(f"{key}.separator", expected, shown(separator))
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            return [
                [cell.strip() for cell in row]
                for row in csv.reader(lines, delimiter=separator)
                if row
            ]
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        expected = "a table in UTF-8, whole"
        raise InputError(f"{key}.file", expected, f"{path.name}: {error}") from None


def read_column(path: Path, column: str, separator: str) -> list[str]:
    """Return the cells in one column of a table with a header line."""
    header, *rows = _lines(path, separator, "data") or [[]]
    if header.count(column) != 1:
        expected = f"one column of {path.name} ({', '.join(header[:8])}, ...)"
        given = "two of that name" if column in header else shown(column)
        raise InputError("data.column", expected, given, did_you_mean(column, header))
    place = header.index(column)
    return [row[place] if place < len(row) else "" for row in rows]


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
    lines = _lines(path, separator, key)
    k = len(inputs)
    if len(lines) not in (k, k + 1):
        expected = f"{k} lines, one for each input, or a header line more"
        raise InputError(f"{key}.file", expected, f"{len(lines)} lines in {path.name}")
    width = len(lines[0])
    for n, line in enumerate(lines):
        if len(line) != width:
            expected = f"{width} cells in line {n + 1} of {path.name}, as in the first"
            raise InputError(f"{key}.file", expected, f"{len(line)}")
    if len(lines) == k:
        return lines
    header, *body = lines
    columns = inputs if outputs is None else Domain(outputs)
    x = _places([line[0] for line in body], inputs, f"{key}.file: column of labels in {path.name}")
    y = _places(header[1:], columns, f"{key}.file: header line of {path.name}")
    return [[body[row][1 + column] for column in y] for row in x]


def _places(given: Sequence[str], labels: Domain, key: str) -> list[int]:
    """Return the place of each label among those given as text: each once, and no other."""
    found = [labels.index_of_text(text, key) for text in given]
    if sorted(found) != list(range(len(labels))):
        expected = f"each of {len(labels)} labels once"
        raise InputError(key, expected, f"{len(given)} cells, {len(set(found))} labels")
    return [found.index(place) for place in range(len(labels))]


def read_rows(table: Mapping[str, Any], key: str, folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a notion of one's own that a file lists, one coefficient in each line.

    The lines of one row share its ``name``; ``side`` is left or right. ``exponent``, and ``slope``
    where there is such a column, stand in any of them, and do not differ.
    """
    name, separator = file_keys(table, key)
    path = find_data(name, folder, f"{key}.file")
    header, *lines = _lines(path, separator, key) or [[]]
    known, needed = set(COLUMNS), set(COLUMNS) - {"slope"}
    if len(set(header)) < len(header) or not needed <= set(header) <= known:
        expected = f"a header line {separator.join(COLUMNS[:-1])}"
        raise InputError(f"{key}.file", expected, f"{separator.join(header)} in {path.name}")
    rows: dict[str, dict[str, Any]] = {}
    for n, line in enumerate(lines, 2):
        where = f"{key}.file: line {n} of {path.name}"
        if len(line) != len(header):
            raise InputError(where, f"{len(header)} cells", f"{len(line)}")
        cells = dict(zip(header, line, strict=True))
        if cells["side"] not in ("left", "right"):
            raise InputError(where, "left or right as the side", shown(cells["side"]))
        row = rows.setdefault(cells["name"], {"name": cells["name"], "left": [], "right": []})
        row[cells["side"]].append((cells["label"], cells["coefficient"]))
        for word in ("exponent", "slope"):
            value = cells.get(word, "")
            if value and row.setdefault(word, value) != value:
                expected = f"{word} {row[word]} of {cells['name']}, as in a line before"
                raise InputError(where, expected, value)
    return list(rows.values())
