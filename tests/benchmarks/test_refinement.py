"""The picture of which mechanism is at least as good as which."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.refinement import RATIO, decide, main, tables


@pytest.mark.parametrize("k", [2, 4])
def test_every_mechanism_of_the_picture_is_a_channel_and_spends_its_budget(k: int) -> None:
    for name, table in tables(k).items():
        assert all(sum(row) == 1 for row in table)
        ratios = [Fraction(max(column), min(column)) for column in zip(*table, strict=True)]
        assert max(ratios) <= RATIO
        # what leaves the whole range is normalized away: half of the budget, and a bit more
        assert (max(ratios) == RATIO) == (name != "exponential")


def test_randomized_response_refines_every_private_channel_of_two_inputs_and_few_of_four() -> None:
    two, four = tables(2), tables(4)
    assert all(decide(two["randomized response"], table) for table in two.values())
    below = [name for name in four if decide(four["randomized response"], four[name])]
    assert below == ["randomized response", "exponential"]


def test_the_picture_is_drawn_by_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(tmp_path / "refinement.png")])
    assert (tmp_path / "refinement.png").stat().st_size > 10_000
    assert "| 4 | geometric noise | exponential |" in capsys.readouterr().out
