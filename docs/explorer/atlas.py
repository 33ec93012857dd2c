"""Writes atlas.json, what the page shows of the atlas: `python docs/explorer/atlas.py ATLAS.json`.

ATLAS.json is what `python -m benchmarks.atlas -o FOLDER` writes. A map keeps the region, the
leakage, the loss and the optimum of each cell, and the problem at each parameter; none where the
problem is on an interval, for which the page does not design.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.atlas import FORMULAS
from benchmarks.atlas.base import EPSILONS, Entry, Point, Region
from benchmarks.atlas.cell import Cell
from benchmarks.atlas.table import Atlas
from mechdesign.exact import fraction_text
from mechdesign.problem import Problem

PLACE = Path(__file__).with_name("atlas.json")
REGIONS = list(Region)
DIGITS = 5


def of_page(atlas: Atlas) -> dict[str, Any]:
    """Return what the page reads."""
    return {
        "epsilons": list(EPSILONS),
        "formulas": [_map(formula, atlas) for formula in FORMULAS.values()],
    }


def problem_of(formula: Entry, at: Point) -> dict[str, Any] | None:
    """Return the problem of a point as the page holds it; None if it is on an interval."""
    problem = formula.problem(at)
    if not isinstance(problem, Problem):
        return None
    table = problem.to_table()
    (privacy,) = table["privacy"]
    return {"title": _in_a_line(formula.title), **table, "privacy": privacy}


def _map(formula: Entry, atlas: Atlas) -> dict[str, Any]:
    cells = {(cell.parameter, cell.epsilon): cell for cell in atlas.maps[formula.name]}
    rows = [
        [_cell(cells[parameter, epsilon]) for epsilon in EPSILONS]
        for parameter in map(fraction_text, formula.axis.values)
    ]
    points = [Point(Fraction(1), parameter) for parameter in formula.axis.values]
    return {
        "name": formula.name,
        "title": _in_a_line(formula.title),
        "source": formula.source,
        "claim": formula.claim,
        "axis": formula.axis.label,
        "parameters": [fraction_text(point.parameter) for point in points],
        "problems": [problem_of(formula, point) for point in points],
        "cells": rows,
    }


def _cell(cell: Cell) -> list[float]:
    numbers = (cell.leakage_ratio, cell.loss, cell.optimum)
    return [REGIONS.index(cell.region), *map(_short, numbers)]


def _in_a_line(title: str) -> str:
    return title.replace("\n", ": ")


def _short(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


if __name__ == "__main__":
    found = of_page(Atlas.load_json(Path(sys.argv[1])))
    PLACE.write_text(
        json.dumps(found, separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8"
    )
