"""The bar: it says where the search stands, fills as the gap falls, and hides where it should."""

from __future__ import annotations

import pytest

from mechdesign import design
from mechdesign.designs.progress import GapBar
from mechdesign.search.limits import Progress
from problems import families


def test_the_bar_shows_the_state_of_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    with GapBar(1e-6, shown=True) as bar:
        bar(Progress(3, 2.5, 2.0, 7.0))
        first = capsys.readouterr().err
        bar(Progress(9, 2.5, 2.4999999, 9.0))
    assert "7 s, round 3: loss at least 2, at most 2.5, gap 2.0e-01" in first
    assert capsys.readouterr().err.count("█") > first.count("█")


def test_short_work_and_other_streams_show_no_bar(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with GapBar(1e-6, shown=True) as bar:
        bar(Progress(1, 2.0, 1.0, 0.01))
        assert "round" not in capsys.readouterr().err
    with GapBar(1e-6) as bar:
        bar(Progress(1, 2.0, 1.0, 5.0))
    assert "round 1" not in capsys.readouterr().err


def test_design_takes_a_bar_or_a_function() -> None:
    seen: list[Progress] = []
    with_function = design(
        families.euclidean_grid(4, seed=0), route="interior", progress=seen.append
    )
    with_bar = design(families.euclidean_grid(4, seed=0), route="interior", progress=True)
    assert seen[-1].gap <= 1e-8
    assert with_bar.value == with_function.value
