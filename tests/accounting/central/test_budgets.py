"""Numbers of reports, local budgets and designs for a central budget: both bounds hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from mechdesign import LDP, Channel, HammingLoss, Problem, design
from mechdesign.accounting import (
    after_aggregation,
    after_shuffling,
    design_for_aggregation,
    design_for_shuffle,
    largest_local_budget,
    least_reports,
)
from mechdesign.accounting.central.central import view
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)

K, N, DELTA = 4, 1000, "1e-6"
QUESTION = Problem(range(K), LDP(1), HammingLoss())


def shuffled(epsilon: float) -> Channel:
    return GeneralizedRandomizedResponse(5, epsilon).dense()


@pytest.mark.parametrize(
    ("options", "family", "told"),
    [
        ({}, shuffled, after_shuffling),
        ({"summed": True}, partial(SymmetricUnaryEncoding, 6, digits=62), after_aggregation),
        ({"summed": True}, partial(GeneralizedRandomizedResponse, 4), after_aggregation),
    ],
    ids=["shuffled", "summed", "summed labels"],
)
def test_what_is_enough_keeps_the_budget_and_what_is_not_does_not(
    options: Any, family: Callable[..., Any], told: Callable[..., Any]
) -> None:
    enough, too_few = least_reports(family(epsilon=2), "0.3", DELTA, **options)
    assert 0 < too_few < enough < 1.05 * too_few
    assert told(family(epsilon=2), enough, DELTA).at_least <= 0.3
    assert told(family(epsilon=2), too_few, DELTA).at_least >= 0.3 * (1 - 1e-5)
    assert least_reports(family(epsilon=2), 4, DELTA, **options) == (1, 0)

    def member(epsilon: float) -> Any:
        return family(epsilon=epsilon)

    find = partial(largest_local_budget, 500, "0.3", DELTA, member, precision="1e-2", **options)
    enough, too_much = find(most=12)
    assert enough < too_much < 1.02 * enough
    assert told(member(enough), 500, DELTA).at_least <= 0.3
    assert told(member(too_much), 500, DELTA).at_least >= 0.3 * (1 - 1e-5)
    assert find(most="0.5") == (0.5, math.inf)


def test_any_channel_needs_more_than_one() -> None:
    any_channel, one = (
        largest_local_budget(500, "0.3", DELTA, family, precision="1e-2")
        for family in (None, shuffled)
    )
    assert any_channel.enough < one.enough


def test_hamming_loss_is_randomized_response_at_its_largest_budget() -> None:
    """The best channel is known in closed form; its largest budget is found without designs."""
    found = design_for_shuffle(QUESTION, N, "0.3", DELTA, precision="0.02")
    by_hand = largest_local_budget(
        N, "0.3", DELTA, lambda e: GeneralizedRandomizedResponse(K, e), precision="1e-3"
    )
    assert 0 <= by_hand.enough - float(found.local) < 0.03
    p = math.exp(float(found.local))
    assert float(found.solution.value) == pytest.approx((K - 1) / (p + K - 1), rel=1e-6)
    assert found.shuffled.epsilon <= found.epsilon * (1 + 1e-5)
    assert after_shuffling(found.solution.channel, N, DELTA) == found.shuffled
    plain = float(design(QUESTION.at(found.epsilon)).value)
    assert float(found.solution.value) < plain  # local LDP at the central budget


@pytest.mark.parametrize(("k", "n", "epsilon"), [(20, 500, 1), (3, 300, "0.8"), (2, 200, 1)])
def test_a_design_for_sums_has_less_noise_than_known_ones(k: int, n: int, epsilon: float) -> None:
    found = design_for_aggregation(k, n, epsilon, DELTA)
    assert view(found.mechanism, summed=True)(n, float(DELTA)).is_within(float(epsilon))
    assert 0.95 * float(epsilon) < found.aggregated.at_least
    assert found.aggregated.epsilon <= float(epsilon)
    for kind in (OptimizedUnaryEncoding, SymmetricUnaryEncoding):
        family = partial(kind, k, digits=62)
        budget = largest_local_budget(
            n, epsilon, DELTA, family, summed=True, most=30, precision="0.01"
        ).enough
        p, q = map(float, kind(k, budget, digits=62).chances)
        noise = (q * (1 - q) * (k - 1) + p * (1 - p)) / k / (p - q) ** 2
        assert found.standard_error <= 1.01 * math.sqrt(n * noise)
    assert isinstance(found.mechanism, GeneralizedRandomizedResponse) == (k == 2)


def test_a_design_states_the_error_that_its_estimates_have() -> None:
    k, n, times = 4, 100, 300
    found = design_for_aggregation(k, n, 1, DELTA)
    people = [x % k for x in range(n)]
    made, squares = found.mechanism, []
    for seed in range(times):
        reports = made.privatize(people, rng=seed)
        counts = n * made.frequencies(made.tally(reports)).estimates
        squares.append(np.mean((counts - n / k) ** 2))
    assert math.sqrt(np.mean(squares)) == pytest.approx(found.standard_error, rel=0.1)
