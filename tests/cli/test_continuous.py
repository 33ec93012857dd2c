"""The commands on a problem of an interval: example, solve, verify."""

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
    assert "no private kernel is below" in capsys.readouterr().out
    assert picture.stat().st_size > 0
    assert main(["solve", str(problem), "--gap", "0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["gap"] <= 0.1
    assert found["cells"] == len(found["channel"]["points"]) - 1
    assert main(["verify", str(saved)]) == 0
    assert "no private kernel on the interval has a loss below" in capsys.readouterr().out


def test_what_is_for_labels_only_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["example", "continuous"]) == 0
    problem = tmp_path / "problem.toml"
    problem.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["frontier", str(problem), "--epsilon", "1,2"]) == 2
    assert "inputs that are labels" in capsys.readouterr().err
