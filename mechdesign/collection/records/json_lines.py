"""NDJSON files: a JSON object in each line, whose keys are the columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import chain, islice, product
from typing import Any, BinaryIO

import pyarrow as pa

from mechdesign.collection.records.base import PIECE, RecordFile, text_writer
from mechdesign.errors import InputError

EXPECTED = "a JSON object of text, numbers and nulls in each line, no key twice"


class NDJSONFile(RecordFile):
    """Rows of an NDJSON file in UTF-8.

    The columns are the keys of the first line; a missing key is an empty cell. Cells are text;
    numbers keep their notation.
    """

    kind, noun, unit = "an NDJSON file", "line", "line"

    @classmethod
    def writer(
        cls,
        stream: BinaryIO,
        schema: pa.Schema,  # noqa: ARG003
        *,
        packed: str | None = None,
        **_: Any,
    ) -> Any:
        """Write NDJSON; integers and floats are numbers, NaN is null, other cells are text."""
        encode = json.JSONEncoder(ensure_ascii=False, default=str).encode

        def lines(table: pa.Table) -> bytes:
            rows = table.to_pylist()
            floats = [f.name for f in table.schema if pa.types.is_floating(f.type)]
            for row, name in product(rows, floats):
                if row[name] is not None and not math.isfinite(row[name]):
                    row[name] = None if math.isnan(row[name]) else str(row[name])
            return "".join(f"{encode(row)}\n" for row in rows).encode()

        return text_writer(stream, packed, b"", lines)

    def _opened(self) -> pa.Schema:
        self._taken = 0  # the bytes of the lines read
        self._rows = self._each()
        first = list(islice(self._rows, 1))
        self._rows = chain(first, self._rows)
        return pa.schema([(name, pa.string()) for row in first for name in row])

    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns."""
        rows, start = list[dict[str, str | None]](), 0
        for row in self._rows:
            rows.append(row)
            if len(rows) == size or self._taken - start >= PIECE:
                yield _table(names, rows)
                rows, start = [], self._taken
        if rows:
            yield _table(names, rows)

    def _each(self) -> Iterator[dict[str, str | None]]:
        """Yield the cells of each line."""
        rest = b""
        while more := self._read_on(""):
            *lines, rest = (rest + more).split(b"\n")
            for line in lines:
                yield self._row(line)
                self._number, self._taken = self._number + 1, self._taken + len(line)
            if len(rest) > self._most:
                raise self._too_long(self.file, "", len(rest))
        if rest:
            yield self._row(rest)

    def _row(self, line: bytes) -> dict[str, str | None]:
        """Return the cells of a line; numbers keep their notation."""
        try:
            row = json.loads(
                line.decode(),
                parse_int=str,
                parse_float=str,
                parse_constant=_constant,
                object_pairs_hook=_without_twice,
            )
            cells = {name: _text(cell) for name, cell in row.items()}
            if b"\\u" in line:
                "".join(filter(None, cells.values())).encode()  # raises ValueError for surrogates
            return cells
        except (ValueError, RecursionError, AttributeError, TypeError):
            raise InputError(f"{self.file}: {self._next}", EXPECTED, "something else") from None


def _table(names: Sequence[str], rows: Sequence[dict[str, str | None]]) -> pa.Table:
    columns = [pa.array([row.get(name) for row in rows], pa.string()) for name in names]
    return pa.table(columns, names=list(names))


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
        return cell
    raise TypeError


def _constant(word: str) -> str | None:
    """Return NaN as an empty cell, other constants as text."""
    return None if word == "NaN" else word
