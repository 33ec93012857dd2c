"""Shared code of the commands: exit statuses, one-line errors, number parsing, output files."""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechdesign.designs.progress import ProgressBar, tqdm_bar
from mechdesign.errors import InputError, RepeatedDrawWarning, shown
from mechdesign.exact import as_fraction

DONE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


def complain(message: str) -> int:
    """Print a one-line error on standard error, and return the exit status."""
    print(" ".join(message.split()), file=sys.stderr)
    return WRONG_INPUT


def _typed(
    expected: str, read: Callable[[re.Match[str]], Any], pattern: str = "(?s).*"
) -> Callable[[str], Any]:
    """Return a type of arguments: a text that matches a pattern, and that can be read."""

    def parse(text: str) -> Any:
        with contextlib.suppress(ValueError, csv.Error):
            if found := re.fullmatch(pattern, text):
                return read(found)
        raise argparse.ArgumentTypeError(f"expected {expected}, given {shown(text)}")

    return parse


def _positive(text: str) -> float:
    return float(as_fraction(text, above=0))


def _shares(found: re.Match[str]) -> tuple[float, ...]:
    shares = tuple(map(_positive, found[0].split(",")))
    if max(shares) >= 1:
        raise ValueError
    return shares


UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
"""Unit prefixes of bytes."""

memory_size = _typed(
    "a size as 2 GB",
    lambda found: _positive(found[1]) * UNITS[found[2].upper()],
    r"(?i)\s*([0-9.]+)\s*([KMGT]?)B?\s*",
)

TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(
        ("N", "J", "B", "Q", "REPORTS"),
        _typed("a whole number", lambda found: int(found[0]), r"[+-]?[0-9]{1,18}"),
    ),
    **dict.fromkeys(
        ("NUMBER", "SECONDS"), _typed("a number > 0", lambda found: _positive(found[0]))
    ),
    "SIZE": memory_size,
    "NAME=VALUE": _typed(
        "the name of a limit and a whole number, as inputs=2000000",
        lambda found: (found[1], int(found[2])),
        "([^=]*)=([0-9]{1,18})",
    ),
    "--seed": _typed("a whole number >= 0", lambda found: int(found[0]), "[0-9]+"),
    "--keep": _typed(  # quoted as in a CSV file if they contain commas
        "names of columns with commas between them",
        lambda found: tuple(next(csv.reader([found[0]], strict=True))),
    ),
    "--quantiles": _typed("numbers above 0 and below 1", _shares),
    "--jobs": _typed(
        "a whole number >= 1, or -1", lambda found: int(found[0]), "-1|0*[1-9][0-9]{0,4}"
    ),
}
"""The types of arguments by their flags or placeholders; others are text."""

JSON = "--json  print JSON instead of a report\n"
PLOT = "--plot PICTURE  draw it (PNG, PDF or SVG)\n"
TABLE = "--csv OUT.csv  write it as a table\n"
GAP = "--gap NUMBER  a gap that is small enough, as 1e-4\n"
SPREADSHEET_SAFE = "--spreadsheet-safe  an apostrophe before cells that a spreadsheet would run\n"
DATA = """\
--data FOLDER            where data of a problem are looked for; default: MECHDESIGN_DATA
--allow-path FOLDER ...  a further folder from which the problem file may read data
"""
ALLOW = "--allow NAME=VALUE ...  raise a limit on what is read from a file, as inputs=2000000\n"


