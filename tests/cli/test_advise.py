"""mechdesign advise."""

from __future__ import annotations

import json

import pytest

from mechdesign import LDP, Domain
from mechdesign.accounting import after_aggregation
from mechdesign.mechanisms import advise, advise_blocks, mechanism_for
from tests.cli_support import Run


def test_it_prints_the_table(printed: Run) -> None:
    out = printed("advise", "1000", "1", "100000")
    assert out == f"{advise(1000, '1', 100_000)}\n"
    assert "take projective-geometry-response" in out
    found = json.loads(printed("advise", "20", "0.5", "100", "--json"))
    assert found["best"] in [each["kind"] for each in found["mechanisms"]]


@pytest.mark.slow
def test_what_only_sums_leak(printed: Run) -> None:
    """Bounds on the central epsilon, below that of a report."""
    words = ["advise", "10", "2", "2000", "--only-sums", "1e-6"]
    sums = json.loads(printed(*words, "--json"))["only_sums"]
    assert len(sums) == 3
    for kind, told in sums.items():
        made = mechanism_for(kind, Domain.range(10), LDP(2))
        assert told["epsilon"] == after_aggregation(made, 2000, "1e-6").epsilon
        assert 0 < told["at_least"] <= told["epsilon"] < told["local"] <= 2
    out = printed(*words)
    assert all(f"{kind:30} central epsilon from" in out for kind in sums)


def test_a_grid_is_divided_into_blocks(printed: Run) -> None:
    found = advise_blocks(Domain.grid(4, 6), "0.5", 1000)
    words = ["advise", "4x6", "0.5", "1000"]
    assert printed(*words) == f"{found}\n"
    assert json.loads(printed(*words, "--json")) == json.loads(json.dumps(found.to_json()))
