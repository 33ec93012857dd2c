"""The commands on a problem of an interval or of a box: from a problem to estimates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli_support import Run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_from_the_example_to_a_verified_file(printed: Run, refused: Run) -> None:
    Path("p.toml").write_text(printed("example", "continuous"), encoding="utf-8")
    words = ["solve", "p.toml", "--gap", "0.5"]
    text = printed(*words, "-o", "kernel.json", "--plot", "kernel.png")
    assert "no private kernel has a loss below" in text
    assert Path("kernel.png").stat().st_size > 0
    found = json.loads(printed(*words, "--json"))
    assert found["gap"] <= 0.5
    assert found["cells"] == len(found["rounding"]["axes"][0]) - 1
    assert "no private kernel on the interval has a loss below" in printed("verify", "kernel.json")
    assert "inputs that are labels" in refused("frontier", "p.toml", "--epsilon", "1,2")


BOX = """
[domain]
box = [[0, 0], [1, 1]]

[privacy]
notion = "ldp"
epsilon = 3

[utility]
objective = "mean-squared-distance"
"""


def test_two_columns_are_points(printed: Run, refused: Run) -> None:
    Path("box.toml").write_text(BOX, encoding="utf-8")
    printed("solve", "box.toml", "--gap", "0.9", "-o", "box.json", "--plot", "box.png")
    assert Path("box.png").stat().st_size > 0
    Path("in.csv").write_text("x,y\n" + "0.1,0.25\n0.75,1\n" * 50, encoding="utf-8")
    columns = ["--columns", "x", "y"]
    privatize = ["privatize", "box.json", "in.csv", "out.csv", *columns, "--force"]
    printed(*privatize, "--seed", "3")
    words = ["estimate", "box.json", "out.csv", *columns, "--method", "maximum-likelihood"]
    assert sum(json.loads(printed(*words, "--json"))["values"]) == pytest.approx(1)
    assert "maximal-leakage" in printed("leakage", "box.json", "--json")
    Path("in.csv").write_text("x,y\n0.1,1.25\n", encoding="utf-8")
    told = "expected points of Box((0, 0), (1, 1)), given a point outside"
    assert told in refused(*privatize)
