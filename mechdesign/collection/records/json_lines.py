"""NDJSON files: a JSON object in each line, whose keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from mechdesign.collection.records.sources import Reader
from mechdesign.collection.tables.cells import text_array
from mechdesign.errors import InputError

__all__ = ["NDJSONReader"]

EXPECTED = "a JSON object of text, numbers and nulls in each line, no key twice"


class NDJSONReader(Reader):
    """Rows of an NDJSON file in UTF-8.

    The columns are the keys of the first line; a missing key is an empty cell. Cells are text;
    numbers keep their notation.
    """

    kind, noun = "an NDJSON file", "line"

    def _opened(self) -> pa.Schema:
        self._rows = self._each()
        first = list(islice(self._rows, 1))
        self._rows = chain(first, self._rows)
        return pa.schema([(name, pa.string()) for row in first for name in row])

    def tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns."""
        while rows := list(islice(self._rows, size)):
            yield pa.table({name: text_array([row.get(name) for row in rows]) for name in names})

    def _each(self) -> Iterator[dict[str, str | None]]:
        """Yield the cells of each line."""
        rest, number = b"", 0
        while more := self._read_on(""):
            *lines, rest = (rest + more).split(b"\n")
            for line in lines:
                number += 1
                yield self._row(number, line)
            if len(rest) > self._most:
                raise self._too_long(self.file, "", len(rest))
        if rest:
            yield self._row(number + 1, rest)

    def _row(self, number: int, line: bytes) -> dict[str, str | None]:
        """Return the cells of a line; numbers keep their notation."""
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
            place = f"{self.file}: line {number}"
            raise InputError(place, EXPECTED, "something else") from None


def _without_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, or raise ValueError for a duplicate key."""
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError
    return row


def _text(cell: Any) -> str | None:
    """Return a cell as text, or raise TypeError for nested values."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if cell is None or isinstance(cell, str):
        return None if cell == "NaN" else cell
    raise TypeError
