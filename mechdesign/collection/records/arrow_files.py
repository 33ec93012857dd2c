"""Arrow IPC files and streams, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from mechdesign.collection.records.arrow_messages import Messages
from mechdesign.collection.records.sources import STANDARD, Reader

FOOTED = b"ARROW1"
"""First and last bytes of the file format: a stream from byte 8 on, with a footer."""


class ArrowReader(Reader):
    """Rows of an Arrow file, read and validated batch by batch.

    A file with a footer is read as the stream that it contains. Batches are measured before they
    are decompressed, and only the columns needed are.
    """

    kind = "an Arrow file"

    def _opened(self) -> pa.Schema:
        self._number = 1
        if self.file != str(STANDARD):
            footed = self._raw.read(len(FOOTED)) == FOOTED
            self._raw.seek(max(0, self._size - len(FOOTED)))
            if footed and self._raw.read() != FOOTED:
                raise self._damaged("", "one that is cut short")
            self._raw.seek(8 if footed else 0)
        self._messages = Messages(self._raw, self.file)
        return self._reader().schema

    def _reader(self, **options: Any) -> Any:
        source = pa.PythonFile(self._messages, "r")
        options = {"use_threads": False, **options}
        return pa.ipc.open_stream(source, options=pa.ipc.IpcReadOptions(**options))

    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns."""
        self._messages.rewind()
        for batch in self._reader(included_fields=[*map(self.schema.get_field_index, names)]):
            yield from self._pieces(batch, names)
            self._number += 1

    def _next(self) -> str:
        return f"batch {self._number}"
