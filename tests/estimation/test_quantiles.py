"""Quantiles: by definition without noise, order of the labels, coverage of the confidence set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, Domain
from mechdesign.estimation import estimate
from mechdesign.estimation.result import quantile_of
from tests.strategies import examples

STEPS = Channel.from_matrix(
    [[0.7, 0.2, 0.1, 0], [0.2, 0.6, 0.1, 0.1], [0.1, 0.1, 0.6, 0.2], [0, 0.1, 0.2, 0.7]]
)


@given(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), st.integers(1, 19))
@examples(30)
def test_without_noise_it_is_the_quantile_of_the_sample(counts: list[int], twentieth: int) -> None:
    labels = [3, -1, 0.5, 10]
    clear = Channel.from_matrix(np.eye(4), inputs=labels)
    found = estimate(clear, counts=counts).quantile(twentieth / 20)
    sample = sorted(x for x, c in zip(labels, counts, strict=True) for _ in range(c))
    assert found.value == sample[-(-twentieth * len(sample) // 20) - 1]
    assert found.low <= found.value <= found.high


def test_the_confidence_set_covers() -> None:
    rng, repeats = np.random.default_rng(5), 600
    truth = np.array([0.2, 0.28, 0.3, 0.22])  # Pr(X <= 1) = 0.48: the median is 2, narrowly
    hits = 0
    for _ in range(repeats):
        found = estimate(STEPS, counts=rng.multinomial(500, truth @ STEPS.matrix)).quantile(
            0.5, 0.9
        )
        assert found.low <= found.value <= found.high
        hits += found.low <= 2 <= found.high
    assert hits / repeats > 0.9 - 4 * math.sqrt(0.09 / repeats)


def test_one_report_gives_no_interval() -> None:
    found = estimate(STEPS, counts=[0, 1, 0, 0]).quantile(0.5)
    assert (found.low, found.high) == (0, 3)


@pytest.mark.slow
def test_a_quantile_of_many_values_takes_little_memory() -> None:
    """Never all sums at once: of 43,750 values they would be 15 GB."""
    k = 6000
    values, widths = np.full(k, 1 / k), []

    def deviation(weights: Any) -> Any:
        widths.append(weights.size)
        return np.full(len(weights), 0.01)

    found = quantile_of(Domain.range(k), values, deviation, 0.5, 0.95)
    assert (found.value, found.low, found.high) == (2999, 2882, 3117)
    assert max(widths) <= 1 << 22
    assert sum(widths) == k * (k - 1)
