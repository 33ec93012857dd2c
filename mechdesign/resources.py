"""The limits of a reader: the largest cost of a file written by somebody else.

A file of a few kilobytes can state a problem whose proof takes hours, or a header of a billion
columns. Every reader here counts what it reads, and the kernel computes the number of its steps
from sizes before it begins, so that acceptance does not depend on the machine or its load. A file
beyond a limit raises :class:`~mechdesign.errors.LimitError`, whose message has the limit and the
option that raises it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any

from mechdesign.errors import InputError, LimitError, did_you_mean, shown


@dataclass(frozen=True)
class Resources:
    """The largest sizes and work that one file may cost its reader.

    Attributes
    ----------
    bytes
        Size, uncompressed, of a channel, a mechanism, a matrix, or the data of a prior.
    problem_bytes
        Size of a problem file.
    row_bytes
        Size of a row of a table, and of a cell.
    footer_bytes
        Size of the footer of a Parquet file.
    page_bytes
        Size of the pages of a Parquet file that are decompressed at once, one or two a column; only
        pages above the usual two megabytes count, and lists with two bytes a value. Also what a
        batch of a compressed Arrow file expands to beyond 16 times its size.
    inputs
        Inputs of a problem, a channel or a mechanism.
    entries
        Entries of one matrix, and of all lists in one file.
    columns
        Columns of a table in a file.
    lists
        Lists and tables in a problem, a channel or a mechanism, nested ones included.
    notions
        Notions of privacy in one problem file.
    digits
        Digits of one number.
    levels
        Depth of nested lists and tables.
    rays
        Extreme rays that the checker lists.
    steps
        Work of the checker on a file: on its bound, on its decoder, and on the rest, each by
        itself. A step is a simple operation of the interpreter, or some thirty multiplications of
        words inside a long one; a machine makes 10**7 or more in a second. Every entry of the lists
        of a file allows :data:`STEPS_PER_ENTRY` more, so that a long proof may take longer than a
        short file.
    proof_steps
        Work of the designer on the proof of one bound. Where a proof takes more than the default of
        ``steps``, the report has the limit that a reader must set.
    """

    bytes: int = 256 * 2**20
    problem_bytes: int = 4 * 2**20
    row_bytes: int = 4 * 2**20
    footer_bytes: int = 16 * 2**20
    page_bytes: int = 64 * 2**20
    inputs: int = 10**6
    entries: int = 2 * 10**7
    columns: int = 10**4
    lists: int = 10**6
    notions: int = 100
    digits: int = 5_000
    levels: int = 40
    rays: int = 100_000
    steps: int = 15 * 10**6
    proof_steps: int = 2 * 10**8


CHARACTERS = 8
"""Characters of text in a table that count as one entry; packed numbers need at least as many."""

STEPS_PER_ENTRY = 200
"""Additional steps for each entry of a file: the cost of reading it and of one logarithm."""

_DEFAULT = Resources()
_current: ContextVar[Resources] = ContextVar("resources", default=_DEFAULT)


def current() -> Resources:
    """Return the current limits."""
    return _current.get()


@contextlib.contextmanager
def allow(**limits: int) -> Iterator[Resources]:
    """Set some limits for the files that are read inside the block.

    Parameters
    ----------
    **limits
        Names and values of :class:`Resources`, whole numbers above 0.

    Raises
    ------
    InputError
        If a limit is unknown, or not an integer above 0.

    Examples
    --------
    >>> from mechdesign import resources
    >>> with resources.allow(inputs=10):
    ...     resources.check_size("inputs", 11, "survey.toml: domain.size")
    Traceback (most recent call last):
    mechdesign.errors.LimitError: survey.toml: domain.size: expected at most 10 inputs, given 11; \
allow more with --allow inputs=11 or resources.allow(inputs=11)
    """
    known = [field.name for field in fields(Resources)]
    for name, limit in limits.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError("allow", f"one of: {', '.join(known)}", shown(name), hint)
        if type(limit) is not int or limit < 1:
            raise InputError(f"allow {name}", "a whole number above 0", shown(limit))
    before = _current.set(replace(_current.get(), **limits))
    try:
        yield _current.get()
    finally:
        _current.reset(before)


def check_size(name: str, size: int, key: str) -> None:
    """Raise LimitError if a size exceeds the limit of that name.

    Parameters
    ----------
    name
        The name of the limit in :class:`Resources`.
    size
        The requested size.
    key
        The place in the input: ``"survey.toml: domain.size"``.
    """
    limit: int = getattr(current(), name)
    if size > limit:
        hint = f"allow more with --allow {name}={size} or resources.allow({name}={size})"
        raise LimitError(key, f"at most {limit} {name}", size, hint)


def entries_of(document: Any) -> int:
    """Return the number of entries in the lists of a document, without nested lists.

    Text in a table counts as one entry for each eight characters: it may hold packed numbers.

    Examples
    --------
    >>> entries_of({"matrix": [[0.5, 0.5], [1, 0]], "outputs": ["a", "b"], "title": "a survey"})
    7
    """
    if isinstance(document, dict):
        return sum(map(entries_of, document.values()))
    if isinstance(document, str):
        return len(document) // CHARACTERS
    if not isinstance(document, list):
        return 0
    if {list, dict}.isdisjoint(map(type, document)):
        return len(document)  # a proof may hold millions
    inner = [entry for entry in document if type(entry) in (list, dict)]
    return len(document) - len(inner) + sum(map(entries_of, inner))
