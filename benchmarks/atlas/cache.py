"""Finished cells on the disk, a line each, so that an interrupted run resumes."""

from __future__ import annotations

import hashlib
import inspect
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.atlas.base import Entry, Point
from benchmarks.atlas.cell import Cell
from mechdesign.errors import InputError
from mechdesign.exact import fraction_text


def maker_of(formula: Entry) -> str:
    """Return what a cell depends on: the version of the library and the file of the formula."""
    return _maker(type(formula))


@cache
def _maker(kind: type[Entry]) -> str:
    text = inspect.getsource(inspect.getmodule(kind) or kind)
    return f"{version('mechdesign')} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


class Cache:
    """Cells by formula and point, in a file of JSON lines.

    A line is written as soon as its cell is there. Lines of another version of the library or of
    the formula do not count, nor does a last line that was cut off.

    Parameters
    ----------
    path
        The file; it need not be there yet.

    Raises
    ------
    InputError
        If it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[tuple[str, ...], Cell] = {}
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if text and not text.endswith("\n"):
                with path.open("a", encoding="utf-8") as stream:
                    stream.write("\n")  # what follows a line that was cut off begins a new one
        except UnicodeDecodeError:
            raise InputError(str(path), "a text file in UTF-8", "other bytes") from None
        except OSError as error:
            raise InputError(
                str(path), "a file that can be read and written", error.strerror
            ) from None
        for line in text.splitlines():
            self._read(line)

    def _read(self, line: str) -> None:
        try:
            entry: dict[str, Any] = json.loads(line)
            cell = Cell.from_json(entry["cell"])
            key = (str(entry["made_by"]), cell.formula, cell.epsilon, cell.parameter)
        except (KeyError, TypeError, ValueError):
            return
        self._found[key] = cell

    def get(self, formula: Entry, at: Point) -> Cell | None:
        """Return the cell of a point, None if it is not there yet."""
        place = (fraction_text(at.epsilon), fraction_text(at.parameter))
        return self._found.get((maker_of(formula), formula.name, *place))

    def add(self, formula: Entry, cell: Cell) -> None:
        """Keep a cell."""
        maker = maker_of(formula)
        self._found[maker, cell.formula, cell.epsilon, cell.parameter] = cell
        line = json.dumps({"made_by": maker, "cell": cell.to_json()}, ensure_ascii=False)
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
        except OSError as error:
            raise InputError(
                str(self._path), "a file that can be written", error.strerror
            ) from None
