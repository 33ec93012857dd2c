"""Shuffled reports whose senders are hidden: against every data set, by convolutions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from mechdesign import Channel
from mechdesign.accounting import after_shuffling, delta_after_shuffling
from mechdesign.accounting.central.comparisons import compared
from mechdesign.accounting.central.lower import delta_of_test
from mechdesign.accounting.central.upper import Hidden, delta_of_pair
from mechdesign.mechanisms import GeneralizedRandomizedResponse, SubsetSelection


def exact_deltas(chances: list[float], n: int, epsilon: float) -> float:
    """The least delta of n reports of one bit for the inputs 0 and 1, over all data sets."""

    @cache
    def power(x: int, times: int) -> np.ndarray:
        if not times:
            return np.ones(1)
        return np.convolve(power(x, times - 1), [1 - chances[x], chances[x]])

    worst = 0.0
    for others in combinations_with_replacement(range(len(chances)), n - 1):
        law = np.ones(1)
        for x in set(others):
            law = np.convolve(law, power(x, others.count(x)))
        for one, two in ((0, 1), (1, 0)):
            p, q = ([1 - chances[x], chances[x]] for x in (one, two))
            apart = np.convolve(law, np.array(p) - math.exp(epsilon) * np.array(q))
            worst = max(worst, float(np.maximum(apart, 0).sum()))
    return worst


def of_bits(chances: list[float]) -> Channel:
    return Channel.from_matrix([[1 - chance, chance] for chance in chances])


@pytest.mark.parametrize(
    ("chances", "n", "epsilon"),
    [
        ([0.3, 0.7], 200, 0.15),
        ([0.3, 0.7], 60, 0.4),
        ([0.1, 0.5], 100, 0.3),
        ([0.4, 0.6, 0.2], 30, 0.2),
        ([0.4, 0.6, 0.5], 30, 0.1),
    ],
)
def test_every_data_set_is_within_the_proved_bound(
    chances: list[float], n: int, epsilon: float
) -> None:
    """Every delta that is accepted holds for the pair 0 and 1, and a small one is rejected."""
    exact = exact_deltas(chances, n, epsilon)
    comparison = compared(of_bits(chances))
    pairs = [p for p, (x, y) in enumerate(comparison.pairs.tolist()) if {x, y} == {0, 1}]
    said = [
        all(Hidden(comparison, pair, n, times * exact).is_within(epsilon) for pair in pairs)
        for times in (0.9, 0.999, 1.3, 2.0, 5.0)
    ]
    assert said[:2] == [False, False]
    assert said[-1]


def test_warner_lies_between_the_bounds_and_the_blanket_above_both() -> None:
    chances, n, epsilon = [0.25, 0.75], 300, 0.25
    low, high = delta_after_shuffling(of_bits(chances), n, epsilon)
    exact = exact_deltas(chances, n, epsilon)
    rows = of_bits(chances).matrix
    blanket = delta_of_pair(rows[0], rows[1], rows.min(axis=0), n, epsilon, 1e-4)
    assert low <= exact <= high < 1.6 * exact
    assert high < 0.5 * blanket


def test_sets_that_overlap_are_within_two_percent() -> None:
    """The blanket alone has 0.101989 for subset selection, 0.065627 for randomized response."""
    for mechanism, blanket in (
        (SubsetSelection(10, 4, size=3), 0.101989),
        (GeneralizedRandomizedResponse(2, 3), 0.065627),
    ):
        found = after_shuffling(mechanism, 100_000, "1e-6")
        assert found.at_least <= found.epsilon <= 1.015 * found.at_least < 0.9 * blanket


def shuffled_pairs() -> Channel:
    """Five inputs: the pairs 0, 1 and 2, 3 agree with the common part, but not with other rows."""
    p, q, u, v, x = 60, 20, 30, 24, 37
    rows = [
        [v, v, p, q, u, u],
        [v, v, q, p, u, u],
        [p, q, u, u, v, v],
        [q, p, u, u, v, v],
        [x, x, x, x, q, q],
    ]
    return Channel.from_matrix([[Fraction(entry, sum(row)) for entry in row] for row in rows])


def test_similar_pairs_differ_by_the_other_rows() -> None:
    """The inputs 2 and 3 are harder to hide among reports of 0 than 0 and 1 are among any."""
    channel, n, delta = shuffled_pairs(), 2000, 1e-6
    found, rows = after_shuffling(channel, n, str(delta)), channel.matrix
    assert set(found.pair) == {2, 3}
    assert delta_of_test(rows[2], rows[3], rows[0], n, found.epsilon, 1e-4) <= delta
    assert delta_of_test(rows[2], rows[3], rows[0], n, 0.99 * found.at_least, 1e-4) > delta


def test_the_order_of_the_inputs_changes_no_pairs() -> None:
    """There are eight pairs up to the rows of other inputs, and seven up to the common part."""
    rows = shuffled_pairs().matrix
    for order in ([0, 1, 2, 3, 4], [2, 3, 0, 1, 4], [4, 2, 0, 3, 1]):
        found = compared(Channel.from_matrix(rows[order]))
        assert (len(found.pairs), found.complete) == (8, True)


def test_rows_of_symmetric_channels_are_complete_with_one_pair() -> None:
    for mechanism in (GeneralizedRandomizedResponse(12, 1), SubsetSelection(5, 1, size=2)):
        found = compared(mechanism.dense())
        assert (len(found.pairs), found.complete) == (1, True)
