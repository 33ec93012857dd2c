"""Sources of the page: the maps of the atlas, and the files of the checker it packs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchmarks.atlas import FORMULAS
from benchmarks.atlas.base import EPSILONS, Point, Region
from benchmarks.atlas.cell import Cell
from mechdesign import design
from mechdesign.exact import fraction_text
from mechdesign.files import load_problem, save
from mechdesign.problem import Problem
from tests.explorer_support import EXPLORER, stated

ROOT = EXPLORER.parents[1]
ATLAS = json.loads((EXPLORER / "atlas.json").read_text(encoding="utf-8"))

MAPS = {table["name"]: table for table in ATLAS["formulas"]}


def at_budget(problem: dict[str, Any], epsilon: str) -> dict[str, Any]:
    """Return a problem at another budget, as the page does when a point is opened."""
    privacy = dict(problem["privacy"])
    for key in ("lower", "upper") if privacy["notion"] == "lift" else ("epsilon",):
        if privacy.get(key) != "inf":
            privacy[key] = epsilon
    return {**problem, "privacy": privacy}


def test_the_maps_have_the_points_of_the_atlas() -> None:
    assert list(MAPS) == list(FORMULAS)
    assert ATLAS["epsilons"] == list(EPSILONS)
    for formula in map(FORMULAS.__getitem__, MAPS):
        table = MAPS[formula.name]
        assert table["parameters"] == [fraction_text(value) for value in formula.axis.values]
        assert {len(row) for row in table["cells"]} == {len(EPSILONS)}
        assert len(table["cells"]) == len(table["problems"]) == len(formula.axis.values)


def test_maps_on_an_interval_have_no_problem_to_open() -> None:
    for name, table in MAPS.items():
        at = Point(Fraction(1), FORMULAS[name].axis.values[0])
        finite = isinstance(FORMULAS[name].problem(at), Problem)
        assert [problem is not None for problem in table["problems"]] == [finite] * len(
            table["parameters"]
        )
    assert MAPS["duchi-mean"]["problems"][0] is None


@pytest.mark.parametrize("name", [name for name in MAPS if MAPS[name]["problems"][0]])
def test_a_point_opens_the_problem_that_was_measured(name: str) -> None:
    formula = FORMULAS[name]
    value, epsilon = formula.axis.values[-1], EPSILONS[7]
    problem = formula.problem(Point(Fraction(epsilon), value))
    shown = at_budget(MAPS[name]["problems"][-1], epsilon)
    assert {**shown, "title": problem.title} == stated(problem)


@pytest.mark.parametrize("name", ["lip-rr-survey", "grr-hamming", "geometric", "oue-l2-risk"])
def test_a_cell_equals_a_fresh_measurement(name: str) -> None:
    formula = FORMULAS[name]
    at = Point(Fraction(EPSILONS[10]), formula.axis.values[0])
    cell = Cell.of(formula, at, design(formula.problem(at)))
    region, *numbers = MAPS[name]["cells"][0][10]
    assert list(Region)[region] == cell.region
    assert numbers == pytest.approx([cell.leakage_ratio, cell.loss, cell.optimum], rel=1e-4)


def test_the_packed_files_are_a_whole_checker(tmp_path: Path) -> None:
    """The files that the page packs prove a certificate with nothing but the standard library."""
    text = (EXPLORER / "build.mjs").read_text(encoding="utf-8")
    listed = re.search(r"const CHECKER = \[(.*?)\]", text)
    library = tmp_path / "mechdesign"
    library.mkdir()
    for name in re.findall(r'"(.*?)"', listed[1]):
        source = ROOT / "mechdesign" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, library / name)
    channel = tmp_path / "channel.json"
    save(design(load_problem(ROOT / "problems" / "lip" / "rare_disease.toml")), channel)
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from mechdesign.kernel.documents import parse\n"
        "from mechdesign.kernel.verify import verify\n"
        f"print(verify(parse(open({str(channel)!r}).read())))\n"
    )
    run = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "lip: private as stated, exactly" in done.stdout
