"""Reading of untrusted files within limits, from the folders that a problem file may read.

Only regular files are opened: a device may be endless, and a pipe may have no writer. A problem may
read data from its own folder, the data folder and allowed folders. Links are resolved, and files
outside these folders are never opened, whether they exist or not. The error messages of this module
do not quote the content of a file.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from mechdesign.errors import (
    CertificateError,
    InputError,
    LimitError,
    did_you_mean,
    listed,
    shown,
)
from mechdesign.kernel import Verified, parse, verify
from mechdesign.resources import check_size

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

STEP = 2**20
"""Bytes read at once."""

KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)

MOST_PARTS = 8
"""Maximum number of parts of a dotted key. Problem files need at most four."""

PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
TOO_MANY_PARTS = re.compile(
    rf"(?<![A-Za-z0-9_\\-]){PART}(?:[ \t]*+\.[ \t]*+{PART}){{{MOST_PARTS}}}"
)
"""A dotted key with too many parts, anywhere; text in strings may match, too.

Every possible start of a key is tried, and no part is read twice from the same start, so the time
is linear.
"""

SEPARATORS = ";\t|,"


def open_plain(path: Path) -> BinaryIO:
    """Open a regular file for reading, or raise InputError."""
    try:
        _check_plain(path, path.stat().st_mode)
        stream = open(path, "rb", opener=_without_waiting)  # noqa: SIM115
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError
        if isinstance(error, InputError):
            raise
        given = getattr(error, "strerror", None) or error
        raise unreadable(path, given) from None
    try:
        _check_plain(path, os.fstat(stream.fileno()).st_mode)  # again, for the file opened
    except InputError:
        stream.close()
        raise
    return stream


def unreadable(path: Path, reason: object) -> InputError:
    """Return the error for a file that cannot be read."""
    fault = f"cannot read the file: {reason}"
    return InputError(str(path), "a readable file", reason, fault=fault)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_plain(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in KINDS if is_kind(mode)), "not a regular file")
        raise unreadable(path, f"it is {kind}")


def read_text(path: Path, limit: str = "bytes") -> str:
    """Return the text of a UTF-8 file, optionally gzipped or with a byte-order mark.

    ``limit`` is the name of the limit on its size in `resources.Resources`.
    """
    content = bytearray()
    with open_plain(path) as raw:
        check_size(limit, os.fstat(raw.fileno()).st_size, str(path))
        try:
            packed = raw.read(len(GZIP)) == GZIP
            raw.seek(0)
            stream = gzip.GzipFile(fileobj=raw) if packed else raw
            while more := stream.read(STEP):
                content += more
                check_size(limit, len(content), str(path))
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(path, getattr(error, "strerror", None) or error) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        fault = "the file is not UTF-8 text"
        raise InputError(str(path), "a text file in UTF-8", "other bytes", fault=fault) from None


def read_document(file: Path) -> Any:
    """Return the parsed JSON of a file, or raise InputError."""
    text = read_text(file)
    try:
        return parse(text, str(file))
    except LimitError:
        raise
    except (ValueError, RecursionError) as error:  # invalid, or absurdly deep or long
        hint = ""
        if file.suffix.lower() == ".toml":
            hint = f"mechdesign solve {file} -o channel.json designs a channel for a problem"
        fault = f"not valid JSON: {error}"
        raise InputError(str(file), "a JSON file", error, hint, fault) from None


def read_verified(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Verified]:
    """Return the parsed JSON of a saved file, and its verified claims; errors name the file."""
    document = read_document(Path(path))
    try:
        return document, verify(document)
    except LimitError as error:
        raise error.inside_file(str(path)) from None
    except CertificateError as error:
        raise CertificateError(f"{path}: refused: {error}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file within limits, with floats as exact decimals."""
    text, key = read_text(path, "problem_bytes"), str(path)
    if TOO_MANY_PARTS.search(text):
        fault = f"a dotted key has more than {MOST_PARTS} parts"
        raise InputError(key, f"at most {MOST_PARTS} parts", "more", fault=fault)
    try:
        tables = tomllib.loads(text, parse_float=Decimal)
    except ArithmeticError:
        fault = "a number is out of range"
        raise InputError(key, "a TOML file", "a huge number", fault=fault) from None
    except ValueError as error:
        raise InputError(key, "a TOML file", error, fault=f"not valid TOML: {error}") from None
    except RecursionError:
        fault = "the tables are nested too deeply"
        raise InputError(key, "a TOML file", "deep nesting", fault=fault) from None
    _check_tables(tables, key)
    return tables


def _check_tables(tables: dict[str, Any], key: str) -> None:
    """Raise LimitError for too many or too deep tables, and for too long numbers."""
    level: list[Any] = [tables]
    depth = lists = 0
    while level:
        depth, lists = depth + 1, lists + len(level)
        check_size("levels", depth, key)
        check_size("lists", lists, key)
        entries = [
            entry
            for table in level
            for entry in (table.values() if isinstance(table, dict) else table)
        ]
        for entry in entries:
            if isinstance(entry, int):
                check_size("digits", entry.bit_length() * 30103 // 100_000, key)
        level = [entry for entry in entries if isinstance(entry, dict | list)]


def place_of_column(wanted: str, names: Sequence[str], key: str, file: str) -> int:
    """Return the index of the unique column of a name.

    The error does not quote names from the file, which may not be a table at all; it gives the
    number of a column with a similar name.
    """
    count = names.count(wanted)
    if count == 1:
        return names.index(wanted)
    hint = ""
    if not count:
        folded = [name.strip().casefold() for name in names]
        near = [n for n, name in enumerate(folded, 1) if did_you_mean(str(wanted), [name])]
        other = next((c for c in SEPARATORS if len(names) == 1 and c in names[0]), "")
        if other:
            hint = f"is the separator {other!r}?"
        elif near:
            hint = f"column {near[0]} has a similar name"
        elif names:
            count_text = f"{len(names)} column{'s' * (len(names) > 1)}"
            hint = f"it has {count_text}; a CSV file names its columns in line 1"
    fault = f"{file} has {count or 'no'} column{'s' * (count > 1)} named {shown(wanted)}"
    raise InputError(key, f"one column named {shown(wanted)}", count or "none", hint, fault)


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

    ``data`` is used instead of ``MECHDESIGN_DATA``; subfolders of the allowed folders are allowed,
    too. ``keys`` are the names of both arguments in errors.
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

    Links are followed. A file outside the allowed folders is refused, whether it exists or not.
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
