"""NDJSON files: a JSON object in each line, whose keys are the columns."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from mechdesign.collection.records.byte_streams import ByteReader, ByteWriter
from mechdesign.collection.records.record_files import Chunk, Reader, Writer, numbered
from mechdesign.collection.tables.cells import text_array
from mechdesign.collection.tables.provenance import Metadata
from mechdesign.errors import InputError, LimitError, shown
from mechdesign.resources import check_size, current

__all__ = ["NDJSONReader", "NDJSONWriter"]

BLOCK = 1 << 18
"""Bytes that are read at once."""

EXPECTED = "a JSON object of text, numbers and nulls in each line, no key twice"


class NDJSONReader(Reader):
    """Rows of an NDJSON file in UTF-8; lines are counted from 1.

    The columns are the keys of the first line; a row that lacks one holds nothing there. Cells are
    text, numbers as they are written.
    """

    def __init__(self, path: Path, separator: str | None, *, packed: str | None = None) -> None:
        if separator is not None:
            raise InputError("separator", "none for an NDJSON file", shown(separator))
        self._file, self._most = str(path), current().row_bytes
        self._bytes = ByteReader(path, packed)
        try:
            self._lines = self._each()
            self._first = next(self._lines, None)
            self.names = () if self._first is None else tuple(self._row(self._first, 1))
            check_size("columns", len(self.names), f"{self._file}: line 1")
        except BaseException:
            self.close()
            raise

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield the rows of some columns."""
        first = [] if self._first is None else [self._first]
        lines, before = enumerate(chain(first, self._lines), 1), 0
        while True:
            rows = [self._row(line, number) for number, line in islice(lines, size)]
            cells = {name: text_array([row.get(name) for row in rows]) for name in names}
            yield Chunk(pa.table(cells), numbered("line", before))
            before += len(rows)
            if len(rows) < size:
                return

    def _each(self) -> Iterator[bytes]:
        """Yield lines."""
        rest = b""
        while True:
            try:
                more = self._bytes.read(BLOCK)
            except (OSError, EOFError, zlib.error):
                expected = "a file that can be read to its end"
                raise InputError(self._file, expected, "a damaged one") from None
            *lines, rest = (rest + more).split(b"\n")
            yield from lines
            if len(rest) > self._most:
                hint = f"allow longer rows with --allow row_bytes={2 * len(rest)}"
                expected = f"rows of at most {self._most} bytes"
                raise LimitError(self._file, expected, "a longer one", hint)
            if not more:
                if rest:
                    yield rest
                return

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

    def __init__(
        self,
        stream: BinaryIO,
        separator: str | None,
        metadata: Metadata = None,
        *,
        packed: str | None = None,
    ) -> None:
        self._bytes = ByteWriter(stream, packed)

    def _write(self, table: pa.Table) -> None:
        """Write rows."""
        encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
        self._bytes.write("".join(f"{encode(row)}\n" for row in table.to_pylist()).encode())

    def close(self) -> None:
        """Write what is left."""
        self._bytes.close()
