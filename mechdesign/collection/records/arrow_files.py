"""Arrow files (IPC), with a footer or as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from mechdesign.collection.records.byte_streams import STANDARD
from mechdesign.collection.records.record_files import Reader, Rows, Writer, numbered
from mechdesign.errors import InputError

__all__ = ["ArrowReader", "ArrowWriter"]

FOOTED = b"ARROW1"
"""How a file begins that ends in a footer; else it is a stream."""


class ArrowReader(Reader):
    """Rows of an Arrow file; they are counted from 1. A batch is held at once."""

    kind = "an Arrow file"

    def _opened(self) -> pa.Schema:
        source, footed = pa.PythonFile(self._bytes.raw, "r"), False
        if self._file != str(STANDARD):
            footed = source.read(len(FOOTED)) == FOOTED
            source.seek(0)
        self._reader: Any = (pa.ipc.open_file if footed else pa.ipc.open_stream)(source)
        return self._reader.schema

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Rows]:
        """Yield the rows of some columns."""
        before = 0
        for batch in self._batches():
            table = pa.Table.from_batches([batch]).select(list(names))
            for start in range(0, table.num_rows, size):
                yield table.slice(start, size), numbered("row", before + start)
            before += table.num_rows
        yield self.schema.empty_table().select(list(names)), numbered("row", before)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches whose offsets and codes were checked."""
        count = getattr(self._reader, "num_record_batches", None)
        n = 0
        while count is None or n < count:
            try:
                batch = self._reader.get_batch(n) if count else self._reader.read_next_batch()
                batch.validate(full=True)
            except StopIteration:
                return
            except (OSError, pa.ArrowException, EOFError):
                place = f"{self._file}: batch {n + 1}"
                raise InputError(place, f"{self.kind} that can be read", "a damaged one") from None
            n += 1
            yield batch


class ArrowWriter(Writer):
    """Rows of an Arrow file, as a stream of batches or with a footer."""

    def __init__(self, stream: BinaryIO, *options: Any, footed: bool) -> None:
        super().__init__(stream, *options)
        self._stream, self._footed = stream, footed
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
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
