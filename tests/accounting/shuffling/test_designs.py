"""Designs for the shuffle: private after shuffling, and no worse than what is done by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign import (
    LDP,
    LIP,
    HammingLoss,
    InfeasibleError,
    InputError,
    PosteriorMeanSquaredError,
    Problem,
    design,
)
from mechdesign.accounting import (
    after_shuffling,
    design_for_shuffle,
    largest_local_budget,
    shuffled_frontier,
)
from mechdesign.mechanisms import GeneralizedRandomizedResponse

K, N, DELTA = 4, 1000, "1e-6"
QUESTION = Problem(range(K), LDP(1), HammingLoss())


def test_hamming_loss_is_randomized_response_at_its_largest_budget() -> None:
    """The best channel is known in closed form; its largest budget is found without designs."""
    found = design_for_shuffle(QUESTION, N, "0.3", DELTA, precision="0.02")
    by_hand = largest_local_budget(
        N, "0.3", DELTA, lambda e: GeneralizedRandomizedResponse(K, e), precision="1e-3"
    )
    assert 0 <= by_hand.enough - float(found.local) < 0.03
    p = math.exp(float(found.local))
    assert float(found.solution.value) == pytest.approx((K - 1) / (p + K - 1), rel=1e-6)
    assert after_shuffling(found.solution.channel, N, DELTA).epsilon <= 0.3 * (1 + 1e-5)


def test_a_frontier_falls_and_every_point_keeps_its_budget() -> None:
    curve = shuffled_frontier(QUESTION, N, ["0.15", "0.3", "0.6"], DELTA, precision="0.2")
    values = [float(point.solution.value) for point in curve.points if point is not None]
    assert len(values) == 3
    assert values == sorted(values, reverse=True)
    for point in curve.points:
        assert point is not None
        assert point.shuffled.epsilon <= point.epsilon * (1 + 1e-5)
        plain = float(design(QUESTION.at(point.epsilon)).value)
        assert float(point.solution.value) < plain  # local LDP at the central budget
    assert "central epsilon" in repr(curve)


def test_the_better_of_two_notions_is_taken() -> None:
    prior = [0.4, 0.3, 0.2, 0.1]
    two = [Problem(range(K), notion, HammingLoss(), prior=prior) for notion in (LDP(1), LIP(1))]
    both = design_for_shuffle(two, N, "0.2", DELTA, precision="0.2").solution.value
    each = [design_for_shuffle(one, N, "0.2", DELTA, precision="0.2").solution.value for one in two]
    assert both == min(each)


def test_what_cannot_be_kept_and_bad_input() -> None:
    squared = PosteriorMeanSquaredError(values=np.arange(K))
    other = Problem(range(K), LDP(1), squared, prior=[0.25] * K)
    with pytest.raises(InputError, match="one objective"):
        shuffled_frontier([QUESTION, other], N, [1], DELTA)
    with pytest.raises(InputError, match="problems: expected"):
        shuffled_frontier([], N, [1], DELTA)
    with pytest.raises(InputError, match="delta"):
        shuffled_frontier(QUESTION, N, [1], 2)
    with pytest.raises(InfeasibleError, match="after shuffling"):
        design_for_shuffle(QUESTION, 1, "1e-9", "1e-12", precision=6)
