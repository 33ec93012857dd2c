"""Reading and writing whole files, and where the data lie."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from mechdesign.errors import InputError

__all__ = ["DATA_VARIABLE", "data_folder", "read_text", "write_atomically"]

DATA_VARIABLE = "MECHDESIGN_DATA"


def data_folder() -> Path | None:
    """Return the folder of real data, if there is one.

    It is named by the environment variable ``MECHDESIGN_DATA``; without it, a folder
    ``shared/data`` beside the checkout or beside the working directory is looked for.
    """
    named = os.environ.get(DATA_VARIABLE)
    if named:
        return Path(named)
    checkout = Path(__file__).resolve().parents[2]
    for parent in (checkout.parent, Path.cwd().parent):
        folder = parent / "shared" / "data"
        if folder.is_dir():
            return folder
    return None


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


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old one or the new one, never a part.

    Raises
    ------
    InputError
        If it cannot be written, or what is there is no plain file.
    """
    path = path.resolve()  # a link is written through
    if path.exists() and not path.is_file():
        raise InputError(str(path), "a plain file, or none yet", "something else")
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(str(path), "a file that can be written", error.strerror) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except OSError as error:
        raise InputError(str(path), "a file that can be written", error.strerror) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
