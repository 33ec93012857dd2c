"""mechdesign advise."""

from __future__ import annotations

import json

import pytest

from mechdesign import Domain
from mechdesign.cli import main
from mechdesign.mechanisms import advise, advise_blocks


def test_it_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "1000", "1", "100000"]) == 0
    out = capsys.readouterr().out
    assert out == f"{advise(1000, '1', 100_000)}\n"
    assert "take projective-geometry-response" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "20", "0.5", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"] in [each["kind"] for each in found["mechanisms"]]


def test_a_grid_is_divided_into_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "4x6", "0.5", "1000"]) == 0
    found = advise_blocks(Domain.grid(4, 6), "0.5", 1000)
    assert capsys.readouterr().out == f"{found}\n"
    assert main(["advise", "4x6", "0.5", "1000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_json()))


@pytest.mark.parametrize(
    "words",
    [
        ["1", "1", "1"],
        ["10", "x", "1"],
        ["10", "1", "0"],
        ["10", "-1", "5"],
        ["4x", "1", "5"],
        ["0x4", "1", "5"],
        ["1x1", "1", "5"],
    ],
)
def test_wrong_numbers_are_said_in_a_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["advise", *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "expected" in error
