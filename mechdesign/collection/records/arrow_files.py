"""Arrow IPC files and streams, whose batches are measured before they are decompressed.

The metadata of a message is a flatbuffer, and a compressed buffer begins with its expanded size.
pyarrow exposes neither.

Source: Apache Arrow, Message.fbs; the columnar format, *Encapsulated message format*.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from mechdesign.collection.records.base import STANDARD, RecordFile
from mechdesign.resources import check_size

FOOTED = b"ARROW1"
"""First and last bytes of the file format: a stream from byte 8 on, with a footer."""

STEP = 2**20
"""Bytes read at once."""

USUAL = 16
"""A batch may expand to this multiple of its bytes without being counted."""


class ArrowFile(RecordFile):
    """Rows of an Arrow file, read and validated batch by batch.

    A file with a footer is read as the stream that it contains.
    """

    kind, unit = "an Arrow file", "batch"

    @classmethod
    def writer(cls, stream: BinaryIO, schema: pa.Schema, **_: Any) -> Any:
        """Write an Arrow file with a footer."""
        return pa.ipc.new_file(stream, schema)

    def _opened(self) -> pa.Schema:
        if self.file != str(STANDARD):
            footed = self._raw.read(len(FOOTED)) == FOOTED
            self._raw.seek(max(0, self._size - len(FOOTED)))
            if footed and self._raw.read() != FOOTED:
                raise self._damaged("", "one that is cut short")
            self._raw.seek(8 if footed else 0)
        messages = pa.PythonFile(Measured(self._raw, self.file), "r")
        self._batches = pa.ipc.open_stream(
            messages, options=pa.ipc.IpcReadOptions(use_threads=False)
        )
        return self._batches.schema

    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns."""
        for batch in self._batches:
            yield from self._pieces(batch, names)
            self._number += 1


class ArrowStream(ArrowFile):
    """Rows of an Arrow stream."""

    @classmethod
    def writer(cls, stream: BinaryIO, schema: pa.Schema, **_: Any) -> Any:
        """Write an Arrow stream."""
        return pa.ipc.new_stream(stream, schema)


class Measured:
    """A stream for pyarrow of Arrow messages, each measured before it is passed on."""

    closed = False

    def __init__(self, raw: BinaryIO, key: str) -> None:
        self._messages = pa.ipc.MessageReader.open_stream(pa.PythonFile(InSteps(raw), "r"))
        self._key, self._rest = key, memoryview(b"")

    def read(self, size: int) -> memoryview:
        """Return the next bytes of a message, or raise LimitError for a large one."""
        self._rest = self._rest or self._fetched()
        found, self._rest = self._rest[:size], self._rest[size:]
        return found

    def _fetched(self) -> memoryview:
        """Return the next message, once it is measured; it is empty at the end."""
        try:
            message = self._messages.read_next_message()
        except StopIteration:
            return memoryview(b"")
        try:
            if message.type in ("record batch", "dictionary"):
                body = memoryview(message.body)
                in_dictionary = message.type == "dictionary"
                expanded = _expanded(bytes(message.metadata), in_dictionary, body)
                check_size("page_bytes", max(0, expanded - USUAL * len(body)), self._key)
        except (struct.error, IndexError):
            raise OSError from None
        return memoryview(message.serialize())

    def close(self) -> None:
        """Leave the file open."""


class InSteps:
    """A file that is read in steps, since a damaged length may claim any number of bytes."""

    closed = False

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw

    def read(self, size: int) -> bytes:
        """Return bytes of the file, fewer only at its end."""
        found = []
        while size > 0 and (part := self._raw.read(min(size, STEP))):
            found.append(part)
            size -= len(part)
        return b"".join(found)

    def close(self) -> None:
        """Leave the file open."""


def _expanded(data: bytes, in_dictionary: bool, body: memoryview) -> int:
    """Return the number of bytes of the buffers of a batch, decompressed."""
    batch = _followed(data, _field(data, _followed(data, 0), 2))
    if in_dictionary:
        batch = _followed(data, _field(data, batch, 1))
    if not _field(data, batch, 3):
        return 0  # not compressed
    vector = _followed(data, _field(data, batch, 2))
    (count,) = struct.unpack_from("<I", data, vector)
    total = 0
    for place in range(vector + 4, min(vector + 4 + 16 * count, len(data)), 16):
        start, length = struct.unpack_from("<qq", data, place)
        if length:
            (size,) = struct.unpack_from("<q", body, start)
            total += length if size == -1 else size
    return total


def _followed(data: bytes, place: int) -> int:
    """Return the target of an offset."""
    return place + int(struct.unpack_from("<I", data, place)[0])


def _field(data: bytes, table: int, number: int) -> int:
    """Return the place of a field of a table; 0 if it is absent."""
    slots = table - int(struct.unpack_from("<i", data, table)[0])
    (size,) = struct.unpack_from("<H", data, slots)
    if 4 + 2 * number >= size:
        return 0
    offset = int(struct.unpack_from("<H", data, slots + 4 + 2 * number)[0])
    return table + offset if offset else 0
