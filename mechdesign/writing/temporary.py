"""Errors of temporary files, such as a full disk."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from mechdesign.errors import InputError

__all__ = ["temporary_room"]


@contextlib.contextmanager
def temporary_room() -> Iterator[None]:
    """Convert an OSError of a temporary file in the block, such as a full disk, to InputError."""
    try:
        yield
    except OSError as error:
        hint = "TMPDIR names the folder for them"
        given = error.strerror or error
        raise InputError("temporary files", "room for them on a disk", given, hint) from None
