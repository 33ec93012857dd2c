"""Where bytes come from and go: plain files, standard input and output, packed or not."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from mechdesign.errors import InputError
from mechdesign.files.reading import open_plain
from mechdesign.writing.atomic import atomic_file
from mechdesign.writing.temporary import temporary_room

__all__ = ["STANDARD", "ByteReader", "ByteWriter", "whole_output"]

STANDARD = Path("-")
"""The file name that stands for standard input and standard output."""


class ByteReader:
    """Bytes of a plain file or of standard input, unpacked; ``packed`` is None, gzip or zstd."""

    def __init__(self, path: Path, packed: str | None = None) -> None:
        self._path, self._bytes = path, 0
        if path == STANDARD:
            self._raw: BinaryIO = sys.stdin.buffer
        else:
            self._raw = open_plain(path)
            self._bytes = os.fstat(self._raw.fileno()).st_size
        self._stream: Any = self._raw
        if packed == "gzip":
            self._stream = gzip.GzipFile(fileobj=self._raw)
        elif packed is not None:
            self._stream = pa.CompressedInputStream(pa.PythonFile(self._raw, "r"), packed)

    @property
    def raw(self) -> BinaryIO:
        """The file as it is."""
        return self._raw

    def read(self, count: int) -> bytes:
        """Return the next bytes, none at the end.

        Raises
        ------
        OSError, EOFError, zlib.error
            If the file is damaged.
        """
        found = self._stream.read(count)
        return bytes(found)

    def share(self) -> float | None:
        """Return how much of the file was read; None where that is not known."""
        return min(1.0, self._raw.tell() / self._bytes) if self._bytes else None

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._path != STANDARD:
            with contextlib.suppress(OSError, EOFError, zlib.error):
                self._stream.close()
            self._raw.close()


class ByteWriter:
    """Bytes into a stream, packed; ``packed`` is None, gzip or zstd. The stream stays open."""

    def __init__(self, stream: BinaryIO, packed: str | None = None) -> None:
        self._stream: Any = stream
        self._codec = None if packed in (None, "gzip") else pa.Codec(packed)
        # no name and no time of day go into the head of a compressed file
        self._gzip = gzip.GzipFile("", "wb", fileobj=stream, mtime=0) if packed == "gzip" else None

    def write(self, data: Any) -> None:
        """Write bytes; each call is a frame of zstd."""
        if self._codec is not None:
            data = self._codec.compress(data)
        (self._gzip or self._stream).write(data)

    def close(self) -> None:
        """Write what is left."""
        if self._gzip is not None:
            self._gzip.close()


@contextlib.contextmanager
def whole_output(target: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a target to write that gets all at the end or nothing; standard output as well."""
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
