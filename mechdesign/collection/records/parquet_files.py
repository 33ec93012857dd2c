"""Parquet files, read in batches of rows and written in row groups by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from mechdesign._typing import IntArray
from mechdesign.collection.records.record_files import Chunk, Reader, Writer
from mechdesign.errors import InputError, shown
from mechdesign.files.reading import open_plain
from mechdesign.resources import check_size
from mechdesign.sampling import SIMULATION

__all__ = ["ParquetReader", "ParquetWriter"]

MARK = b"mechdesign"
"""The key of the metadata under which a simulation says that it is one."""


PIECE = 2**23
"""Bytes of the wanted cells that are held at once, about."""

SMALL = 2**24
"""Bytes of columns in a row group up to which their different cells are held, each once."""

SHORT = 8
"""Bytes of different texts for each row up to which rows are numbers of them."""

FEW = 256
"""Rows that are read at once where columns are larger: their cells may be long."""

PLAIN = {pa.int64(), pa.float64(), pa.string()}
"""Types that Parquet has itself."""

WHOLE = "a Parquet file that can be read"


class ParquetReader(Reader):
    """Rows of a Parquet file; they are counted from 1.

    A page of a few bytes may stand for many long cells. Columns are read as the numbers of their
    different cells where these are few bytes, so that what is held does not depend on how long the
    file is, nor on the columns that are not wanted.
    """

    def __init__(self, path: Path, separator: str | None) -> None:
        if separator is not None:
            expected = "none for a Parquet file: its cells are not separated"
            raise InputError("separator", expected, shown(separator))
        self._name, self._raw = str(path), open_plain(path)
        try:
            self._check_footer()
            self._metadata = pa.parquet.read_metadata(self._raw)
            check_size("columns", self._metadata.num_columns, self._name)
            self._schema = self._metadata.schema.to_arrow_schema()
        except (OSError, pa.ArrowException):  # whose words may quote the file
            self._raw.close()
            raise InputError(self._name, WHOLE, "a damaged one, or another kind") from None
        except BaseException:
            self._raw.close()
            raise
        self.names = tuple(self._schema.names)
        self.says_simulation = (self._schema.metadata or {}).get(MARK) == SIMULATION.encode()
        self._rows, self._read = self._metadata.num_rows, 0

    def _check_footer(self) -> None:
        """Raise InputError unless the file ends as a Parquet file does, in a footer that is short.

        The last eight bytes are the length of the footer and the letters PAR1.
        """
        self._raw.seek(max(0, os.fstat(self._raw.fileno()).st_size - 8))
        end = self._raw.read(8)
        if len(end) < 8 or end[4:] != b"PAR1":
            raise InputError(self._name, WHOLE, "another kind of file, or one that is cut short")
        check_size("footer_bytes", int.from_bytes(end[:4], "little"), self._name)

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield the rows of some columns."""
        types = [self._schema.field(name).type for name in names]
        schema = pa.schema(list(zip(names, types, strict=True)))
        held, bytes_held, before = list[pa.Table](), 0, 0
        for batch in self._batches(names, size):
            cost = _bytes_of_rows(batch)
            check_size("row_bytes", int(cost.max(initial=0)), f"{self._name}: row {self._read}")
            piece = np.cumsum(cost) // PIECE
            starts = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), batch.num_rows]
            for start, end in pairwise(starts):
                part = pa.Table.from_batches([batch.slice(start, end - start)]).select(list(names))
                weight, rows = int(cost[start:end].sum()), sum(map(len, held))
                if rows and (rows + len(part) > size or bytes_held + weight > PIECE):
                    yield Chunk(_joined(held, schema), partial(_row, before), schema)
                    held, bytes_held, before = [], 0, before + rows
                held, bytes_held = [*held, part], bytes_held + weight
        yield Chunk(_joined(held, schema), partial(_row, before), schema)

    def _batches(self, names: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        """Yield some rows at once, text as numbers of different texts where they are few bytes."""
        largest = self._largest(names)
        texts = [n for n in names if _is_text(self._schema.field(n).type)]
        texts.sort(key=largest.__getitem__)
        sums = accumulate(largest[name] for name in texts)
        few = [name for name, total in zip(texts, sums, strict=True) if total <= SMALL]
        long = [n for n in names if pa.types.is_nested(self._schema.field(n).type)]
        long += texts[len(few) :]
        file = pa.parquet.ParquetFile(
            self._raw, read_dictionary=few, buffer_size=max(2**12, min(2**16, PIECE // len(names)))
        )
        most = min(size, FEW) if long else max(1, min(size, PIECE // (16 * len(names))))
        batches = file.iter_batches(batch_size=most, columns=list(names))
        while True:
            try:
                batch = next(batches, None)
            except (OSError, pa.ArrowException):
                key, expected = f"{self._name}: row {self._read + 1}", "a file that can be read"
                raise InputError(key, f"{expected} to its end", "a damaged one") from None
            if batch is None:
                return
            self._read += batch.num_rows
            yield batch

    def _largest(self, names: Sequence[str]) -> dict[str, int]:
        """Return the bytes, not compressed, of each column in its largest row group."""
        schema, found = self._metadata.schema, dict.fromkeys(names, 0)
        places = [(n, schema.column(n).path.partition(".")[0]) for n in range(len(schema))]
        wanted = [(n, name) for n, name in places if name in found]
        for group in map(self._metadata.row_group, range(self._metadata.num_row_groups)):
            for n, name in wanted:
                found[name] = max(found[name], group.column(n).total_uncompressed_size)
        return found

    def share(self) -> float:
        """Return how many of the rows were read."""
        return self._read / self._rows if self._rows else 1.0

    def close(self) -> None:
        """Close the file."""
        self._raw.close()


def _row(before: int, row: int) -> str:
    return f"row {before + row + 1}"


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


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
    """Rows of a Parquet file. Chunks are gathered to row groups, each of which costs a footer.

    Text that is held as numbers of different texts is written as it is held. The file then says
    nothing of the types that Arrow has, or readers would take the text for categories: so this is
    only done where Parquet has all types itself.
    """

    def __init__(self, stream: BinaryIO, separator: str | None, simulated: bool) -> None:
        self._stream, self._simulated = stream, simulated
        self._writer: pa.parquet.ParquetWriter | None = None
        self._held: list[pa.Table] = []
        self._bytes, self._bare = 0, False

    def write(self, table: pa.Table, schema: pa.Schema | None = None) -> None:
        """Write rows."""
        if schema is not None:
            self._bare = not self._simulated and PLAIN.issuperset(schema.types)
            table = table if self._bare else table.cast(schema)
        self._write(table)

    def _write(self, table: pa.Table) -> None:
        kept = {MARK: SIMULATION.encode()} if self._simulated else None
        self._held.append(table.replace_schema_metadata(kept))
        self._bytes += table.nbytes
        if self._bytes >= PIECE:
            self._write_group()

    def _write_group(self) -> None:
        table = pa.concat_tables(self._held)
        if self._writer is None:
            self._writer = pa.parquet.ParquetWriter(
                self._stream, table.schema, store_schema=not self._bare
            )
        self._writer.write_table(table)
        self._held, self._bytes = [], 0

    def close(self) -> None:
        """Write the end of the file."""
        if self._held:
            self._write_group()
        if self._writer is not None:
            self._writer.close()
