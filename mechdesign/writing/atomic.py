"""Writing files whole or not at all, and never over a file that is read."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mechdesign.errors import InputError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:
    HAS_LOCKS = False  # on Windows, where an open file can be neither removed nor replaced
else:
    HAS_LOCKS = True

__all__ = ["atomic_file", "check_different", "locked", "write_atomically"]

HIDDEN_NAMES = 8
"""How many processes may hold a hidden file beside one target at the same time."""

UNNAMED = getattr(os, "O_TMPFILE", 0)
"""The flag for a file without a name, which vanishes with its process; 0 if there is none."""

TRIES, PAUSE = 200, 0.05
"""How often a lock is tried, and seconds between two tries."""


def check_different(source: Path, target: Path) -> None:
    """Raise InputError if two paths lead to one file, through links too, or would."""
    try:
        if source.exists() and target.exists():
            same = source.samefile(target)
        else:
            same = source.resolve() == target.resolve()
    except (OSError, RuntimeError, ValueError):  # who reads or writes it says what is wrong
        return
    if same:
        raise InputError(str(target), "another file than the one that is read", "the same")


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file to write so that a reader sees the old one or the new one, never a part.

    What is written goes to a file without a name, in the same folder, which takes its name when
    the block ends and the bytes are on the disk. If the block raises, or the process is killed,
    nothing is left of it and the old file stays.

    A system that has no such files (Linux has them, on most file systems) gets a hidden one, beside
    the target. It is removed if the block raises. A process that is killed outright leaves it; the
    next that writes the same target removes it. The lock that a living process holds on its hidden
    file tells the two apart. A file that replaces another is hidden for a moment on Linux as well,
    when it is whole.

    Parameters
    ----------
    path
        The file; a link is written through.
    durable
        Whether the bytes are on the disk when the block has ended. Else a machine that loses power
        soon after may leave a file of which a part is missing.

    Yields
    ------
    BinaryIO
        The stream to write to. An OSError in the block counts as one of writing.

    Raises
    ------
    InputError
        If it cannot be written, or what is there is no plain file.
    """
    target = _plain_target(path)
    try:
        _remove_stale(_hidden_names(target))
        descriptor = _open_unnamed(target.parent)
        how = _hidden(target) if descriptor is None else _unnamed(target, descriptor)
        with how as stream:
            yield stream
            if durable:
                _sync(stream)
        if durable:
            _sync_folder(target.parent)
    except OSError as error:
        given = error.strerror or error
        raise InputError(str(target), "a file that can be written", given) from None


def write_atomically(path: Path, text: str, *, durable: bool = True) -> None:
    """Write a text file, in UTF-8, by :func:`atomic_file`; one whose name ends in .gz compressed.

    Raises
    ------
    InputError
        If it cannot be written, what is there is no plain file, or the text has no UTF-8.
    """
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(str(path), "text that can be written in UTF-8", "other text") from None
    if path.suffix == ".gz":
        encoded = gzip.compress(encoded, compresslevel=6, mtime=0)  # 9 takes longer for as much
    with atomic_file(path, durable=durable) as stream:
        stream.write(encoded)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, so that the processes that read and replace it take turns.

    A file that is not there is made, empty, readable by its owner only. Systems without
    ``flock`` (Windows) take no turns.

    Raises
    ------
    InputError
        If the file cannot be made or locked, or another process keeps the lock.
    """
    descriptor = None
    try:
        for _ in range(TRIES if HAS_LOCKS else 1):
            descriptor = _lock(path)
            if descriptor is not None or not HAS_LOCKS:
                break
            time.sleep(PAUSE)
        else:
            raise InputError(str(path), "a file that no other process keeps locked", "another does")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        given = getattr(error, "strerror", None) or error
        raise InputError(str(path), "a file that can be written and locked", given) from None
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _plain_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to; refuse what is there and is no plain file."""
    try:
        target = Path(path).resolve()  # a link is written through
        circle = target.is_symlink()  # newer versions of Python leave those as they are
        plain = target.is_file() or not target.exists()
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a zero byte
        given = getattr(error, "strerror", None) or error
        raise InputError(str(path), "a file that can be written", given) from None
    if circle:
        raise InputError(str(path), "a file that can be written", "links in a circle")
    if not plain:
        raise InputError(str(target), "a plain file, or none yet", "something else")
    return target


def _hidden_names(target: Path) -> list[Path]:
    """Return the names that a hidden file of a target may have: few, so that all are looked at."""
    key = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    return [target.with_name(f".mechdesign-{key}-{n}") for n in range(HIDDEN_NAMES)]


