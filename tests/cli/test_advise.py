"""mechdesign advise."""

from __future__ import annotations

import json

import pytest

from mechdesign import LDP, Domain
from mechdesign.accounting import after_aggregation
from mechdesign.cli import main
from mechdesign.mechanisms import advise, advise_blocks, mechanism_for


def test_it_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "1000", "1", "100000"]) == 0
    out = capsys.readouterr().out
    assert out == f"{advise(1000, '1', 100_000)}\n"
    assert "take projective-geometry-response" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "20", "0.5", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"] in [each["kind"] for each in found["mechanisms"]]


@pytest.mark.slow
def test_what_only_sums_leak(capsys: pytest.CaptureFixture[str]) -> None:
    """Bounds on the central epsilon, below that of a report."""
    words = ["advise", "10", "2", "2000", "--only-sums", "1e-6"]
    assert main([*words, "--json"]) == 0
    sums = json.loads(capsys.readouterr().out)["only_sums"]
    assert len(sums) == 3
    for kind, told in sums.items():
        made = mechanism_for(kind, Domain.range(10), LDP(2))
        assert told["epsilon"] == after_aggregation(made, 2000, "1e-6").epsilon
        assert 0 < told["at_least"] <= told["epsilon"] < told["local"] <= 2
    assert main(words) == 0
    out = capsys.readouterr().out
    assert all(f"{kind:30} central epsilon from" in out for kind in sums)


def test_a_grid_is_divided_into_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "4x6", "0.5", "1000"]) == 0
    found = advise_blocks(Domain.grid(4, 6), "0.5", 1000)
    assert capsys.readouterr().out == f"{found}\n"
    assert main(["advise", "4x6", "0.5", "1000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_json()))
