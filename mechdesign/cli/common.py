"""Shared by the commands: exit statuses, one-line errors, numbers, files to write."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mechdesign.designs.progress import ProgressBar, tqdm_bar
from mechdesign.errors import CertificateError, InputError, RepeatedDrawWarning, shown

if TYPE_CHECKING:
    from mechdesign.channel import Channel
    from mechdesign.continuous import ContinuousChannel
    from mechdesign.files import SavedMechanism
    from mechdesign.mechanisms import Mechanism

    Commands = argparse._SubParsersAction[Any]

__all__ = [
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "WRONG_INPUT",
    "FileBar",
    "add_allow",
    "add_data",
    "add_limits",
    "add_spreadsheet_safe",
    "check_writable",
    "checked_file",
    "checked_mechanism",
    "cleared_when_ended",
    "complain",
    "memory_size",
    "positive",
    "warnings_in_a_line",
]

DONE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


def complain(message: str) -> int:
    """Print an error in one line on standard error, and return the exit status."""
    print(" ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT


def positive(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number > 0, given {shown(text)}")
    return number


UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
"""Letters before the B of bytes."""


def memory_size(text: str) -> float:
    """Read a number of bytes, as ``2 GB`` or ``500000000``."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)B?\s*", text, re.IGNORECASE)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a size as 2 GB, given {shown(text)}")
    return positive(found[1]) * UNITS[found[2].upper()]


def add_limits(command: argparse.ArgumentParser, ended: str) -> None:
    """Add --gap and --time-limit to a command; ``ended`` is the help of the second."""
    command.add_argument(
        "--gap", type=positive, metavar="NUMBER", help="a gap that is small enough, as 1e-4"
    )
    command.add_argument("--time-limit", type=positive, metavar="SECONDS", help=ended)


def add_allow(command: argparse.ArgumentParser) -> None:
    """Add --allow to a command: every one reads files."""
    command.add_argument(
        "--allow",
        action="append",
        default=[],
        type=_raised,
        metavar="NAME=VALUE",
        help="raise a limit on what is read from a file, as inputs=2000000; the message that "
        "refuses a file names the limit",
    )


def _raised(text: str) -> tuple[str, int]:
    """Read a limit and its value."""
    name, _, value = text.partition("=")
    if not value.isdecimal() or not value.isascii() or len(value) > 18:
        raise argparse.ArgumentTypeError(
            f"expected the name of a limit and a whole number, as inputs=2000000, given {text!r}"
        )
    return name, int(value)


def add_data(command: argparse.ArgumentParser) -> None:
    """Add --data to a command that reads problem files."""
    command.add_argument(
        "--data",
        metavar="FOLDER",
        help="where the data of a [prior] are looked for, if not beside the problem file; "
        "default: the environment variable MECHDESIGN_DATA",
    )
    command.add_argument(
        "--allow-path",
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder below which the problem file may read data, beside its own and that of "
        "--data",
    )


def add_spreadsheet_safe(command: argparse.ArgumentParser) -> None:
    """Add --spreadsheet-safe to a command that reads or writes CSV for people."""
    command.add_argument(
        "--spreadsheet-safe",
        action="store_true",
        help="put an apostrophe before cells of CSV that a spreadsheet would run, as =1+1; "
        "what is read was written so",
    )


@contextlib.contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Print every warning in the block as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RepeatedDrawWarning)
        try:
            yield
        finally:
            for warning in caught:
                complain(f"warning: {warning.message}")


def check_writable(output: str | None, picture: str | None, *sources: str) -> None:
    """Refuse early to write to an unwritable place, or over a file that is read."""
    from mechdesign.writing.atomic import check_different

    for path in (output, picture):
        if path is not None:
            folder = Path(path).parent
            if not path or Path(path).is_dir() or not os.access(folder, os.W_OK):
                fault = "the name of the file is empty"
                if not folder.is_dir():
                    fault = f"the folder {shown(str(folder))} does not exist"
                elif path:
                    is_folder = Path(path).is_dir()
                    fault = "this is a folder, not a file" if is_folder else ""
                    fault = fault or f"the folder {shown(str(folder))} is read-only"
                raise InputError(path or "-o", "a writable file", shown(path), fault=fault)
            for source in sources:
                check_different(Path(source), Path(path))
    if output is not None and picture is not None and Path(output) == Path(picture):
        fault = "the plot needs a file of its own"
        raise InputError(picture, "another file", "the same", fault=fault)
    if picture is not None:
        from mechdesign.plots import check_picture_name

        check_picture_name(picture)


@contextlib.contextmanager
def cleared_when_ended() -> Iterator[None]:
    """Unwind the block on SIGTERM, so that half-written files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


class FileBar(ProgressBar):
    """Shows how much of a file was read, gone when the work is done; a context.

    Parameters
    ----------
    doing
        What is done with it, in a word.
    shown
        Whether to show it; None where standard error is a terminal.
    """

    def __init__(self, doing: str, shown: bool | None = None) -> None:
        form = "{desc} |{bar:20}| {percentage:3.0f}%, {elapsed}<{remaining}"
        super().__init__(tqdm_bar(shown, total=1.0, bar_format=form))
        self._doing = doing

    def __call__(self, rows: int, share: float | None) -> None:
        """Show the progress."""
        self._bar.set_description_str(f"{self._doing} {rows} rows", refresh=False)
        self._bar.update((share or 0.0) - self._bar.n)

    def refresh(self) -> None:
        """Show it now, however short ago it was shown."""
        self._bar.refresh()


def checked_mechanism(path: str) -> Channel | Mechanism | ContinuousChannel:
    """Return the channel or the structured mechanism of a file; see :func:`checked_file`."""
    return checked_file(path).mechanism


def checked_file(path: str) -> SavedMechanism:
    """Return what is in a file of a channel or a mechanism, once its claims are checked.

    Raises
    ------
    InputError
        If the file cannot be read.
    CertificateError
        If a claim in it does not hold.
    """
    from mechdesign.files import load_mechanism

    try:
        return load_mechanism(path)
    except CertificateError as error:
        raise CertificateError(f"{path}: refused: {error}") from None
