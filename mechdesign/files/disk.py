"""Reading whole files, and the folder of data."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from mechdesign.errors import InputError, shown

__all__ = [
    "DATA_VARIABLE",
    "data_folder",
    "data_from",
    "read_text",
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
