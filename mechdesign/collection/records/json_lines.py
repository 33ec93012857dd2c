"""NDJSON files: a JSON object in each line, whose keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from mechdesign.collection.records.record_files import Reader, Rows, Writer, numbered
from mechdesign.collection.tables.cells import text_array
from mechdesign.errors import InputError, LimitError
from mechdesign.resources import current

__all__ = ["NDJSONReader", "NDJSONWriter"]

EXPECTED = "a JSON object of text, numbers and nulls in each line, no key twice"


class NDJSONReader(Reader):
    """Rows of an NDJSON file in UTF-8; lines are counted from 1.

    The columns are the keys of the first line; a row that lacks one holds nothing there. Cells are
    text, numbers as they are written.
    """

    kind = "an NDJSON file"

    def _opened(self) -> pa.Schema:
        self._lines, self._first = self._each(), list[bytes]()
        self._first = list(islice(self._lines, 1))
        names = [name for line in self._first for name in self._row(line, 1)]
        return pa.schema([(name, pa.string()) for name in names])

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Rows]:
        """Yield the rows of some columns."""
        lines, before = enumerate(chain(self._first, self._lines), 1), 0
        while True:
            rows = [self._row(line, number) for number, line in islice(lines, size)]
            cells = {name: text_array([row.get(name) for row in rows]) for name in names}
            yield pa.table(cells), numbered("line", before)
            before += len(rows)
            if len(rows) < size:
                return

    def _each(self) -> Iterator[bytes]:
        """Yield lines."""
        rest, most = b"", current().row_bytes
        while more := self._read_on():
            *lines, rest = (rest + more).split(b"\n")
            yield from lines
            if len(rest) > most:
                hint = f"allow longer rows with --allow row_bytes={2 * len(rest)}"
                expected = f"rows of at most {most} bytes"
                raise LimitError(self._file, expected, "a longer one", hint)
        if rest:
            yield rest

    def _row(self, line: bytes, number: int) -> dict[str, str | None]:
        """Return the cells of a line, numbers as they are written."""
        try:
            row = json.loads(
                line.decode(),
                parse_int=str,
                parse_float=str,
                parse_constant=str,
                object_pairs_hook=_without_twice,
            )
            return {name: _text(cell) for name, cell in row.items()}
        except (ValueError, RecursionError, AttributeError, TypeError):
            place = f"{self._file}: line {number}"
            raise InputError(place, EXPECTED, "something else") from None


def _without_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, or raise ValueError if a key is in it twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError
    return row


def _text(cell: Any) -> str | None:
    """Return a cell as text, or raise TypeError for what is nested."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if cell is None or isinstance(cell, str):
        return None if cell == "NaN" else cell
    raise TypeError


class NDJSONWriter(Writer):
    """Rows of an NDJSON file; whole numbers and floats are numbers, all else is text."""

    def write(self, table: pa.Table) -> None:
        """Write rows."""
        encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
        self._bytes.write("".join(f"{encode(row)}\n" for row in table.to_pylist()).encode())
