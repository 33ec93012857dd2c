"""Atomic file writing, and protection of input files against overwriting."""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from mechdesign.errors import InputError

PREFIX = ".mechdesign-"
"""Name prefix of temporary files."""


def check_different(source: Path, target: Path) -> None:
    """Raise InputError if two paths resolve to the same file, whether it exists or not."""
    try:
        if source.exists() and target.exists():
            same = source.samefile(target)
        else:
            same = source.resolve() == target.resolve()
    except (OSError, RuntimeError, ValueError):  # reading or writing it raises the error
        return
    if same:
        fault = "this file is also read: choose another output"
        raise InputError(str(target), "another file", "the same", fault=fault)


@contextlib.contextmanager
def atomic_file(
    path: str | os.PathLike[str], *, durable: bool = True, force: bool = True
) -> Iterator[BinaryIO]:
    """Open a file for atomic writing: readers see the old file or the new one, never a part.

    Bytes go to a hidden temporary file in the same folder, which is renamed to the target at the
    end of the block. If the block raises, the temporary file is removed and the old file stays. A
    killed process leaves its temporary file, ``.mechdesign-*``, readable by its owner only. Links
    are followed. An OSError in the block is treated as a write error.

    Parameters
    ----------
    durable
        Whether to sync the bytes to disk; else the file may be incomplete after a power failure.
    force
        Whether to replace an existing file. If not, an empty file claims the name when the block
        begins, so that only one of several writers starts. It is removed if the block raises.
    """
    target = _plain_target(path)
    claim = None
    try:
        try:
            claim = None if force else _claim(target)
            stream = tempfile.NamedTemporaryFile(  # noqa: SIM115  closed before it is renamed
                dir=target.parent, prefix=PREFIX, delete=False
            )
            try:
                with stream:
                    yield cast(BinaryIO, stream)
                    stream.flush()
                    Path(stream.name).chmod(_mode(target))
                    if durable:
                        os.fsync(stream.fileno())
                if claim is not None and not _is_there(target, claim):
                    raise _exists(target)
                Path(stream.name).replace(target)
            finally:
                Path(stream.name).unlink(missing_ok=True)
            if durable:
                _sync_folder(target.parent)
        finally:
            if claim is not None and _is_there(target, claim):
                target.unlink()
    except OSError as error:
        given = error.strerror or error
        raise unwritable(target, given) from None


def write_atomically(path: Path, text: str, *, durable: bool = True) -> None:
    """Write text in UTF-8 by :func:`atomic_file`, gzipped if the name ends in .gz."""
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        fault = "the text cannot be encoded in UTF-8"
        raise InputError(str(path), "text in UTF-8", "other text", fault=fault) from None
    if path.suffix == ".gz":
        encoded = gzip.compress(encoded, compresslevel=6, mtime=0)  # 9 is slower, hardly smaller
    with atomic_file(path, durable=durable) as stream:
        stream.write(encoded)


def _plain_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path resolves to, or raise InputError unless it is new or regular."""
    try:
        target = Path(path).resolve()  # follows links
        circle = target.is_symlink()  # newer versions of Python do not raise for circular links
        plain = True
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            plain = circle or stat.S_ISREG(target.stat().st_mode)  # one call, to avoid a race
    except (OSError, RuntimeError, ValueError) as error:  # circular links, a zero byte
        given = getattr(error, "strerror", None) or error
        raise unwritable(path, given) from None
    if circle:
        raise InputError(str(path), "a file", "links", fault="the link leads to itself")
    if not plain:
        fault = "this is not a regular file"
        raise InputError(str(target), "a regular file", "another kind", fault=fault)
    return target


def _claim(target: Path) -> os.stat_result:
    """Create an empty file that claims a name, and return its status."""
    try:
        with target.open("xb") as claim:
            return os.fstat(claim.fileno())
    except FileExistsError:
        raise _exists(target) from None


def unwritable(path: str | os.PathLike[str], reason: object) -> InputError:
    """Return the error for a file that cannot be written."""
    fault = f"cannot write the file: {reason}"
    return InputError(str(path), "a writable file", reason, fault=fault)


def _exists(target: Path) -> InputError:
    hint, fault = "--force, or force=True, replaces it", "the file exists"
    return InputError(str(target), "a new file", "an existing one", hint, fault)


def _is_there(target: Path, claim: os.stat_result) -> bool:
    """Return whether the claim is still in place: a forced writer may have replaced it."""
    try:
        return os.path.samestat(target.stat(), claim)
    except FileNotFoundError:
        return False


def _mode(target: Path) -> int:
    """Return the permissions of an existing file, or the default ones, which a new file shows.

    To ask for the umask is to set it, also for files that other threads create meanwhile.
    """
    if target.exists():
        return target.stat().st_mode & 0o777
    new = target.with_name(f"{PREFIX}{secrets.token_hex(8)}")
    try:
        with new.open("xb") as stream:
            return os.fstat(stream.fileno()).st_mode & 0o777
    finally:
        new.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Sync a folder to disk, on systems that can open folders."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
