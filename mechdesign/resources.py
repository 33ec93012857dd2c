"""The limits of a reader: how much a file written by somebody else may cost.

A file of a few kilobytes can state a problem whose proof takes hours, or a header of a billion
columns. Every reader here counts what it reads, and the checker counts its work in steps, so that
the same file is accepted or refused on every machine, however loaded. What is past a limit raises
:class:`~mechdesign.errors.LimitError`, which names the limit and says how to raise it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

from mechdesign.errors import InputError, LimitError, did_you_mean, shown

__all__ = ["Resources", "Work", "allow", "check_size", "current"]


@dataclass(frozen=True)
class Resources:
    """How much one file may ask of its reader.

    Attributes
    ----------
    bytes
        Of a file that is read whole, unpacked: a channel, a mechanism, a matrix, data of a prior.
    problem_bytes
        Of a problem file.
    row_bytes
        Of a row in a table, and of a cell in one.
    footer_bytes
        Of the description at the end of a Parquet file.
    inputs
        Inputs of a problem, a channel or a mechanism.
    entries
        Entries of one matrix, and of all lists in one file.
    columns
        Columns of a table in a file.
    lists
        Lists and tables in a problem, a channel or a mechanism, one inside another or not.
    notions
        Notions of privacy in one problem file.
    digits
        Digits of one number.
    levels
        Lists and tables inside one another.
    rays
        Extreme rays that the checker lists.
    steps
        Work of the checker, in multiplications of two words of the machine or what takes as long.
    """

    bytes: int = 256 * 2**20
    problem_bytes: int = 4 * 2**20
    row_bytes: int = 4 * 2**20
    footer_bytes: int = 16 * 2**20
    inputs: int = 10**6
    entries: int = 2 * 10**7
    columns: int = 10**4
    lists: int = 10**6
    notions: int = 100
    digits: int = 5_000
    levels: int = 40
    rays: int = 100_000
    steps: int = 10**8


_DEFAULT = Resources()
_current: ContextVar[Resources] = ContextVar("resources", default=_DEFAULT)


def current() -> Resources:
    """Return the limits that hold here."""
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
        If a limit is not known, or is not a whole number above 0.

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
    """Raise LimitError if a size is past the limit of that name.

    Parameters
    ----------
    name
        The limit, as :class:`Resources` names it.
    size
        What is asked for.
    key
        Where the reader stands: ``"survey.toml: domain.size"``.
    """
    limit: int = getattr(current(), name)
    if size > limit:
        hint = f"allow more with --allow {name}={size} or resources.allow({name}={size})"
        raise LimitError(key, f"at most {limit} {name}", size, hint)


class Work:
    """Steps of the checker, counted against the limit.

    Examples
    --------
    >>> work = Work()
    >>> work.spend(1000, "the chain bound")
    >>> work.spent
    1000
    """

    def __init__(self) -> None:
        self.spent = 0

    def spend(self, steps: int, on: str) -> None:
        """Count steps *before* they are done; past the limit raise LimitError.

        Parameters
        ----------
        steps
            How many more.
        on
            What they are spent on, for the message.
        """
        self.spent += steps
        check_size("steps", self.spent, on)
