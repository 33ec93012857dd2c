"""Parquet files, read in batches whose expanded size is bounded in advance.

The header of a page gives its size before it is decompressed. It is a struct in the compact
protocol of Thrift, which pyarrow does not expose.

Source: Apache Parquet, parquet.thrift, PageHeader; Apache Thrift, compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from mechdesign.collection.records.base import PIECE, RecordFile, is_text
from mechdesign.resources import check_size

EXPANDED = 2**26
"""Maximum expanded size in bytes of a batch, apart from pages and one row."""

USUAL_PAGE = 2**21
"""Page size in bytes that writers do not exceed by default."""

LARGEST = 32
"""Maximum number of bytes of a number, that of a decimal."""

USUAL, HEADER = 2**8, 2**20
"""Typical and maximum bytes of a header, which may contain the extreme cells of its page."""

DICTIONARY = 2
"""The type of a dictionary page."""

HEADERS = (5, 7, 8)
"""The fields with the header of a data page, a dictionary page, and a data page of version 2."""

BOOLEANS, BYTE, INTEGERS, DOUBLE, BINARY, STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, 12
"""The field types of a header, by their numbers in the protocol."""


class ParquetFile(RecordFile):
    """Rows of a Parquet file.

    A page of a few bytes may encode many long cells. So the headers of all pages are read first:
    pages that are too large uncompressed are rejected, and the batch size is chosen such that the
    cells fit in memory even if each is the longest of its page. Dictionary-encoded text stays
    encoded. So the memory does not depend on the length of the file or on unused columns.
    """

    kind = "a Parquet file"

    @classmethod
    def writer(cls, stream: BinaryIO, schema: pa.Schema, **_: Any) -> Any:
        """Write a Parquet file."""
        return pa.parquet.ParquetWriter(stream, schema)

    def _opened(self) -> pa.Schema:
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

    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns, in tables of bounded expanded size."""
        row_bytes, once = self._sizes(names)
        buffer = max(2**12, min(2**16, PIECE // len(names)))
        most = max(1, min(size, int(EXPANDED // max(row_bytes, 1))))
        file = pa.parquet.ParquetFile(
            self._raw, read_dictionary=once, buffer_size=buffer, pre_buffer=False
        )
        # a thread that still holds the Python file when the interpreter exits would abort it
        for batch in file.iter_batches(batch_size=most, columns=list(names), use_threads=False):
            for table in self._pieces(batch, names):
                self._number += table.num_rows
                yield table

    def _sizes(self, names: Sequence[str]) -> tuple[float, list[str]]:
        """Return a bound on the bytes of a row, and the dictionary-encoded text columns.

        The cells of a plain page share its bytes, but each cell may be as long as its page if cells
        share prefixes or are dictionary-encoded.

        As in pyarrow, the name of a column selects all paths that begin with it: a dot in a name
        looks like one of a nested column.
        """
        schema = self._metadata.schema
        starts = tuple(f"{name}." for name in names)
        wanted = [
            (n, leaf)
            for n, leaf in enumerate(map(schema.column, range(len(schema))))
            if leaf.path in names or leaf.path.startswith(starts)
        ]
        kinds = {name: self.schema.field(name).type for name in names}
        longest, once, held = dict[str, float](), set[str](), dict[tuple[str, bool], int]()
        before = 0
        for group in map(self._metadata.row_group, range(self._metadata.num_row_groups)):
            for n, leaf in wanted:
                column, path, kind = group.column(n), leaf.path, kinds.get(leaf.path)
                delta = "DELTA_BYTE_ARRAY" in column.encodings
                if delta and kind is not None and pa.types.is_dictionary(kind):
                    raise pa.ArrowNotImplementedError
                text = leaf.physical_type == "BYTE_ARRAY"
                for page in self._pages(column, before):
                    sort = path, page.is_dictionary
                    held[sort] = max(held.get(sort, 0), page.size)
                    if page.is_dictionary and kind is not None and is_text(kind):
                        once.add(path)
                    elif text or (leaf.length or 0) > LARGEST:
                        plain = text and not delta and not page.is_dictionary
                        cost = page.size / (max(page.values, 1) if plain else 1)
                        longest[path] = max(longest.get(path, 0), cost)
            before += group.num_rows
        beyond = sum(max(0, size - USUAL_PAGE) for size in held.values())
        check_size("page_bytes", beyond, self.file)
        return 16 * len(wanted) + sum(longest.values()), sorted(once)

    def _pages(self, column: Any, before: int) -> Iterator[Page]:
        """Yield the pages of a column of a row group, which begins after some rows of the file."""
        try:
            yield from page_sizes(self._raw, column)
        except (ValueError, IndexError, RecursionError):
            raise self._damaged(f"row {before + 1}") from None

    def share(self) -> float:
        """Return the share of the rows read so far."""
        return (self._number - 1) / (self._metadata.num_rows or 1)


class Page(NamedTuple):
    """A page: its uncompressed bytes, its values, and whether it is a dictionary."""

    size: int
    values: int
    is_dictionary: bool


def page_sizes(file: BinaryIO, column: Any) -> Iterator[Page]:
    """Yield the pages of a column; damaged headers raise ValueError or IndexError."""
    start = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset:
        start = min(start, column.dictionary_page_offset)
    end = start + column.total_compressed_size if column.num_values else start
    while start < end:
        file.seek(start)
        try:
            fields, length = _struct(file.read(USUAL), 0)
        except IndexError:
            file.seek(start)
            fields, length = _struct(file.read(HEADER), 0)
        kind, unpacked, packed = (fields.get(field, -1) for field in (1, 2, 3))
        if min(kind, unpacked, packed) < 0:
            raise ValueError
        values = max(fields.get(header, 0) for header in HEADERS)
        yield Page(unpacked, values, kind == DICTIONARY)
        start += length + packed


def _struct(data: bytes, at: int) -> tuple[dict[int, int], int]:
    """Return the integers of a struct by field number, and the end of the struct.

    A nested struct is represented by its first integer.
    """
    fields, number = dict[int, int](), 0
    while head := data[at]:
        step, kind = head >> 4, head & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _integer(data, at)
        if kind in INTEGERS:
            fields[number], at = _integer(data, at)
        elif kind == BINARY:
            length, at = _varint(data, at)
            at += length
        elif kind == STRUCT:
            inner, at = _struct(data, at)
            fields[number] = inner.get(1, 0)
        elif kind in (BYTE, DOUBLE):
            at += 1 if kind == BYTE else 8
        elif kind not in BOOLEANS:
            raise ValueError
    return fields, at + 1


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a little-endian base-128 number, and its end."""
    value = shift = 0
    while True:
        byte = data[at]
        value, at = value | (byte & 127) << shift, at + 1
        if byte < 128:
            return value, at
        shift += 7


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Return a zigzag-encoded integer, and its end."""
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at
