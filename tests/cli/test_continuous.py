"""The commands on a problem of an interval or of a box: from a problem to estimates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mechdesign.cli import main


def test_from_the_example_to_a_verified_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["example", "continuous"]) == 0
    problem, saved = tmp_path / "problem.toml", tmp_path / "channel.json"
    problem.write_text(capsys.readouterr().out, encoding="utf-8")
    picture = tmp_path / "kernel.png"
    words = ["solve", str(problem), "--gap", "0.1", "-o", str(saved), "--plot", str(picture)]
    assert main(words) == 0
    assert "no private kernel has a loss below" in capsys.readouterr().out
    assert picture.stat().st_size > 0
    assert main(["solve", str(problem), "--gap", "0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["gap"] <= 0.1
    assert found["cells"] == len(found["rounding"]["axes"][0]) - 1
    assert main(["verify", str(saved)]) == 0
    assert "no private kernel on the interval has a loss below" in capsys.readouterr().out


def test_commands_for_labels_refuse_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["example", "continuous"]) == 0
    problem = tmp_path / "problem.toml"
    problem.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["frontier", str(problem), "--epsilon", "1,2"]) == 2
    assert "inputs that are labels" in capsys.readouterr().err


BOX = """
[domain]
box = [[0, 0], [1, 1]]

[privacy]
notion = "ldp"
epsilon = 3

[utility]
objective = "mean-squared-distance"
"""


def test_two_columns_are_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem, saved, picture = (tmp_path / name for name in ("box.toml", "box.json", "box.png"))
    people, reports = tmp_path / "people.csv", tmp_path / "reports.csv"
    problem.write_text(BOX, encoding="utf-8")
    words = ["solve", str(problem), "--gap", "0.5", "-o", str(saved), "--plot", str(picture)]
    assert main(words) == 0
    assert picture.stat().st_size > 0
    people.write_text("x,y\n" + "0.1,0.25\n0.75,1\n" * 50, encoding="utf-8")
    columns = ["--columns", "x", "y"]
    assert main(["privatize", str(saved), str(people), str(reports), *columns, "--seed", "3"]) == 0
    capsys.readouterr()
    words = ["estimate", str(saved), str(reports), *columns, "--method", "maximum-likelihood"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(found["values"]) == pytest.approx(1)
    assert main(["leakage", str(saved), "--json"]) == 0
    assert "maximal-leakage" in capsys.readouterr().out
    people.write_text("x,y\n0.1,1.25\n", encoding="utf-8")
    assert main(["privatize", str(saved), str(people), str(reports), *columns, "--force"]) == 2
    assert (
        "expected points of Box((0, 0), (1, 1)), given a point outside" in capsys.readouterr().err
    )
