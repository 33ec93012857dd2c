"""The commands on records with the file of a continuous design: privatize, estimate, leakage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.cli import main
from mechdesign.collection.records import tally_file


@pytest.fixture(scope="module")
def solution() -> md.ContinuousSolution:
    law = md.Histogram([0, 20, 50, 100], ["1/4", "1/2", "1/4"])
    problem = md.ContinuousProblem([0, 100], md.LIP(1), md.MeanAbsoluteError(), prior=law)
    return md.design(problem, gap=0.1)


@pytest.fixture
def folder(
    tmp_path: Path, solution: md.ContinuousSolution, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.chdir(tmp_path)
    md.save(solution, "channel.json")
    pay = np.random.default_rng(0).uniform(0, 100, 3000)
    Path("pay.csv").write_text("pay\n" + "\n".join(map(repr, pay.tolist())) + "\n")
    return tmp_path


WORDS = ["channel.json", "pay.csv", "reports.csv", "--column", "pay"]


def test_a_continuous_file_draws_and_estimates_like_any_other(
    folder: Path, solution: md.ContinuousSolution, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["privatize", *WORDS, "--ledger", "draws.ledger"]) == 0
    assert "3000 rows in reports.csv" in capsys.readouterr().out
    channel = md.load_mechanism("channel.json").mechanism
    assert channel == solution.channel
    counts = tally_file(channel, "reports.csv", "pay").counts
    assert counts.sum() == 3000
    likely = ["--method", "maximum-likelihood", "--quantiles", "0.5"]
    assert main(["estimate", *WORDS[:1], *WORDS[2:], *likely]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("ContinuousEstimate(")
    assert "\nquantile 0.5: " in printed
    assert main(["leakage", "channel.json"]) == 0
    assert "maximal-leakage" in capsys.readouterr().out


def test_numbers_outside_end_the_command_in_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pay.csv").write_text("pay\n5\n101\n")
    assert main(["privatize", *WORDS]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "line 3, column 'pay': expected numbers of [0, 100], given a number outside" in error
    assert "101" not in error
    assert not Path("reports.csv").exists()
    assert main(["privatize", *WORDS, "--unknown", "clip", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unknown"]["cells"] == 1
