"""Writers of tables to files of records, one for each file format."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from mechdesign.collection.records.sources import STANDARD
from mechdesign.collection.tables.cells import Cells, Metadata, texts_of
from mechdesign.errors import InputError, shown
from mechdesign.writing.atomic import atomic_file
from mechdesign.writing.spreadsheets import spreadsheet_safe

GROUP = 1 << 22
"""Approximate bytes written at once; each row group of a Parquet file needs metadata."""

TEMPORARY = "TMPDIR names the folder for them"

Sink = Callable[[BinaryIO, pa.Schema, str | None], AbstractContextManager[Any]]
"""Opens a stream, which stays open, for writing tables by ``write_table``. The arguments are the
stream, the columns with their metadata, and the separator of text files."""


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


def write_tables(
    stream: BinaryIO,
    sink: Sink,
    tables: Iterable[pa.Table],
    separator: str | None = None,
    metadata: Metadata = None,
) -> int:
    """Write tables of equal columns, at least one, in large parts; return the number of rows."""
    held: list[pa.Table] = []
    rows = size = 0
    with contextlib.ExitStack() as opened:
        writer: Any = None
        for table in tables:
            if writer is None:
                schema = table.schema.with_metadata(metadata)
                with _supported():
                    writer = opened.enter_context(sink(stream, schema, separator))
            held.append(table)
            rows, size = rows + table.num_rows, size + table.nbytes
            if size >= GROUP:
                with _supported():
                    writer.write_table(pa.concat_tables(held))
                held, size = [], 0
        if held:
            with _supported():
                writer.write_table(pa.concat_tables(held))
    return rows


@contextlib.contextmanager
def _supported() -> Iterator[None]:
    """Convert the error for a type that a format does not have."""
    try:
        yield
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise InputError("keep", "columns of types that the file can hold", "others") from None


@contextlib.contextmanager
def _text(
    stream: BinaryIO, packed: str | None, head: bytes, encode: Callable[[pa.Table], Any]
) -> Iterator[Any]:
    """Open a text file, compressed by gzip or zstd if asked."""
    with contextlib.ExitStack() as opened:
        send: Callable[[Any], Any] = stream.write
        if packed == "gzip":  # without a name and a time in the header
            send = opened.enter_context(gzip.GzipFile("", "wb", fileobj=stream, mtime=0)).write
        elif packed is not None:
            codec = pa.Codec(packed)
            send = lambda data: stream.write(codec.compress(data))  # noqa: E731
        send(head)
        yield SimpleNamespace(write_table=lambda table: send(encode(table)))


def csv_sink(
    stream: BinaryIO,
    schema: pa.Schema,
    separator: str | None,
    packed: str | None = None,
    usual: str = ",",
) -> AbstractContextManager[Any]:
    """Write CSV in UTF-8 with a header; cells are quoted if needed."""
    letter = check_separator(separator, usual)

    def encode(table: pa.Table) -> Any:
        texts = {name: texts_of(table.column(name), name) for name in table.column_names}
        return _csv_rows(pa.table(texts), letter)

    head = _csv_rows(pa.table({name: [name] for name in schema.names}), letter)
    return _text(stream, packed, head, encode)


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


def ndjson_sink(
    stream: BinaryIO, _: pa.Schema, __: str | None, packed: str | None = None
) -> AbstractContextManager[Any]:
    """Write NDJSON; integers and floats are numbers, other cells are text."""
    encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
    return _text(
        stream,
        packed,
        b"",
        lambda table: "".join(f"{encode(row)}\n" for row in table.to_pylist()).encode(),
    )


def parquet_sink(stream: BinaryIO, schema: pa.Schema, _: str | None) -> Any:
    """Write a Parquet file."""
    return pa.parquet.ParquetWriter(stream, schema)


def arrow_sink(stream: BinaryIO, schema: pa.Schema, _: str | None, *, footed: bool = False) -> Any:
    """Write an Arrow file, as a stream of batches or with a footer."""
    return (pa.ipc.new_file if footed else pa.ipc.new_stream)(stream, schema)


@contextlib.contextmanager
def whole_output(target: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a file or standard output for atomic writing."""
    if target != STANDARD:
        with atomic_file(target, force=force) as stream:
            yield stream
        return
    room = "room for them on a disk"
    with _as_input_error("temporary files", room, TEMPORARY), tempfile.TemporaryFile() as held:
        yield held
        held.seek(0)
        with _as_input_error("standard output", "a pipe or a file that can be written"):
            shutil.copyfileobj(held, sys.stdout.buffer)
            sys.stdout.buffer.flush()


@contextlib.contextmanager
def _as_input_error(key: str, expected: str, hint: str = "") -> Iterator[None]:
    """Convert an OSError in the block, such as of a full disk, to InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(key, expected, error.strerror or error, hint) from None
