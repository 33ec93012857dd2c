"""Page headers of Parquet files, which give the size of a page before it is decompressed.

A header is a struct in the compact protocol of Thrift. pyarrow does not expose it.

Source: Apache Parquet, parquet.thrift, PageHeader; Apache Thrift, compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

USUAL, HEADER = 2**8, 2**20
"""Typical and maximum bytes of a header, which may contain the extreme cells of its page."""

DICTIONARY = 2
"""The type of a dictionary page."""

HEADERS = (5, 7, 8)
"""The fields with the header of a data page, a dictionary page, and a data page of version 2."""

BOOLEANS, BYTE, INTEGERS, DOUBLE, BINARY, STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, 12
"""The field types of a header, by their numbers in the protocol."""


class Page(NamedTuple):
    """A page: its uncompressed bytes, its values, and whether it is a dictionary."""

    size: int
    values: int
    is_dictionary: bool


def page_sizes(file: BinaryIO, column: Any) -> Iterator[Page]:
    """Yield the pages of a column in a row group, from their headers.

    Parameters
    ----------
    file
        The file.
    column
        The pyarrow metadata of the column.

    Raises
    ------
    ValueError, IndexError
        If a header is damaged.
    """
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
