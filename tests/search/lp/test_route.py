"""Linear programs are solved again, without what spoils the bound, where a gap is left."""

from __future__ import annotations

import pytest

from mechdesign import (
    LDP,
    ApproximateLDP,
    MeanAbsoluteError,
    Prior,
    Problem,
    design,
)
from mechdesign.notions import Notion


@pytest.mark.parametrize("notion", [LDP("11.8"), ApproximateLDP("11.8", 0)])
def test_inputs_of_prior_zero_leave_no_gap(notion: Notion) -> None:
    """The loss is so small that a cost of 1e-10 for them, which finds their best rows, counts."""
    prior = Prior.from_counts([65, 0, 54, 42, 73])
    solution = design(Problem([3, 6, 8, 10, 14], notion, MeanAbsoluteError(), prior=prior))
    assert 0 < solution.value < 1e-3
    assert solution.status == "optimal"
    assert solution.gap < 1e-8
