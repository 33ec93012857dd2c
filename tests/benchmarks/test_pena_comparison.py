"""PENA's mean beside the best unbiased channels: exact errors, and a simulation that agrees."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.pena_comparison import MeanComparison, compare_means
from mechdesign import LDP
from mechdesign.collection.personalized import TwoValuedResponder

SKEWED = np.concatenate([np.full(700, 5), np.full(200, 20), np.full(99, 40), np.full(1, 100)])


@pytest.fixture(scope="module")
def table() -> MeanComparison:
    return compare_means(SKEWED, 0, 100, ["0.25", 1, 4], points=9)


def test_the_error_of_pena_is_its_exact_standard_deviation(table: MeanComparison) -> None:
    for row in table.rows:
        one = TwoValuedResponder(0, 100, row.epsilon)
        chances = [float(one.probability(int(v))) for v in (5, 20, 40, 100)]
        variance = sum(
            n * (100 * float(one.size)) ** 2 * p * (1 - p)
            for n, p in zip((700, 200, 99, 1), chances, strict=True)
        )
        assert row.pena == pytest.approx(math.sqrt(variance) / 1000, rel=1e-9)


def test_the_channels_are_private_and_unbiased(table: MeanComparison) -> None:
    for row in table.rows:
        for solution in row.solutions:
            assert LDP(row.epsilon).holds(solution.channel)
            assert not LDP(row.epsilon * 0.99).holds(solution.channel)
            scores = np.array(solution.channel.outputs, dtype=float)
            inputs = np.array(solution.channel.inputs.labels, dtype=float)
            assert np.abs(solution.channel.matrix @ scores - inputs).max() < 1e-6


def test_who_wins(table: MeanComparison) -> None:
    """PENA is hard to beat blindly at small budgets, and far behind at large ones."""
    small, _, large = table.rows
    assert abs(small.minimax / small.pena - 1) < 0.01
    assert large.minimax < 0.6 * large.pena
    assert large.best == "optimal channel"
    for row in table.rows:
        assert row.tailored <= row.pena * (1 + 1e-5)
        assert row.tailored <= row.minimax * (1 + 1e-5)
    assert "better blindly" in repr(table)
    assert table.truth == pytest.approx(SKEWED.mean())


def test_the_worst_variance_of_the_minimax_channel_is_at_most_that_of_pena(
    table: MeanComparison,
) -> None:
    for row in table.rows:
        channel = row.solutions[0].channel
        scores = np.array(channel.outputs, dtype=float)
        inputs = np.array(channel.inputs.labels, dtype=float)
        worst = (channel.matrix @ scores**2 - inputs**2).max()
        assert worst <= float(TwoValuedResponder(0, 1, row.epsilon).size) ** 2 * (1 + 1e-5)


def test_a_simulation_has_the_error_that_is_stated(table: MeanComparison) -> None:
    row = table.rows[2]
    channel, generator = row.solutions[1].channel, np.random.default_rng(3)
    scores = np.array(channel.outputs, dtype=float)
    repeats = 200
    place = np.tile(SKEWED / 100 * 8, repeats)
    moved = np.floor(place).astype(int) + (generator.random(len(place)) < place % 1)
    labels = np.array(channel.inputs.labels, dtype=float)
    reports = channel.privatize(labels[np.minimum(moved, 8)], generator)
    means = 50 * (scores[reports.data].reshape(repeats, -1).mean(axis=1) + 1)
    assert abs(means.mean() - SKEWED.mean()) < 4 * row.tailored / math.sqrt(repeats)
    spread = means.std(ddof=1)
    assert abs(spread - row.tailored) < 4 * row.tailored / math.sqrt(2 * repeats)
