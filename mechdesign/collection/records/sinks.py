"""Sinks that write tables to files of records, one for each file format."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from mechdesign.collection.records.sources import STANDARD
from mechdesign.collection.tables.cells import Cells, texts_of
from mechdesign.errors import InputError, shown
from mechdesign.writing.atomic import atomic_file
from mechdesign.writing.spreadsheets import spreadsheet_safe
from mechdesign.writing.temporary import temporary_room

__all__ = ["Sink", "arrow_sink", "check_separator", "csv_sink", "ndjson_sink", "parquet_sink"]
__all__ += ["safe_table", "whole_output"]

GROUP = 1 << 23
"""Approximate bytes per Parquet row group; each row group needs metadata in the footer."""

Metadata = Mapping[bytes, bytes] | None

Write = Callable[[pa.Table], None]
"""Writes rows; the first call determines the names and types of the columns."""

Sink = Callable[[BinaryIO, str | None, Metadata], AbstractContextManager[Write]]
"""Opens a file for writing to a stream, which stays open. The arguments are the stream, the
separator of text files, and the metadata, for formats that have any."""


def check_separator(separator: Any, usual: str = ",") -> str:
    """Return the separator of cells, or the usual one for None.

    Raises
    ------
    InputError
        If it is not a single ASCII character, or is a quote or a line end.
    """
    found = {None: usual, "\\t": "\t"}.get(separator, separator)
    if not isinstance(found, str) or len(found) != 1 or found in '"\r\n\0' or not found.isascii():
        raise InputError("separator", "one character in ASCII, as ; or a tab", shown(separator))
    return found


def safe_table(table: pa.Table) -> pa.Table:
    """Return a table of text whose cells and column names are safe for spreadsheets."""
    safe = spreadsheet_safe
    return pa.table(
        {safe(n): Cells(table.column(n), n, str).changed(safe) for n in table.column_names}
    )


@contextlib.contextmanager
def _compressed(stream: BinaryIO, packed: str | None) -> Iterator[Callable[[Any], Any]]:
    """Yield a function that writes bytes to a stream, compressed by gzip or zstd if asked."""
    if packed == "gzip":  # without a name and a time in the header
        with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as file:
            yield file.write
    else:
        codec = None if packed is None else pa.Codec(packed)
        yield stream.write if codec is None else lambda data: stream.write(codec.compress(data))


@contextlib.contextmanager
def csv_sink(
    stream: BinaryIO,
    separator: str | None = None,
    *_: Metadata,
    packed: str | None = None,
    usual: str = ",",
) -> Iterator[Write]:
    """Write CSV in UTF-8 with a header; cells are quoted if needed."""
    letter, begun = check_separator(separator, usual), False

    def write(table: pa.Table) -> None:
        nonlocal begun
        names = table.column_names
        if not begun:
            begun = True
            send(_csv_rows(pa.table({name: [name] for name in names}), letter))
        texts = pa.table({name: texts_of(table.column(name), name) for name in names})
        send(_csv_rows(texts, letter))

    with _compressed(stream, packed) as send:
        yield write


def _csv_rows(table: pa.Table, separator: str) -> Any:
    # a line of one empty cell must not be an empty line
    quoted = table.num_columns == 1 and "" in table.column(0).unique().fill_null("").to_pylist()
    if quoted:
        table = table.set_column(0, table.column_names[0], table.column(0).fill_null(""))
    for quoting in ("needed",) if quoted else ("none", "needed"):
        rows = pa.BufferOutputStream()
        options = pa.csv.WriteOptions(
            include_header=False, delimiter=separator, quoting_style=quoting
        )
        # without quoting, pyarrow rejects cells with a separator, a quote or a line end
        with contextlib.suppress(*[pa.ArrowInvalid] * (quoting == "none")):
            pa.csv.write_csv(table, rows, options)
            break
    return rows.getvalue()


@contextlib.contextmanager
def ndjson_sink(stream: BinaryIO, *_: Any, packed: str | None = None) -> Iterator[Write]:
    """Write NDJSON; integers and floats are numbers, other cells are text."""
    encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
    with _compressed(stream, packed) as send:
        yield lambda table: send("".join(f"{encode(r)}\n" for r in table.to_pylist()).encode())


@contextlib.contextmanager
def parquet_sink(stream: BinaryIO, _: str | None, metadata: Metadata) -> Iterator[Write]:
    """Write a Parquet file; tables are collected into row groups."""
    held: list[pa.Table] = []
    with contextlib.ExitStack() as file:
        opened: list[pa.parquet.ParquetWriter] = []

        def flush() -> None:
            table = pa.concat_tables(held)
            held.clear()
            if not opened:
                opened.append(file.enter_context(pa.parquet.ParquetWriter(stream, table.schema)))
            opened[0].write_table(table)

        def write(table: pa.Table) -> None:
            held.append(table.replace_schema_metadata(metadata))
            if sum(part.nbytes for part in held) >= GROUP:
                flush()

        yield write
        if held:
            flush()


@contextlib.contextmanager
def arrow_sink(
    stream: BinaryIO, _: str | None, metadata: Metadata, *, footed: bool = False
) -> Iterator[Write]:
    """Write an Arrow file, as a stream of batches or with a footer."""
    make, opened = pa.ipc.new_file if footed else pa.ipc.new_stream, list[Any]()
    with contextlib.ExitStack() as file:

        def write(table: pa.Table) -> None:
            table = table.replace_schema_metadata(metadata)
            if not opened:
                opened.append(file.enter_context(make(stream, table.schema)))
            opened[0].write_table(table)

        yield write


@contextlib.contextmanager
def whole_output(target: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a file or standard output for atomic writing."""
    if target != STANDARD:
        with atomic_file(target, force=force) as stream:
            yield stream
        return
    with temporary_room(), tempfile.TemporaryFile() as held:
        yield held
        held.seek(0)
        try:
            shutil.copyfileobj(held, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except OSError as error:
            expected = "a pipe or a file that can be written"
            raise InputError("standard output", expected, error.strerror) from None
