"""Parquet files, read in batches of rows and written in row groups by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet

from mechdesign.collection.records.record_files import Chunk, Reader, Writer
from mechdesign.errors import InputError, shown
from mechdesign.sampling import SIMULATION

__all__ = ["ParquetReader", "ParquetWriter"]

MARK = b"mechdesign"
"""The key of the metadata under which a simulation says that it is one."""


class ParquetReader(Reader):
    """Rows of a Parquet file; they are counted from 1."""

    def __init__(self, path: Path, separator: str | None) -> None:
        if separator is not None:
            expected = "none for a Parquet file: its cells are not separated"
            raise InputError("separator", expected, shown(separator))
        self._name = str(path)
        try:
            path.open("rb").close()  # whose errors are said in fewer words
            self._file = pa.parquet.ParquetFile(path)
        except (OSError, ValueError, pa.ArrowException) as error:
            given = getattr(error, "strerror", None) or error
            raise InputError(self._name, "a Parquet file that can be read", given) from None
        schema = self._file.schema_arrow
        self.names = tuple(schema.names)
        self.says_simulation = (schema.metadata or {}).get(MARK) == SIMULATION.encode()
        self._rows, self._read = self._file.metadata.num_rows, 0

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield the rows of some columns."""
        if self._rows == 0:
            yield Chunk(self._file.schema_arrow.empty_table().select(list(names)), str)
            return
        batches = self._file.iter_batches(batch_size=size, columns=list(names))
        while True:
            try:
                batch = next(batches, None)
            except (OSError, pa.ArrowException) as error:
                key = f"{self._name}: row {self._read + 1}"
                raise InputError(key, "a file that can be read to its end", error) from None
            if batch is None:
                return
            before, self._read = self._read, self._read + batch.num_rows
            table = pa.Table.from_batches([batch]).select(list(names))
            yield Chunk(table, partial(_row, before))

    def share(self) -> float:
        """Return how many of the rows were read."""
        return self._read / self._rows if self._rows else 1.0

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _row(before: int, row: int) -> str:
    return f"row {before + row + 1}"


class ParquetWriter(Writer):
    """Rows of a Parquet file, one row group for each chunk."""

    def __init__(self, stream: BinaryIO, separator: str | None, simulated: bool) -> None:
        self._stream, self._simulated = stream, simulated
        self._writer: pa.parquet.ParquetWriter | None = None

    def write(self, table: pa.Table) -> None:
        """Write rows."""
        kept = {MARK: SIMULATION.encode()} if self._simulated else None
        table = table.replace_schema_metadata(kept)
        if self._writer is None:
            self._writer = pa.parquet.ParquetWriter(self._stream, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()
