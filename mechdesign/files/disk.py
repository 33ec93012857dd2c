"""Reading whole files, writing files whole or not at all, and the folder of data."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from mechdesign.errors import InputError, shown

__all__ = [
    "DATA_VARIABLE",
    "atomic_file",
    "check_different",
    "data_folder",
    "data_from",
    "read_text",
    "write_atomically",
]

DATA_VARIABLE = "MECHDESIGN_DATA"
"""The environment variable that names the folder of real data."""

_data: ContextVar[str | None] = ContextVar("data", default=None)


def data_folder() -> Path | None:
    """Return the folder of real data: the one of :func:`data_from`, else ``MECHDESIGN_DATA``."""
    named = _data.get() or os.environ.get(DATA_VARIABLE)
    return Path(named) if named else None


@contextlib.contextmanager
def data_from(folder: str | None) -> Iterator[None]:
    """Let the problem files that are read inside the block take their data from a folder.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    if folder is not None and not Path(folder).is_dir():
        raise InputError("--data", "a folder of data", shown(folder))
    before = _data.set(folder)
    try:
        yield
    finally:
        _data.reset(before)


def read_text(path: Path) -> str:
    """Return a text file in UTF-8, with or without a byte-order mark.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(str(path), "a text file in UTF-8", "other bytes") from None
    except OSError as error:
        raise InputError(str(path), "a file that can be read", error.strerror) from None


def check_different(source: Path, target: Path) -> None:
    """Raise InputError if two paths lead to one file."""
    if source.exists() and target.exists() and source.samefile(target):
        raise InputError(str(target), "another file than the one that is read", "the same")


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write so that a reader sees the old one or the new one, never a part.

    What is written goes to a hidden file beside it, which takes its name when the block ends and
    the bytes are on the disk. If the block raises, whatever it is, the hidden file is removed and
    the old one stays. A process that is killed outright may leave the hidden file, no more.

    Parameters
    ----------
    path
        The file; a link is written through.

    Yields
    ------
    BinaryIO
        The stream to write to. An OSError in the block counts as one of writing.

    Raises
    ------
    InputError
        If it cannot be written, or what is there is no plain file.
    """
    try:
        target = Path(path).resolve()  # a link is written through
        circle = target.is_symlink()  # newer versions of Python leave those as they are
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a zero byte
        raise InputError(str(path), "a file that can be written", error) from None
    if circle:
        raise InputError(str(path), "a file that can be written", "links in a circle")
    if target.exists() and not target.is_file():
        raise InputError(str(target), "a plain file, or none yet", "something else")
    hidden: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        hidden = Path(name)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        hidden.chmod(_mode(target))
        hidden.replace(target)
    except OSError as error:
        given = error.strerror or error
        raise InputError(str(target), "a file that can be written", given) from None
    finally:
        if hidden is not None:
            with contextlib.suppress(FileNotFoundError):
                hidden.unlink()


def _mode(target: Path) -> int:
    """Return who may do what with a file: as before where it is there, else as for any new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def write_atomically(path: Path, text: str) -> None:
    """Write a text file, in UTF-8, by :func:`atomic_file`.

    Raises
    ------
    InputError
        If it cannot be written, or what is there is no plain file.
    """
    with atomic_file(path) as stream:
        stream.write(text.encode("utf-8"))
