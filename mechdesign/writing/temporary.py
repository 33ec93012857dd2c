"""Temporary files that find no room."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from mechdesign.errors import InputError

__all__ = ["temporary_room"]


@contextlib.contextmanager
def temporary_room() -> Iterator[None]:
    """Turn an OSError of the block, which works on a temporary file, into one line.

    Raises
    ------
    InputError
        If there is one, as of a full disk.
    """
    try:
        yield
    except OSError as error:
        hint = "TMPDIR names the folder for them"
        given = error.strerror or error
        raise InputError("temporary files", "room for them on a disk", given, hint) from None
