"""Parquet files, read in batches of rows and written in row groups by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from mechdesign._typing import IntArray
from mechdesign.collection.records.parquet_pages import page_sizes
from mechdesign.collection.records.record_files import Reader, Rows, Writer, numbered
from mechdesign.resources import check_size

__all__ = ["ParquetReader", "ParquetWriter"]

PIECE = 2**23
"""Bytes of the wanted cells that are held at once, about."""

SMALL = 2**24
"""Bytes of columns in a row group up to which their different cells are held, each once."""

SHORT = 8
"""Bytes of different texts for each row up to which rows are numbers of them."""

FEW = 256
"""Rows that are read at once where columns are larger: their cells may be long."""

USUAL_PAGE = 2**21
"""Bytes of a page that every writer keeps below, unless it is asked for more."""

LARGEST = 256
"""Bits of a number, at most: those of a decimal."""

EXPANDED = 2**26
"""Bytes of expanded cells that are held at once, at most, beside pages and one row."""


class ParquetReader(Reader):
    """Rows of a Parquet file; they are counted from 1.

    A page of a few bytes may stand for many long cells. So the headers of all pages are read first:
    a page that is too large unpacked is refused, and so many rows are read at once that their cells
    stay small even if each is the longest of its dictionary. Columns are read as the numbers of
    their different cells where these are few bytes, so that what is held does not depend on how
    long the file is, nor on the columns that are not wanted.
    """

    kind = "a Parquet file"

    def _opened(self) -> pa.Schema:
        self._raw, self._read = self._bytes.raw, 0
        self._check_footer()
        self._metadata = pa.parquet.read_metadata(self._raw)
        return self._metadata.schema.to_arrow_schema().with_metadata(self._metadata.metadata)

    def _check_footer(self) -> None:
        """Raise InputError unless the file ends as a Parquet file does, in a footer that is short.

        The last eight bytes are the length of the footer and the letters PAR1.
        """
        self._raw.seek(max(0, os.fstat(self._raw.fileno()).st_size - 8))
        end = self._raw.read(8)
        if len(end) < 8 or end[4:] != b"PAR1":
            raise self._damaged("", "another kind of file, or one that is cut short")
        check_size("footer_bytes", int.from_bytes(end[:4], "little"), self._file)

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Rows]:
        """Yield the rows of some columns."""
        schema = pa.schema([self.schema.field(name) for name in names])
        held, bytes_held, before = list[pa.Table](), 0, 0
        for batch in self._batches(names, size):
            cost = _bytes_of_rows(batch)
            check_size("row_bytes", int(cost.max(initial=0)), f"{self._file}: row {self._read}")
            piece = np.cumsum(cost) // PIECE
            starts = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), batch.num_rows]
            for start, end in pairwise(starts):
                part = pa.Table.from_batches([batch.slice(start, end - start)]).select(list(names))
                weight, rows = int(cost[start:end].sum()), sum(map(len, held))
                if rows and (rows + len(part) > size or bytes_held + weight > PIECE):
                    yield _joined(held, schema), numbered("row", before)
                    held, bytes_held, before = [], 0, before + rows
                held, bytes_held = [*held, part], bytes_held + weight
        yield _joined(held, schema), numbered("row", before)

    def _batches(self, names: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        """Yield some rows at once, text as numbers of different texts where they are few bytes."""
        largest, longest = self._sizes(names)
        texts = [n for n in names if _is_text(self.schema.field(n).type)]
        texts.sort(key=largest.__getitem__)
        sums = accumulate(largest[name] for name in texts)
        few = [name for name, total in zip(texts, sums, strict=True) if total <= SMALL]
        long = [n for n in names if n not in few and not _is_number(self.schema.field(n).type)]
        file = pa.parquet.ParquetFile(
            self._raw, read_dictionary=few, buffer_size=max(2**12, min(2**16, PIECE // len(names)))
        )
        most = max(1, min(size, PIECE // (16 * len(names))))
        if long:
            cell = sum(longest[name] for name in long)
            most = min(most, FEW, max(1, EXPANDED // max(cell, 1)))
        batches = file.iter_batches(batch_size=most, columns=list(names))
        while True:
            try:
                batch = next(batches, None)
            except (OSError, pa.ArrowException):
                raise self._damaged(f"row {self._read + 1}") from None
            if batch is None:
                return
            self._read += batch.num_rows
            yield batch

    def _sizes(self, names: Sequence[str]) -> tuple[dict[str, int], dict[str, int]]:
        """Return the bytes of each column in its largest row group, and of its longest cell.

        Both are at most those, from the headers of pages, unpacked. A cell can be as long as the
        dictionary, or where cells share prefixes, as a page.
        """
        schema = self._metadata.schema
        largest, longest = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
        held, before = dict[tuple[str, bool], int](), 0
        places = [(n, schema.column(n).path.partition(".")[0]) for n in range(len(schema))]
        wanted = [(n, name) for n, name in places if name in largest]
        for group in map(self._metadata.row_group, range(self._metadata.num_row_groups)):
            for n, name in wanted:
                column = group.column(n)
                try:
                    pages = list(page_sizes(self._raw, column))
                except (ValueError, IndexError, RecursionError):
                    raise self._damaged(f"row {before + 1}") from None
                shared = "DELTA_BYTE_ARRAY" in column.encodings
                cells = [p.size for p in pages if shared or p.is_dictionary]
                largest[name] = max(largest[name], sum(p.size for p in pages))
                longest[name] = max(longest[name], *cells, 0)
                for page in pages:
                    key = name, page.is_dictionary
                    held[key] = max(held.get(key, 0), page.size)
            before += group.num_rows
        beyond = sum(max(0, size - USUAL_PAGE) for size in held.values())
        check_size("page_bytes", beyond, self._file)
        return largest, longest

    def share(self) -> float:
        """Return how many of the rows were read."""
        return self._read / (self._metadata.num_rows or 1)


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    """Return whether cells of a type are of one size, a few bytes."""
    try:
        return not isinstance(kind, pa.BaseExtensionType) and kind.bit_width <= LARGEST
    except ValueError:  # they are of any length
        return False


def _bytes_of_rows(batch: pa.RecordBatch) -> IntArray:
    """Return how many bytes the cells of each row take, about."""
    total = np.full(batch.num_rows, 8 * batch.num_columns)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            lengths = pc.binary_length(column.dictionary).take(column.indices)
        elif _is_text(column.type):
            lengths = pc.binary_length(column)
        elif pa.types.is_nested(column.type):
            total += column.nbytes // max(1, batch.num_rows)
            continue
        else:
            continue
        total += lengths.fill_null(0).to_numpy(zero_copy_only=False)
    return total


def _joined(parts: Sequence[pa.Table], schema: pa.Schema) -> pa.Table:
    """Return rows in one table, text as numbers of different texts where these are short."""
    table = pa.concat_tables(parts) if parts else schema.empty_table()
    columns = [
        column if column.type == kind or _is_short(column) else column.cast(kind)
        for column, kind in zip(table.columns, schema.types, strict=True)
    ]
    return pa.table(columns, names=schema.names)


def _is_short(column: pa.ChunkedArray) -> bool:
    """Return whether all different texts, also those of other rows, are few bytes a row."""
    different = sum(int(chunk.dictionary.nbytes) for chunk in column.chunks)
    return different <= SHORT * len(column)


class ParquetWriter(Writer):
    """Rows of a Parquet file. Chunks are gathered to row groups, each of which costs a footer."""

    def __init__(self, stream: BinaryIO, *options: Any) -> None:
        super().__init__(stream, *options)
        self._stream, self._held, self._size = stream, list[pa.Table](), 0
        self._writer: pa.parquet.ParquetWriter | None = None

    def write(self, table: pa.Table) -> None:
        """Write rows."""
        self._held.append(table.replace_schema_metadata(self._metadata))
        self._size += table.nbytes
        if self._size >= PIECE:
            self._write_group()

    def _write_group(self) -> None:
        table = pa.concat_tables(self._held)
        if self._writer is None:
            self._writer = pa.parquet.ParquetWriter(self._stream, table.schema)
        self._writer.write_table(table)
        self._held, self._size = [], 0

    def close(self) -> None:
        """Write the end of the file."""
        if self._held:
            self._write_group()
        if self._writer is not None:
            self._writer.close()
