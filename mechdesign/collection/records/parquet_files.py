"""Parquet files, read and written a chunk at a time by pyarrow, where it is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from mechdesign.collection.records.record_files import Chunk, Column, Reader, Writer
from mechdesign.errors import InputError, UnsupportedError, shown
from mechdesign.sampling import SIMULATION

__all__ = ["ArrowColumn", "ParquetReader", "ParquetWriter"]

MARK = b"mechdesign"
"""The key of the metadata under which a simulation says that it is one."""


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet  # which makes it known as pa.parquet
    except ImportError:
        expected = "the package pyarrow, for Parquet files"
        raise UnsupportedError(
            "pyarrow", expected, "an installation without it", "install mechdesign[parquet]"
        ) from None
    return pa


class ArrowColumn(Column):
    """Cells of a Parquet file, of any type."""

    def __init__(self, array: Any, key: str) -> None:
        self._array, self._key = array, key

    def take(self, rows: Sequence[int]) -> ArrowColumn:
        """Return the cells of some rows."""
        return ArrowColumn(self._array.take(_pyarrow().array(rows, type="int64")), self._key)

    def texts(self) -> list[str | None]:
        """Return the cells as text; a number that is none ("nan") is a cell that holds nothing."""
        pa = _pyarrow()
        try:
            texts: list[str | None] = self._array.cast(pa.string()).to_pylist()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            expected = "a column of text or numbers"
            raise InputError(self._key, expected, str(self._array.type)) from None
        if pa.types.is_floating(self._array.type):
            return [None if text == "nan" else text for text in texts]
        return texts

    def arrow(self) -> Any:
        """Return the array."""
        return self._array


class ParquetReader(Reader):
    """Rows of a Parquet file; they are counted from 1."""

    def __init__(self, path: Path, separator: str | None) -> None:
        if separator is not None:
            expected = "none for a Parquet file: its cells are not separated"
            raise InputError("separator", expected, shown(separator))
        self._pa, self._name = _pyarrow(), str(path)
        try:
            path.open("rb").close()  # whose errors are said in fewer words
            self._file = self._pa.parquet.ParquetFile(path)
        except (OSError, self._pa.ArrowException) as error:
            given = getattr(error, "strerror", None) or error
            raise InputError(self._name, "a Parquet file that can be read", given) from None
        schema = self._file.schema_arrow
        self.names = tuple(schema.names)
        self.says_simulation = (schema.metadata or {}).get(MARK) == SIMULATION.encode()
        self._rows, self._read = self._file.metadata.num_rows, 0

    def chunks(self, names: Sequence[str], size: int) -> Iterator[Chunk]:
        """Yield the rows of some columns."""
        if self._rows == 0:
            yield self._chunk(self._file.schema_arrow.empty_table().select(list(names)), 0)
            return
        batches = self._file.iter_batches(batch_size=size, columns=list(names))
        while True:
            try:
                batch = next(batches, None)
            except (OSError, self._pa.ArrowException) as error:
                key = f"{self._name}: row {self._read + 1}"
                raise InputError(key, "a file that can be read to its end", error) from None
            if batch is None:
                return
            before, self._read = self._read, self._read + batch.num_rows
            yield self._chunk(batch.select(list(names)), before)

    def _chunk(self, table: Any, before: int) -> Chunk:
        columns = {
            name: ArrowColumn(table.column(name), f"{self._name}: column {name!r}")
            for name in table.schema.names
        }
        return Chunk(columns, table.num_rows, partial(_row, before))

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
        self._pa, self._stream, self._simulated = _pyarrow(), stream, simulated
        self._writer: Any = None

    def write(self, columns: Mapping[str, Column]) -> None:
        """Write rows."""
        try:
            table = self._pa.table({name: column.arrow() for name, column in columns.items()})
        except UnicodeEncodeError:
            raise InputError("labels", "text that can be written in UTF-8", "other text") from None
        if self._simulated:
            table = table.replace_schema_metadata({MARK: SIMULATION.encode()})
        if self._writer is None:
            self._writer = self._pa.parquet.ParquetWriter(self._stream, table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the end of the file."""
        if self._writer is not None:
            self._writer.close()
