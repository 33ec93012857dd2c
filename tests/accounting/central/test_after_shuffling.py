"""The central privacy of shuffled reports: against exact enumeration and published values."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel, InputError
from mechdesign.accounting import (
    after_shuffling,
    delta_after_shuffling,
    privacy_profile,
)
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    OptimizedUnaryEncoding,
    ProjectiveGeometryResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from tests.strategies import examples, simplex


def exact_delta(rows: np.ndarray, n: int, epsilon: float) -> float:
    """The least delta of n shuffled reports: every data set, every multiset of reports."""
    k, m = rows.shape

    def law(inputs: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        found = {(0,) * m: 1.0}
        for x in inputs:
            more: dict[tuple[int, ...], float] = defaultdict(float)
            for counts, mass in found.items():
                for y in range(m):
                    more[(*counts[:y], counts[y] + 1, *counts[y + 1 :])] += mass * rows[x, y]
            found = more
        return found

    worst = 0.0
    for others in combinations_with_replacement(range(k), n - 1):
        laws = [law((x, *others)) for x in range(k)]
        for one, other in permutations(laws, 2):
            pairs = ((one[c], other[c]) for c in one)
            worst = max(worst, sum(max(0.0, a - math.exp(epsilon) * b) for a, b in pairs))
    return worst


def randomized_response(k: int, epsilon: float) -> Channel:
    p = math.exp(epsilon)
    return Channel.from_matrix((np.ones((k, k)) + (p - 1) * np.eye(k)) / (p + k - 1))


@examples(25)
@given(
    st.integers(2, 3).flatmap(lambda m: st.lists(simplex(m), min_size=2, max_size=3)),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_every_data_set_lies_between_the_bounds(
    rows: list[list[Fraction]], n: int, epsilon: float
) -> None:
    channel = Channel.from_matrix(rows)
    low, high = delta_after_shuffling(channel, n, epsilon)
    exact = exact_delta(channel.matrix, n, epsilon)
    assert low <= exact * (1 + 1e-9) + 1e-12
    assert exact <= high * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("n", [1, 2, 5, 7])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_randomized_response_is_bracketed_to_two_percent(n: int, epsilon: float) -> None:
    channel = randomized_response(3, 2)
    low, high = delta_after_shuffling(channel, n, epsilon)
    exact = exact_delta(channel.matrix, n, epsilon)
    assert low - 1e-12 <= exact <= high + 1e-12
    assert high - low <= 0.02 * exact


def test_one_report_is_the_channel_itself() -> None:
    channel = randomized_response(4, 1.5)
    low, high = delta_after_shuffling(channel, 1, "0.5")
    exact = float(privacy_profile(channel, ["0.5"]).ldp[0])
    assert low <= exact <= high
    assert high - low < 1e-9


def test_published_values() -> None:
    """Published code gives 0.11816 and 0.10992 (delta 1e-6, local epsilon 4, 100,000 reports)."""
    whole = after_shuffling(4, 100_000, "1e-6")
    assert 0.1170 < whole.at_least < whole.epsilon <= 0.11816
    ten = after_shuffling(randomized_response(10, 4), 100_000, "1e-6")
    assert 0.10990 < ten.at_least < ten.epsilon <= 0.10992
    assert ten.epsilon <= ten.variation_ratio * (1 + 1e-6) <= whole.epsilon * (1 + 1e-5)
    assert whole.epsilon < whole.closed_form < whole.local


def test_the_bound_for_every_channel_holds_for_each() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        matrix = np.exp(rng.uniform(0, 1, (3, 4)))
        channel = Channel.from_matrix(matrix / matrix.sum(axis=1, keepdims=True))
        own = after_shuffling(channel, 500, "1e-5")
        whole = after_shuffling(own.local, 500, "1e-5")
        assert own.at_least <= own.epsilon <= own.variation_ratio * (1 + 1e-6)
        assert own.variation_ratio <= whole.epsilon * (1 + 1e-4)


def test_both_sides_of_the_bounds() -> None:
    """The upper bound on epsilon satisfies delta and a smaller one does not; likewise the test."""
    channel = randomized_response(5, 2)
    found = after_shuffling(channel, 3000, "1e-5")
    assert delta_after_shuffling(channel, 3000, found.epsilon).high <= 1e-5 * (1 + 1e-9)
    assert delta_after_shuffling(channel, 3000, 0.999 * found.epsilon).high > 1e-5
    assert delta_after_shuffling(channel, 3000, found.at_least).low > 1e-5 * (1 - 1e-3)
    assert delta_after_shuffling(channel, 3000, 1.001 * found.epsilon).low < 1e-5


@pytest.mark.parametrize(
    ("local", "n", "least"), [(20, 1000, 19.99), (20, 100_000, 19.99), (12, 100_000, 11.9)]
)
def test_large_local_budgets_are_bracketed(local: int, n: int, least: float) -> None:
    """A rare report hides among hardly any others.

    If all others hold a third input, the test "somebody sent x" has an advantage of at least
    Pr(no other sends x) (P(x) - e**epsilon P'(x)), which exceeds delta at ``least``.
    """
    p = math.exp(local)
    alone = (1 - 1 / (p + 2)) ** (n - 1) * (p - math.exp(least)) / (p + 2)
    alone -= (math.exp(least) - 1) * (1 - (1 - 1 / (p + 2)) ** (n - 1))
    found = after_shuffling(local, n, "1e-6")
    assert least < found.at_least <= found.epsilon <= local * (1 + 1e-12)
    if alone > 1e-6:  # the claim above holds without a lattice
        assert delta_after_shuffling(local, n, least).low > 0.5 * alone


def test_more_reports_hide_better_and_more_local_budget_worse() -> None:
    channel = randomized_response(4, 2)
    by_n = [after_shuffling(channel, n, "1e-6").epsilon for n in (10, 100, 1000, 10_000)]
    assert by_n == sorted(by_n, reverse=True)
    by_budget = [after_shuffling(e, 1000, "1e-6").epsilon for e in (0.5, 1, 2, 3)]
    assert by_budget == sorted(by_budget)
    by_delta = [after_shuffling(channel, 1000, d).epsilon for d in ("1e-9", "1e-6", "1e-3")]
    assert by_delta == sorted(by_delta, reverse=True)


def test_never_more_than_the_local_budget() -> None:
    found = after_shuffling(randomized_response(3, 3), 2, "1e-12")
    assert found.epsilon <= found.local
    assert found.at_least > 2.9


@pytest.mark.parametrize(
    "mechanism",
    [
        GeneralizedRandomizedResponse(5, "1.5"),
        GeneralizedRandomizedResponse(2, 1),
        SubsetSelection(6, 1),
        OptimizedUnaryEncoding(5, 1),
        SymmetricUnaryEncoding(4, 1),
        HadamardResponse(7, 1),
        HadamardResponse(6, 1),
        HadamardResponse(9, 3, copies=4),
        HadamardResponse(10, 3),
        ProjectiveGeometryResponse(13, 2),
        ProjectiveGeometryResponse(6, 2, field=2),
    ],
    ids=repr,
)
def test_a_mechanism_is_as_its_matrix(mechanism: GeneralizedRandomizedResponse) -> None:
    short = after_shuffling(mechanism, 1000, "1e-6")
    whole = after_shuffling(mechanism.dense(), 1000, "1e-6")
    assert short.at_least == pytest.approx(whole.at_least, rel=1e-5)
    # reports equally likely at all inputs get less weight, so the bound is a little looser
    assert whole.epsilon * (1 - 1e-5) <= short.epsilon <= whole.epsilon * 1.01
    rows = mechanism.merged_reports().rows
    assert all(sum(row) == 1 for row in rows)


def test_a_large_domain_is_no_work() -> None:
    found = after_shuffling(GeneralizedRandomizedResponse(43_750, 4), 10_000, "1e-6")
    assert found.at_least <= found.epsilon < 0.02
    assert found.epsilon < 1.01 * found.at_least


def test_released_inputs_stay_released() -> None:
    blocks = Channel.from_matrix([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    found = after_shuffling(blocks, 1000, "1e-6")
    assert math.isinf(found.epsilon)
    assert math.isinf(found.at_least)
    rare = Channel.from_matrix([["0.999999", "0.000001"], [1, 0]])
    low, high = delta_after_shuffling(rare, 100, 1)
    assert low == pytest.approx(1e-6, rel=1e-9)
    assert high == pytest.approx(1e-6, rel=1e-9)


def test_a_constant_channel_leaks_nothing() -> None:
    found = after_shuffling(Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]]), 10, "1e-6")
    assert found.at_least == 0
    assert found.epsilon < 1e-12


def test_the_printed_result() -> None:
    found = after_shuffling(
        Channel.from_matrix([[0.7, 0.3], [0.3, 0.7]], inputs=["a", "b"]), 100, 0.01
    )
    assert set(found.pair) == {"a", "b"}
    assert "at most" in repr(found)
    assert found.to_json()["pair"] == list(found.pair)
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize("tiny", ["1e-120", "1e-200", "1e-299"])
def test_ratios_whose_squares_are_no_floats_are_bounded(tiny: str) -> None:
    rare = Fraction(tiny)
    channel = Channel.from_matrix([[rare, 1 - rare], ["1/2", "1/2"]])
    low, high = delta_after_shuffling(channel, 2, 1)
    exact = exact_delta(channel.matrix, 2, 1)
    assert 0 <= low <= exact * (1 + 1e-9) <= high * (1 + 1e-8)
    with pytest.raises(InputError, match="epsilon: expected a budget of at most 200 nats"):
        delta_after_shuffling(Channel.from_matrix([[1, 0], [0, 1]]), 2, 800)


def test_the_published_bound_of_equal_rows_is_not_below_their_rounding() -> None:
    """Their distance is 0 up to rounding, so that no delta below the rounding gives epsilon 0."""
    equal = Channel.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    assert after_shuffling(equal, 100, "1e-6").variation_ratio == 0
    tiny = after_shuffling(equal, 100, "1e-30")
    assert tiny.variation_ratio == tiny.local > 0
