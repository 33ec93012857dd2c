"""The result of the atlas: its cells as CSV, as JSON and as a table in a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.atlas.base import Entry, Region
from benchmarks.atlas.cell import COLUMNS, Cell
from benchmarks.atlas.formulas import FORMULAS
from mechdesign.errors import InputError
from mechdesign.files.reading import read_text
from mechdesign.text import Table
from mechdesign.writing.atomic import write_atomically

FORMAT = "mechdesign atlas 1"


@dataclass(frozen=True)
class Summary:
    """Summary of one map in a line.

    Attributes
    ----------
    name
        The formula.
    optimal, feasible, infeasible
        How many cells are in each region.
    largest_leakage
        The largest leakage, by epsilon.
    largest_loss
        The largest loss of a private cell, by the optimum; None where no cell is private.
    """

    name: str
    optimal: int
    feasible: int
    infeasible: int
    largest_leakage: float
    largest_loss: float | None

    @classmethod
    def of(cls, name: str, cells: list[Cell]) -> Summary:
        """Count cells."""
        regions = [cell.region for cell in cells]
        private = [cell.loss_ratio for cell in cells if cell.region is not Region.INFEASIBLE]
        return cls(
            name,
            regions.count(Region.OPTIMAL),
            regions.count(Region.FEASIBLE),
            regions.count(Region.INFEASIBLE),
            max(cell.leakage_ratio for cell in cells),
            max(private, default=None),
        )


@dataclass(frozen=True)
class Atlas:
    """Cells, in the order of the registry of formulas.

    Its text is a line for each map.
    """

    cells: tuple[Cell, ...]

    @property
    def maps(self) -> dict[str, list[Cell]]:
        """The cells of each map, by the name of its formula."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.formula, []).append(cell)
        return found

    @property
    def summaries(self) -> list[Summary]:
        """A line for each map."""
        return [Summary.of(name, cells) for name, cells in self.maps.items()]

    def to_json(self) -> dict[str, Any]:
        """Return plain data: each formula with its source, its claim and its cells."""
        maps = []
        for name, cells in self.maps.items():
            rows = [{k: v for k, v in c.to_json().items() if k != "formula"} for c in cells]
            maps.append({**_described(FORMULAS[name]), "cells": rows})
        return {"format": FORMAT, "maps": maps}

    @classmethod
    def from_json(cls, document: Any, key: str = "atlas") -> Atlas:
        """Return the atlas of plain data.

        Raises
        ------
        InputError
            If it is none.
        """
        try:
            if document["format"] != FORMAT:
                raise InputError(f"{key}: format", repr(FORMAT), repr(document["format"]))
            rows = [
                {**row, "formula": table["name"]}
                for table in document["maps"]
                for row in table["cells"]
            ]
        except (KeyError, TypeError):
            raise InputError(key, f"a document of the format {FORMAT!r}", "another one") from None
        return cls(_cells(rows, key))

    def save_json(self, path: str | os.PathLike[str]) -> None:
        """Write the plain data, whole or not at all."""
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False)
        write_atomically(Path(path), text + "\n")

    @classmethod
    def load_json(cls, path: str | os.PathLike[str]) -> Atlas:
        """Read what :meth:`save_json` wrote."""
        text = read_text(Path(path))
        try:
            document = json.loads(text)
        except ValueError:
            raise InputError(str(path), "a JSON file", "something else") from None
        return cls.from_json(document, str(path))

    def save_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each cell, whole or not at all."""
        stream = io.StringIO(newline="")
        table = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(cell.to_json() for cell in self.cells)
        write_atomically(Path(path), stream.getvalue())

    def __str__(self) -> str:
        head = ("formula", *(str(region) for region in Region), "leakage up to", "loss up to")
        rows = []
        for line in self.summaries:
            loss = "" if line.largest_loss is None else f"{line.largest_loss:.4g} x"
            counts = (str(count) for count in (line.optimal, line.feasible, line.infeasible))
            rows.append((line.name, *counts, f"{line.largest_leakage:.4g} eps", loss))
        return Table(head, rows, "<>>>>>").text()


def _described(formula: Entry) -> dict[str, Any]:
    """Return the remarks on a formula beside its cells."""
    return {
        "name": formula.name,
        "title": " ".join(formula.title.split()),
        "source": formula.source,
        "claim": formula.claim,
        "parameter": formula.axis.key,
        "boundaries": [line.text for line in formula.boundaries if line.text],
    }


def _cells(rows: Iterable[dict[str, Any]], key: str) -> tuple[Cell, ...]:
    """Return the cells of rows."""
    cells = []
    for n, row in enumerate(rows):
        try:
            cells.append(Cell.from_json(row))
        except (KeyError, TypeError, ValueError):
            expected = f"a cell with {', '.join(COLUMNS)}"
            raise InputError(f"{key}: cell {n}", expected, "another row") from None
        if cells[-1].formula not in FORMULAS:
            raise InputError(f"{key}: cell {n}", "a formula of the atlas", cells[-1].formula)
    return tuple(cells)
