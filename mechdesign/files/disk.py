"""The folder of data."""

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
