"""Arrow files (IPC), with a footer or as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from mechdesign.collection.records.byte_streams import STANDARD, ByteReader
from mechdesign.collection.records.record_files import (
    Chunk,
    Reader,
    Writer,
    numbered,
)
from mechdesign.collection.tables.provenance import Metadata
from mechdesign.errors import InputError, shown
from mechdesign.resources import check_size

__all__ = ["ArrowReader", "ArrowWriter"]

FOOTED = b"ARROW1"
"""How a file begins that ends in a footer; else it is a stream."""

WHOLE = "an Arrow file that can be read"


class ArrowReader(Reader):
    """Rows of an Arrow file; they are counted from 1. A batch is held at once."""

    def __init__(self, path: Path, separator: str | None) -> None:
        if separator is not None:
            expected = "none for an Arrow file: its cells are not separated"
            raise InputError("separator", expected, shown(separator))
        self._name, self._bytes = str(path), ByteReader(path)
        try:
            self._reader = self._opened(path)
            check_size("columns", len(self._reader.schema.names), self._name)
        except (OSError, pa.ArrowException, EOFError):  # whose words may quote the file
            self.close()
            raise InputError(self._name, WHOLE, "a damaged one, or another kind") from None
        except BaseException:
            self.close()
            raise
        self.names = tuple(self._reader.schema.names)
        self.metadata = self._reader.schema.metadata

    def _opened(self, path: Path) -> Any:
        source = pa.PythonFile(self._bytes.raw, "r")
        if path == STANDARD:
            return pa.ipc.open_stream(source)
        begins = source.read(len(FOOTED))
        source.seek(0)
        return pa.ipc.open_file(source) if begins == FOOTED else pa.ipc.open_stream(source)

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield the rows of some columns."""
        before = 0
        for batch in self._batches(before):
            table = pa.Table.from_batches([batch]).select(list(names))
            for start in range(0, table.num_rows, size):
                part = table.slice(start, size)
                yield Chunk(part, numbered("row", before + start))
            before += table.num_rows
        yield Chunk(self._reader.schema.empty_table().select(list(names)), numbered("row", before))

    def _batches(self, before: int) -> Iterator[pa.RecordBatch]:
        """Yield batches whose offsets and codes were checked."""
        count = getattr(self._reader, "num_record_batches", None)
        n = 0
        while count is None or n < count:
            try:
                if count is None:
                    batch = self._reader.read_next_batch()
                else:
                    batch = self._reader.get_batch(n)
                batch.validate(full=True)
            except StopIteration:
                return
            except (OSError, pa.ArrowException, EOFError):
                place = f"{self._name}: batch {n + 1}"
                raise InputError(place, WHOLE, "a damaged one") from None
            n += 1
            yield batch


class ArrowWriter(Writer):
    """Rows of an Arrow file, as a stream of batches or with a footer."""

    def __init__(
        self, stream: BinaryIO, separator: str | None, metadata: Metadata, *, footed: bool
    ) -> None:
        self._stream, self._metadata, self._footed = stream, metadata, footed
        self._writer: Any = None

    def _write(self, table: pa.Table) -> None:
        """Write rows."""
        table = table.replace_schema_metadata(self._metadata)
        if self._writer is None:
            make = pa.ipc.new_file if self._footed else pa.ipc.new_stream
            self._writer = make(self._stream, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()
