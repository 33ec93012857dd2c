"""The base class of file formats of records: a file is a stream of Arrow tables, in and out."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, ClassVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mechdesign._typing import IntArray
from mechdesign.collection.tables.cells import Cells, Metadata, no_text
from mechdesign.errors import InputError, LimitError, shown
from mechdesign.files.reading import open_plain
from mechdesign.resources import check_size, current
from mechdesign.writing.atomic import atomic_file
from mechdesign.writing.text import spreadsheet_safe

BLOCK = 1 << 18
"""Bytes of text read at once."""

STANDARD = Path("-")
"""The file name that stands for standard input and standard output."""

PIECE = 2**23
"""Approximate expanded size in bytes of a table passed on."""

MANY = 2**16
"""Maximum number of rows of a table passed on."""

GROUP = 1 << 22
"""Approximate bytes written at once; each row group of a Parquet file needs metadata."""

DAMAGED = (OSError, EOFError, UnicodeError, zlib.error, pa.ArrowException)
"""Exceptions for a file that is damaged or of another kind; their messages may quote it."""

Writer = Callable[[BinaryIO, pa.Schema], AbstractContextManager[Any]]
"""Opens a stream, which stays open, for writing tables by ``write_table``."""


class RecordFile(ABC):
    """A file of records that is open for reading; and how such a file is written.

    A separator of None is the default; ``packed`` is None, gzip or zstd. ``schema`` has the columns
    of the file, with its metadata. A file of another format raises InputError.
    """

    kind: ClassVar[str]
    """The format of the file, for errors."""

    noun: ClassVar[str] = "row"
    """The word for a row in errors, followed by its number from 1."""

    unit: ClassVar[str] = "row"
    """The word for what is read next."""

    separated: ClassVar[bool] = False
    """Whether cells are text with a separator, so that a spreadsheet may open the file."""

    schema: pa.Schema

    def __init__(self, path: Path, separator: str | None = None, packed: str | None = None) -> None:
        if separator is not None and not self.separated:
            expected = f"none for {self.kind}: its cells are not separated"
            raise InputError("separator", expected, shown(separator))
        self.file, self._most, self._number = str(path), current().row_bytes, 1
        self._raw = _bytes_of(sys.stdin, "input") if path == STANDARD else open_plain(path)
        self._size = 0 if path == STANDARD else os.fstat(self._raw.fileno()).st_size
        self._bytes: Any = self._raw
        if packed == "gzip":  # which may end in zeros
            self._bytes = gzip.GzipFile(fileobj=self._raw)
        elif packed is not None:
            self._bytes = pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packed)
        try:
            self.schema = self._opened()
            check_size("columns", len(self.schema), self.file)
            self.schema.names  # noqa: B018 - decoded here, so that it raises here
        except BaseException as error:
            self.close()
            if not isinstance(error, DAMAGED):
                raise
            raise self._damaged("", "a damaged one, or another kind") from None

    @classmethod
    @abstractmethod
    def writer(
        cls,
        stream: BinaryIO,
        schema: pa.Schema,
        *,
        separator: str | None = None,
        packed: str | None = None,
    ) -> Any:
        """Open a stream, which stays open, for writing tables by ``write_table``."""

    @abstractmethod
    def _opened(self) -> pa.Schema:
        """Read the header, and return the columns."""

    @abstractmethod
    def _tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the tables; exceptions are converted by the caller."""

    def tables(self, names: Sequence[str], size: int) -> Iterator[pa.Table]:
        """Yield the rows of some columns, in order, in tables that fit in memory.

        Text may be dictionary-encoded, whatever its type in the file. Errors give the file and the
        row.
        """
        try:
            yield from self._tables(names, size)
        except pa.ArrowNotImplementedError:
            raise self._unsupported() from None
        except DAMAGED:
            raise self._damaged(self._next) from None

    def empty(self, names: Sequence[str]) -> pa.Table:
        """Return a table of some columns without rows, or raise InputError for nested columns."""
        fields = [self.schema.field(name) for name in names]
        for field in fields:
            if pa.types.is_nested(field.type):
                raise no_text(field.type, f"{self.file}: column {field.name!r}")
        try:
            return pa.schema(fields).empty_table()
        except pa.ArrowNotImplementedError:
            raise self._unsupported() from None

    def _unsupported(self) -> InputError:
        return InputError(self.file, "columns of types and encodings that can be read", "others")

    @property
    def _next(self) -> str:
        """The location of what is read next."""
        return f"{self.unit} {self._number}"

    def _pieces(self, batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the rows of a batch in tables of bounded expanded size, if the batch is valid."""
        batch = batch.select(list(names))
        batch.validate(full=True)
        for start in range(0, batch.num_rows, MANY):  # nulls take no bytes
            rows = batch.slice(start, MANY)
            cost = _bytes_of_rows(rows)
            check_size("row_bytes", int(cost.max()), f"{self.file}: {self._next}")
            table = pa.Table.from_batches([rows])
            cuts = np.flatnonzero(np.diff(cost.cumsum() // PIECE)) + 1
            for first, end in pairwise([0, *cuts.tolist(), rows.num_rows]):
                yield table.slice(first, end - first)

    def place(self, before: int, row: int) -> str:
        """Return the location of a row of the last table, before which some rows were read."""
        return f"{self.noun} {before + row + 1}"

    def _read_on(self, place: str) -> bytes:
        """Return more bytes of text, empty at the end."""
        try:
            return bytes(self._bytes.read(BLOCK))
        except DAMAGED:
            raise self._damaged(place) from None

    def _damaged(self, place: str, given: str = "a damaged one") -> InputError:
        whole = "a file that can be read to its end" if place else f"{self.kind} that can be read"
        return InputError(f"{self.file}{place and ': '}{place}", whole, given)

    def _too_long(self, place: str, expected: str, size: int) -> InputError:
        """Return the error for a row of text that is longer than the limit, or does not end."""
        expected += f"a row of at most {self._most} bytes"
        if size <= self._most:
            return InputError(place, expected, "others")
        hint = f"allow longer rows with --allow row_bytes={2 * size}"
        return LimitError(place, expected, "others", hint)

    def share(self) -> float | None:
        """Return the share of the file read so far, from 0 to 1; None if unknown."""
        return min(1.0, self._raw.tell() / self._size) if self._size else None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.file != str(STANDARD):
            with contextlib.suppress(*DAMAGED):
                self._bytes.close()
            self._raw.close()


def is_text(kind: pa.DataType) -> bool:
    """Return whether cells of a type are text or bytes with offsets."""
    types = pa.string(), pa.binary(), pa.large_string(), pa.large_binary()
    return kind in types


def _bytes_of_rows(batch: pa.RecordBatch) -> IntArray:
    """Return the approximate expanded size of each row in bytes."""
    total = np.full(batch.num_rows, 8 * batch.num_columns)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
            lengths = pc.binary_length(column.dictionary).take(column.indices)
        elif is_text(column.type):
            lengths = pc.binary_length(column)
        else:
            total += column.nbytes // max(1, batch.num_rows)
            continue
        total += lengths.fill_null(0).to_numpy(zero_copy_only=False)
    return total


# --- writing --------------------------------------------------------------------------------------


def write_tables(
    stream: BinaryIO, writer: Writer, tables: Iterable[pa.Table], metadata: Metadata = None
) -> int:
    """Write tables of equal columns, at least one, in large parts; return the number of rows."""
    held: list[pa.Table] = []
    rows = size = 0
    with contextlib.ExitStack() as opened:
        out: Any = None

        def send() -> None:
            nonlocal out
            try:
                if out is None:
                    schema = held[0].schema.with_metadata(metadata)
                    out = opened.enter_context(writer(stream, schema))
                out.write_table(pa.concat_tables(held))
            except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
                expected = "columns of types that the file can hold"
                raise InputError("keep", expected, "others") from None

        for table in tables:
            held.append(table)
            rows, size = rows + table.num_rows, size + table.nbytes
            if size >= GROUP:
                send()
                held, size = [], 0
        if held:
            send()
    return rows


@contextlib.contextmanager
def text_writer(
    stream: BinaryIO, packed: str | None, head: bytes, encode: Callable[[pa.Table], Any]
) -> Iterator[Any]:
    """Open a text file, each part of which is compressed by itself if asked."""
    pack: Callable[[Any], Any] = bytes if packed is None else pa.Codec(packed).compress
    if packed == "gzip":
        pack = partial(gzip.compress, compresslevel=6, mtime=0)  # 9 is slower, hardly smaller
    stream.write(pack(head))
    yield SimpleNamespace(write_table=lambda table: stream.write(pack(encode(table))))


def safe_table(table: pa.Table) -> pa.Table:
    """Return a table of text whose cells and column names are safe for spreadsheets."""
    safe = spreadsheet_safe
    return pa.table(
        {safe(n): Cells(table.column(n), n, str).changed(safe) for n in table.column_names}
    )


@contextlib.contextmanager
def whole_output(target: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a file or standard output for atomic writing."""
    if target != STANDARD:
        with atomic_file(target, force=force) as stream:
            yield stream
        return
    place = "temporary files", "room for them on a disk", "TMPDIR names the folder for them"
    output = _bytes_of(sys.stdout, "output")
    with _as_input_error(*place), tempfile.TemporaryFile() as held:
        yield held
        held.seek(0)
        with _as_input_error("standard output", "a pipe or a file that can be written"):
            shutil.copyfileobj(held, output)
            output.flush()


def _bytes_of(stream: Any, name: str) -> BinaryIO:
    """Return a standard stream as bytes; it may be closed, or of text alone as in a notebook."""
    try:
        return cast(BinaryIO, stream.buffer)
    except AttributeError:
        raise InputError(f"standard {name}", "one that is open, for bytes", "another") from None


@contextlib.contextmanager
def _as_input_error(key: str, expected: str, hint: str = "") -> Iterator[None]:
    """Convert an OSError in the block, such as of a full disk, to InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(key, expected, error.strerror or error, hint) from None