@dataclass(frozen=True)
class Command:
    """A command of the parser.

    Attributes
    ----------
    name, run
        The command, and the function that runs it, which may return an exit status.
    help, description
        A line for the list of commands, and the text for its own help.
    arguments
        One line per argument, with its help after two spaces, continued on indented lines: flags,
        or the name of a positional argument; then placeholders, in brackets if optional, or choices
        in braces; then ``...`` for several values, ``!`` for a required flag, ``= WORD`` for a
        default and ``-> NAME`` for the name of the option. Exactly one of the arguments marked by a
        bar must be given.
    """

    name: str
    run: Callable[[argparse.Namespace], int | None]
    help: str
    arguments: str
    description: str | None = None

    def add_to(self, commands: Any) -> None:
        """Add the command to a parser."""
        parser = commands.add_parser(self.name, help=self.help, description=self.description)
        group = None
        for line in re.split(r"\n(?! )", (self.arguments + ALLOW).strip()):
            place, row = parser, line
            if line.startswith("| "):
                group = group or parser.add_mutually_exclusive_group(required=True)
                place, row = group, line.removeprefix("| ")
            head, _, words = row.partition("  ")
            flags, options = self._argument(head.split())
            place.add_argument(*flags, **options, help=" ".join(words.split()) or None)
        parser.set_defaults(run=self.run)

    def _argument(self, words: list[str]) -> tuple[list[str], dict[str, Any]]:
        """Return the flags and the argparse options for a line."""
        flags = [words[0], *(word for word in words[1:] if word.startswith("--"))]
        rest, options, several = words[len(flags) :], dict[str, Any](), "..." in words
        for mark, name in (("->", "dest"), ("=", "default")):
            if mark in rest:
                options[name] = rest.pop(rest.index(mark) + 1)
                rest.remove(mark)
        if "!" in rest:
            options["required"] = True
        shown = [word for word in rest if word not in ("...", "!")]
        if not shown:
            return flags, options | {"action": "store_true"}
        if shown[0].startswith("{"):
            return flags, options | {"choices": shown[0].strip("{}").split(",")}
        if shown[0].startswith("["):
            shown = [shown[0].strip("[]")]
            options |= {"nargs": "?"} | ({"const": "-"} if flags[0].startswith("-") else {})
        elif len(shown) > 1:
            options["nargs"] = len(shown)
        if several:
            own = {"action": "append", "default": []}
            options |= own if flags[0].startswith("-") else {"nargs": "+"}
        options["type"] = TYPES.get(flags[-1], TYPES.get(shown[0], str))
        return flags, options | {"metavar": tuple(shown) if len(shown) > 1 else shown[0]}


def keywords(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return options as keyword arguments."""
    return {name: getattr(options, name) for name in names}


def check_needed(options: argparse.Namespace, needed: Iterable[tuple[str, str]]) -> None:
    """Raise InputError unless the second option of each pair is given with the first."""
    for name, other in needed:
        if getattr(options, other) is None and getattr(options, name):
            flag, needs = (f"--{word.replace('_', '-')}" for word in (name, other))
            raise InputError(flag, needs, "none", fault=f"needs {needs}")


@contextlib.contextmanager
def errors_in(path: str, *options: str) -> Iterator[None]:
    """Name the file in input errors of the block, except in those about some options."""
    try:
        yield
    except InputError as error:
        raise error if error.key in options else error.inside_file(path) from None


@contextlib.contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Print each warning in the block as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RepeatedDrawWarning)
        try:
            yield
        finally:
            for warning in caught:
                complain(f"warning: {warning.message}")


def check_writable(output: str | None, picture: str | None, *sources: str) -> None:
    """Raise InputError early if an output cannot be written or is an input file."""
    from mechdesign.writing.atomic import check_different

    for path in (output, picture):
        if path is None:
            continue
        folder, fault = Path(path).parent, ""
        if not path:
            fault = "the name of the file is empty"
        elif not folder.is_dir():
            fault = f"the folder {shown(str(folder))} does not exist"
        elif Path(path).is_dir():
            fault = "this is a folder, not a file"
        elif not os.access(folder, os.W_OK):
            fault = f"the folder {shown(str(folder))} is read-only"
        if fault:
            raise InputError(path or "-o", "a writable file", shown(path), fault=fault)
        for source in sources:
            check_different(Path(source), Path(path))
    if output is not None and picture is not None and Path(output) == Path(picture):
        fault = "the plot needs a file of its own"
        raise InputError(picture, "another file", "the same", fault=fault)
    if picture is not None:
        from mechdesign.plots import check_picture_name

        check_picture_name(picture)


ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a process: by request, or because its terminal was closed."""


@contextlib.contextmanager
def cleared_when_ended() -> Iterator[None]:
    """Unwind the block on signals that end the process, so that incomplete files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [n for n in ENDING if signal.getsignal(n) is not signal.SIG_IGN]  # as under nohup
    before = {n: signal.signal(n, lambda number, _: sys.exit(128 + number)) for n in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class FileBar(ProgressBar):
    """A transient progress bar for reading a file, as a context manager."""

    def __init__(self, doing: str, shown: bool | None = None) -> None:
        form = "{desc} |{bar:20}| {percentage:3.0f}%, {elapsed}<{remaining}"
        super().__init__(tqdm_bar(shown, total=1.0, bar_format=form))
        self._doing = doing

    def __call__(self, rows: int, share: float | None) -> None:
        """Show the progress."""
        self._bar.set_description_str(f"{self._doing} {rows} rows", refresh=False)
        self._bar.update((share or 0.0) - self._bar.n)

    def refresh(self) -> None:
        """Redraw it now, without rate limit."""
        self._bar.refresh()
