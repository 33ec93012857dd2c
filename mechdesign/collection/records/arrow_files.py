"""Arrow IPC files and streams, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from mechdesign.collection.records.sources import DAMAGED, STANDARD, Reader
from mechdesign.errors import InputError

__all__ = ["ArrowReader"]

FOOTED = b"ARROW1"
"""First bytes of the file format, which has a footer; other files are streams."""


class ArrowReader(Reader):
    """Rows of an Arrow file, read and validated batch by batch."""

    kind = "an Arrow file"

    def _opened(self) -> pa.Schema:
        source, footed = pa.PythonFile(self._raw, "r"), False
        if self.file != str(STANDARD):
            footed = source.read(len(FOOTED)) == FOOTED
            source.seek(0)
        reader: Any = (pa.ipc.open_file if footed else pa.ipc.open_stream)(source)
        self._stored = (
            map(reader.get_batch, range(reader.num_record_batches)) if footed else iter(reader)
        )
        return reader.schema

    def tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns."""
        n = 1
        try:
            for batch in self._stored:
                batch.validate(full=True)
                yield pa.Table.from_batches([batch]).select(list(names))
                n += 1
        except DAMAGED:
            expected = f"{self.kind} that can be read"
            raise InputError(f"{self.file}: batch {n}", expected, "a damaged one") from None
