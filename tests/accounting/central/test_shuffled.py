"""Designs for the shuffle: private after shuffling, and at least as good as baselines."""

from __future__ import annotations

import math

import pytest

from mechdesign import (
    LDP,
    HammingLoss,
    Problem,
    design,
)
from mechdesign.accounting import (
    after_shuffling,
    design_for_shuffle,
    largest_local_budget,
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


def test_the_loss_falls_and_every_design_keeps_its_budget() -> None:
    designs = [
        design_for_shuffle(QUESTION, N, epsilon, DELTA, precision="0.2")
        for epsilon in ("0.15", "0.3", "0.6")
    ]
    values = [float(found.solution.value) for found in designs]
    assert values == sorted(values, reverse=True)
    for found in designs:
        assert found.shuffled.epsilon <= found.epsilon * (1 + 1e-5)
        plain = float(design(QUESTION.at(found.epsilon)).value)
        assert float(found.solution.value) < plain  # local LDP at the central budget
