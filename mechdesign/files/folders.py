"""The folders that a problem file may read: its own, the data folder, and allowed folders.

A problem may be untrusted. Links are resolved, and files outside these folders are never opened,
whether they exist or not.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path

from mechdesign.errors import InputError, listed, shown

DATA_VARIABLE = "MECHDESIGN_DATA"
"""The environment variable with the folder of real data."""

_data: ContextVar[str | None] = ContextVar("data", default=None)
_allowed: ContextVar[tuple[Path, ...]] = ContextVar("allowed", default=())


def data_folder() -> Path | None:
    """Return the folder of real data: the one of :func:`reading_from`, else ``MECHDESIGN_DATA``."""
    named = _data.get() or os.environ.get(DATA_VARIABLE)
    return Path(named) if named else None


@contextlib.contextmanager
def reading_from(
    data: str | None = None,
    allowed: Iterable[str | os.PathLike[str]] = (),
    keys: tuple[str, str] = ("data", "allow_paths"),
) -> Iterator[None]:
    """Allow the problem files read inside the block to use data from more folders.

    Parameters
    ----------
    data
        The folder of real data, instead of ``MECHDESIGN_DATA``.
    allowed
        Further allowed folders, with their subfolders.
    keys
        The names of both arguments in errors.

    Raises
    ------
    InputError
        If a folder does not exist.
    """
    named = [os.fspath(folder) for folder in listed(allowed, keys[1], "a list of folders")]
    if data is not None and not Path(data).is_dir():
        raise InputError(keys[0], "a folder of data", shown(data))
    for folder in named:
        if not Path(folder).is_dir():
            raise InputError(keys[1], "a folder", shown(folder))
    before = _data.set(data or _data.get()), _allowed.set((*_allowed.get(), *map(Path, named)))
    try:
        yield
    finally:
        _data.reset(before[0])
        _allowed.reset(before[1])


def find_data(name: str, folder: Path, key: str) -> Path:
    """Return the data file of a problem: next to the problem file, else in the data folder.

    Links are followed.

    Parameters
    ----------
    name
        A relative or absolute path.
    folder
        The folder of the problem file.
    key
        The key of the file, for errors.

    Raises
    ------
    InputError
        If the file is outside the allowed folders, or does not exist.
    """
    shared = data_folder()
    roots = [root for root in (folder, shared, *_allowed.get()) if root is not None]
    outside = 0
    places = [folder] if shared is None else [folder, shared]
    for place in places:
        try:
            found = (place / name).resolve()
            if not any(found.is_relative_to(root.resolve()) for root in roots):
                outside += 1
            elif found.is_file():
                return found
        except (OSError, RuntimeError, ValueError):  # circular links, a zero byte
            continue
    if outside == len(places):
        expected = "a file below the folder of the problem or the data folder"
        hint = "allow more with --allow-path FOLDER or load_problem(..., allow_paths=[FOLDER])"
        raise InputError(key, expected, name, hint)
    hint = "" if shared else f"set {DATA_VARIABLE} to the folder of data"
    raise InputError(key, "a file beside the problem or in the data folder", name, hint)
