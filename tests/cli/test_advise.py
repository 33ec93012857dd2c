"""mechdesign advise."""

from __future__ import annotations

import json

import pytest

from mechdesign.cli import main
from mechdesign.mechanisms import advise


def test_it_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "1000", "1", "100000"]) == 0
    out = capsys.readouterr().out
    assert out == f"{advise(1000, '1', 100_000)}\n"
    assert "take projective-geometry-response" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "20", "0.5", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"] in [each["kind"] for each in found["mechanisms"]]


@pytest.mark.parametrize(
    "words", [["1", "1", "1"], ["10", "x", "1"], ["10", "1", "0"], ["10", "-1", "5"]]
)
def test_wrong_numbers_are_said_in_a_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["advise", *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "expected" in error