def _remove_stale(names: list[Path]) -> None:
    """Remove hidden files that killed processes left: those that nobody holds."""
    for name in names:
        with contextlib.suppress(OSError):
            if not HAS_LOCKS:
                name.unlink()  # refused while a process has it open
                continue
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                flock(descriptor, LOCK_EX | LOCK_NB)
                if os.path.samestat(os.fstat(descriptor), name.lstat()):
                    name.unlink()
            finally:
                os.close(descriptor)


def _remove_own(names: list[Path], ours: os.stat_result) -> None:
    """Remove the hidden file that this process made, if it is there."""
    for name in names:
        with contextlib.suppress(OSError):
            if os.path.samestat(ours, name.lstat()):
                name.unlink()


def _lock(path: Path) -> int | None:
    """Open and lock a file, which is made if there is none; None where another process has it."""
    if not HAS_LOCKS:
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat()):  # else it was replaced meanwhile
            return descriptor
    except BlockingIOError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _hold(descriptor: int) -> None:
    """Mark a hidden file as one of a living process; some file systems have no locks."""
    if HAS_LOCKS:
        with contextlib.suppress(OSError):
            flock(descriptor, LOCK_EX | LOCK_NB)


def _open_unnamed(folder: Path) -> int | None:
    """Return a file without a name that can be given one; None where there is no such thing."""
    if not UNNAMED:
        return None
    try:
        descriptor = os.open(folder, UNNAMED | os.O_RDWR, 0o600)
    except OSError:  # of a file system without them, or of the folder: a hidden file will tell
        return None
    if not os.path.lexists(_by_descriptor(descriptor)):
        os.close(descriptor)
        return None
    return descriptor


def _by_descriptor(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


@contextlib.contextmanager
def _unnamed(target: Path, descriptor: int) -> Iterator[BinaryIO]:
    """Write to a file without a name, which gets the one of the target in the end."""
    names, ours = _hidden_names(target), os.fstat(descriptor)
    try:
        _hold(descriptor)
        with os.fdopen(descriptor, "w+b", closefd=False) as stream:
            yield stream
            _finish(stream, target)
            try:
                _link(descriptor, target, names)
            except OSError:  # a system that gives no second name to an open file
                stream.seek(0)
                with _hidden(target) as copy:
                    shutil.copyfileobj(stream, copy)
                    _sync(copy)
    finally:
        _remove_own(names, ours)
        os.close(descriptor)


def _link(descriptor: int, target: Path, names: list[Path]) -> None:
    """Give a file without a name the one of the target: at once, or by way of a hidden name."""
    for name in (target, *names):
        with contextlib.suppress(FileExistsError):
            # the folder is that of an absolute path, so it does not count; but only with one does
            # Python follow the link, and the file gets a name, not the link
            os.link(_by_descriptor(descriptor), name, src_dir_fd=descriptor, follow_symlinks=True)
            if name != target:
                name.replace(target)
            return
    raise _too_many(names)


@contextlib.contextmanager
def _hidden(target: Path) -> Iterator[BinaryIO]:
    """Write to a hidden file beside the target, which takes its place in the end."""
    names = _hidden_names(target)
    with contextlib.ExitStack() as held:
        descriptor, name = _open_hidden(names)
        held.callback(os.close, descriptor)
        ours = os.fstat(descriptor)
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as stream:
                yield stream
                _finish(stream, target, name)
            if not HAS_LOCKS:
                held.close()  # before it can be moved
            name.replace(target)
        finally:
            if not HAS_LOCKS:
                held.close()
            _remove_own(names, ours)


def _open_hidden(names: list[Path]) -> tuple[int, Path]:
    """Make a hidden file and mark it as one of a living process."""
    for name in names:
        with contextlib.suppress(FileExistsError):
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            descriptor = os.open(name, flags, 0o600)
            try:
                _hold(descriptor)
                if os.fstat(descriptor).st_nlink:  # else another took it for a stale one
                    return descriptor, name
            except BaseException:
                name.unlink()
                os.close(descriptor)
                raise
            os.close(descriptor)
    raise _too_many(names)


def _too_many(names: list[Path]) -> OSError:
    pattern = f"{names[0].name.removesuffix('0')}*"
    return OSError(f"{len(names)} hidden files {pattern} beside it, which others may be writing")


def _finish(stream: BinaryIO, target: Path, name: Path | None = None) -> None:
    """Write what is left, and let the same people read it as before."""
    stream.flush()
    if name is None:
        os.fchmod(stream.fileno(), _mode(target))
    else:
        name.chmod(_mode(target))


def _sync(stream: BinaryIO) -> None:
    """Bring what was written to the disk."""
    stream.flush()
    os.fsync(stream.fileno())


def _mode(target: Path) -> int:
    """Return who may do what with a file: as before where it is there, else as for any new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _sync_folder(folder: Path) -> None:
    """Bring the name of a new file to the disk, where folders can be opened at all."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
