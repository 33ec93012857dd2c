"""Parquet files, read in batches whose expanded size is bounded in advance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from mechdesign._typing import IntArray
from mechdesign.collection.records.parquet_pages import page_sizes
from mechdesign.collection.records.sources import Reader
from mechdesign.resources import check_size

__all__ = ["ParquetReader"]

PIECE = 2**23
"""Approximate expanded size in bytes of a table passed on."""

EXPANDED = 2**26
"""Maximum expanded size in bytes of a batch, apart from pages and one row."""

USUAL_PAGE = 2**21
"""Page size in bytes that writers do not exceed by default."""

LARGEST = 256
"""Maximum number of bits of a number, that of a decimal."""


class ParquetReader(Reader):
    """Rows of a Parquet file.

    A page of a few bytes may encode many long cells. So the headers of all pages are read first:
    pages that are too large uncompressed are rejected, and the batch size is chosen such that the
    cells fit in memory even if each is the longest of its page. Dictionary-encoded text stays
    encoded. So the memory does not depend on the length of the file or on unused columns.
    """

    kind = "a Parquet file"

    def _opened(self) -> pa.Schema:
        self._read = 0
        self._check_footer()
        self._metadata = pa.parquet.read_metadata(self._raw)
        return self._metadata.schema.to_arrow_schema().with_metadata(self._metadata.metadata)

    def _check_footer(self) -> None:
        """Raise InputError unless the file ends in a short Parquet footer.

        The last eight bytes are the length of the footer and the letters PAR1.
        """
        self._raw.seek(max(0, self._size - 8))
        end = self._raw.read(8)
        if len(end) < 8 or end[4:] != b"PAR1":
            raise self._damaged("", "another kind of file, or one that is cut short")
        check_size("footer_bytes", int.from_bytes(end[:4], "little"), self.file)

    def tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns, in tables of bounded expanded size."""
        row_bytes, once = self._sizes(names)
        file = pa.parquet.ParquetFile(
            self._raw, read_dictionary=once, buffer_size=max(2**12, min(2**16, PIECE // len(names)))
        )
        most = max(1, min(size, int(EXPANDED // max(row_bytes, 1))))
        batches = file.iter_batches(batch_size=most, columns=list(names))
        while True:
            try:
                batch = next(batches, None)
            except (OSError, pa.ArrowException):
                raise self._damaged(f"row {self._read + 1}") from None
            if batch is None:
                return
            self._read += batch.num_rows
            cost = _bytes_of_rows(batch)
            check_size("row_bytes", int(cost.max(initial=0)), f"{self.file}: row {self._read}")
            table = pa.Table.from_batches([batch]).select(list(names))
            pieces = np.flatnonzero(np.diff(cost.cumsum() // PIECE)) + 1
            ends = [0, *pieces.tolist(), batch.num_rows]
            for start, end in pairwise(ends):
                yield table.slice(start, end - start)

    def _sizes(self, names: Sequence[str]) -> tuple[float, list[str]]:
        """Return a bound on the bytes of a row, and the dictionary-encoded text columns.

        The cells of a plain page share its bytes, but each cell may be as long as its page if cells
        share prefixes, are dictionary-encoded, or are nested.
        """
        schema = self._metadata.schema
        longest, once = dict.fromkeys(names, 0.0), set[str]()
        held = dict[tuple[str, bool], int]()
        places = [(n, schema.column(n).path.partition(".")[0]) for n in range(len(schema))]
        wanted = [(n, name) for n, name in places if name in longest]
        before = 0
        for group in map(self._metadata.row_group, range(self._metadata.num_row_groups)):
            for n, name in wanted:
                column, kind = group.column(n), self.schema.field(name).type
                plain = _is_text(kind) and "DELTA_BYTE_ARRAY" not in column.encodings
                try:
                    for page in page_sizes(self._raw, column):
                        key = name, page.is_dictionary
                        held[key] = max(held.get(key, 0), page.size)
                        if page.is_dictionary and _is_text(kind):
                            once.add(name)
                        elif not _is_number(kind):
                            rows = max(page.values, 1) if plain and not page.is_dictionary else 1
                            longest[name] = max(longest[name], page.size / rows)
                except (ValueError, IndexError, RecursionError):
                    raise self._damaged(f"row {before + 1}") from None
            before += group.num_rows
        beyond = sum(max(0, size - USUAL_PAGE) for size in held.values())
        check_size("page_bytes", beyond, self.file)
        return 16 * len(names) + sum(longest.values()), sorted(once)

    def share(self) -> float:
        """Return the share of the rows read so far."""
        return self._read / (self._metadata.num_rows or 1)


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    """Return whether cells of a type have a fixed size of a few bytes."""
    try:
        return not isinstance(kind, pa.BaseExtensionType) and kind.bit_width <= LARGEST
    except ValueError:  # variable length
        return False


def _bytes_of_rows(batch: pa.RecordBatch) -> IntArray:
    """Return the approximate expanded size of each row in bytes."""
    total = np.full(batch.num_rows, 8 * batch.num_columns)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            lengths = pc.binary_length(column.dictionary).take(column.indices)
        elif _is_text(column.type):
            lengths = pc.binary_length(column)
        else:
            nested = pa.types.is_nested(column.type)
            total += column.nbytes // max(1, batch.num_rows) if nested else 0
            continue
        total += lengths.fill_null(0).to_numpy(zero_copy_only=False)
    return total
