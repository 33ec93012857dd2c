"""The central privacy of shuffled reports: against exact enumeration and published values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.signal import convolve
from scipy.stats import binom

from mechdesign import LDP, Channel, HammingLoss, Problem, design
from mechdesign.accounting import (
    after_aggregation,
    after_shuffling,
    delta_after_shuffling,
    design_for_aggregation,
    design_for_shuffle,
    largest_local_budget,
    least_reports,
    privacy_profile,
)
from mechdesign.accounting.central import lattice_sums
from mechdesign.accounting.central.central import view
from mechdesign.accounting.central.comparisons import Pair, compared
from mechdesign.accounting.central.lower import delta_of_test
from mechdesign.accounting.central.upper import Hidden, delta_of_pair
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    OptimizedUnaryEncoding,
    ProjectiveGeometryResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from tests.strategies import examples, simplex


def exact_delta(rows: np.ndarray, n: int, epsilon: float, compared: Sequence[int] = ()) -> float:
    """The least delta of n shuffled reports: every data set, every count of the reports but one."""
    units = np.eye(rows.shape[1] - 1, dtype=int)
    places = [(0,) * len(units), *map(tuple, units)]

    @cache
    def power(x: int, times: int) -> np.ndarray:
        if not times:
            return np.ones((1,) * len(units))
        one = np.zeros((2,) * len(units))
        for place, mass in zip(places, (rows[x, -1], *rows[x, :-1]), strict=True):
            one[place] = mass
        return convolve(power(x, times - 1), one, method="direct")

    worst = 0.0
    for others in combinations_with_replacement(range(len(rows)), n - 1):
        law = np.ones((1,) * len(units))
        for x in set(others):
            law = convolve(law, power(x, others.count(x)), method="direct")
        laws = [convolve(law, power(x, 1), method="direct") for x in compared or range(len(rows))]
        for one, other in permutations(laws, 2):
            worst = max(worst, float(np.maximum(one - math.exp(epsilon) * other, 0).sum()))
    return worst


def randomized_response(k: int, epsilon: float) -> Channel:
    p = math.exp(epsilon)
    return Channel.from_matrix((np.ones((k, k)) + (p - 1) * np.eye(k)) / (p + k - 1))


def of_bits(chances: list[float]) -> Channel:
    return Channel.from_matrix([[1 - chance, chance] for chance in chances])


# --- both bounds ----------------------------------------------------------------------------------


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
    assert high - low <= (0.02 * exact if n > 1 else 1e-9)
    if n == 1:
        assert low <= float(privacy_profile(channel, [epsilon]).ldp[0]) <= high


def test_published_values() -> None:
    """Published code gives 0.11816 and 0.10992 (delta 1e-6, local epsilon 4, 100,000 reports)."""
    whole = after_shuffling(4, 100_000, "1e-6")
    assert 0.1170 < whole.at_least < whole.epsilon <= 0.11816
    ten = after_shuffling(randomized_response(10, 4), 100_000, "1e-6")
    assert 0.10990 < ten.at_least < ten.epsilon <= 0.10992
    assert ten.epsilon <= ten.variation_ratio * (1 + 1e-6) <= whole.epsilon * (1 + 1e-5)
    assert whole.epsilon < whole.closed_form < whole.local
    assert repr(whole).startswith("100000 shuffled reports at delta = 1e-06\n")
    assert ", hardest to hide: 0 or 1\n" in repr(ten)


def test_the_bound_for_every_channel_holds_for_each() -> None:
    rng = np.random.default_rng(5)
    matrix = np.exp(rng.uniform(0, 1, (3, 3)))
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


@pytest.mark.parametrize(("local", "n", "least"), [(20, 1000, 19.99), (12, 100_000, 11.9)])
def test_large_local_budgets_are_bracketed(local: int, n: int, least: float) -> None:
    """A rare report hides among hardly any others.

    If all others hold a third input, the test "somebody sent x" has an advantage of at least
    Pr(no other sends x) (P(x) - e**epsilon P'(x)), which exceeds delta at ``least``.
    """
    p = math.exp(local)
    alone = (1 - 1 / (p + 2)) ** (n - 1) * (p - math.exp(least)) / (p + 2)
    alone -= (math.exp(least) - 1) * (1 - (1 - 1 / (p + 2)) ** (n - 1))
    found = after_shuffling(local, n, "1e-6")
    assert least < found.at_least <= found.epsilon <= found.local == local
    if alone > 1e-6:  # the claim above holds without a lattice
        assert delta_after_shuffling(local, n, least).low > 0.5 * alone


def test_more_reports_hide_better_and_more_local_budget_worse() -> None:
    for falling in (
        [after_shuffling(2, n, "1e-6").epsilon for n in (2, 10, 100)],
        [after_shuffling(e, 50, "1e-6").epsilon for e in (3, 2, 1)],
        [after_shuffling(2, 100, d).epsilon for d in ("1e-9", "1e-6", "1e-3")],
    ):
        assert sorted(falling, reverse=True) == falling
    found = after_shuffling(randomized_response(3, 3), 2, "1e-12")
    assert 2.9 < found.at_least <= found.epsilon <= found.local


@pytest.mark.parametrize("tiny", ["1e-120", "1e-200", "1e-299"])
def test_ratios_whose_squares_are_no_floats_are_bounded(tiny: str) -> None:
    rare = Fraction(tiny)
    channel = Channel.from_matrix([[rare, 1 - rare], ["1/2", "1/2"]])
    low, high = delta_after_shuffling(channel, 2, 1)
    exact = exact_delta(channel.matrix, 2, 1)
    assert 0 <= low <= exact * (1 + 1e-9) <= high * (1 + 1e-8)


def test_exponentials_of_rare_reports_that_are_no_floats() -> None:
    rows = [
        ["0.90003", "0.09994", "0.00003"],
        ["0.8522", "0.0866", "0.0612"],
        ["0.94", "0.05", "0.01"],
    ]
    found = after_shuffling(Channel.from_matrix(rows), 1749, "1e-6")
    assert found.at_least < found.epsilon < 1.001 * found.at_least


def test_exponentials_of_a_coarse_lattice_that_are_no_floats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few points for the spread of many reports, as of 10**9 reports at the limit."""
    exact = after_shuffling(1, 100_000, "1e-6")
    monkeypatch.setattr(lattice_sums, "MOST_POINTS", 1 << 12)
    found = after_shuffling(1, 100_000, "1e-6")
    assert found.at_least < exact.epsilon <= 1.001 * found.epsilon < 1.03 * exact.epsilon
    assert found.variation_ratio == pytest.approx(exact.variation_ratio, rel=0.03)


@pytest.mark.parametrize(("n", "epsilon"), [(10**5, 0.01), (10**9, 6e-5), (10**11, 5e-6)])
def test_a_test_on_many_reports_is_as_good_as_the_best_count(n: int, epsilon: float) -> None:
    """Of two inputs, where all others hold the second one, the best test counts a report."""
    others, p, odds = binom(n - 1, 0.25), np.array([0.75, 0.25]), math.exp(epsilon)
    counts = np.round(n / 4 + np.linspace(0, 10, 4001) * math.sqrt(3 * n / 16))
    gains = (1 - odds) * others.sf(counts) + (0.75 - 0.25 * odds) * others.pmf(counts)
    found = delta_of_test(Pair(p, p[::-1], p[::-1]), n, epsilon, 1e-2)
    assert 0.9 * gains.max() < found < (1 + 1e-5) * gains.max()


def test_ratios_at_the_largest_budgets_are_bounded() -> None:
    low, high = delta_after_shuffling(200, 100, 200)
    assert 0 <= low <= high < 1e-12


def test_released_inputs_stay_released_and_equal_rows_leak_nothing() -> None:
    blocks = Channel.from_matrix([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    found = after_shuffling(blocks, 1000, "1e-6")
    assert found.epsilon == found.at_least == math.inf
    rare = Channel.from_matrix([["0.999999", "0.000001"], [1, 0]])
    assert delta_after_shuffling(rare, 100, 1) == pytest.approx((1e-6, 1e-6), rel=1e-9)
    equal = Channel.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    found = after_shuffling(equal, 100, "1e-6")
    assert found.at_least == found.variation_ratio == 0 <= found.epsilon < 1e-12
    tiny = after_shuffling(equal, 100, "1e-30")  # their distance is 0 up to rounding only
    assert tiny.variation_ratio > 0 == tiny.local == tiny.epsilon


def test_the_printed_result() -> None:
    channel = Channel.from_matrix([[0.7, 0.3], [0.3, 0.7]], inputs=["a", "b"])
    found = after_shuffling(channel, 100, 0.01)
    assert set(found.pair) == {"a", "b"}
    assert "at most" in repr(found)
    assert found.to_json()["pair"] == list(found.pair)
    assert "<table" in found._repr_html_()


# --- which pairs are compared ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "mechanism",
    [
        GeneralizedRandomizedResponse(5, "1.5"),
        SubsetSelection(5, 1, size=2),
        OptimizedUnaryEncoding(3, 1),
        HadamardResponse(9, 3, copies=4),
        HadamardResponse(10, 3),
        ProjectiveGeometryResponse(13, 2),
        ProjectiveGeometryResponse(6, 2, field=2),
    ],
    ids=repr,
)
def test_a_mechanism_is_as_its_matrix(mechanism: GeneralizedRandomizedResponse) -> None:
    short, whole = (after_shuffling(m, 30, "1e-2") for m in (mechanism, mechanism.dense()))
    assert short.at_least == pytest.approx(whole.at_least, rel=1e-5)
    # reports equally likely at all inputs get less weight, so the bound is a little looser
    assert whole.epsilon * (1 - 1e-5) <= short.epsilon <= whole.epsilon * 1.01
    assert all(sum(row) == 1 for row in mechanism.merged_reports().rows)


def test_a_large_domain_is_no_work() -> None:
    found = after_shuffling(GeneralizedRandomizedResponse(43_750, 4), 10_000, "1e-6")
    assert found.at_least <= found.epsilon < min(0.02, 1.01 * found.at_least)


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
    n, epsilon, delta = 300, 0.182, 1e-6
    channel = shuffled_pairs()
    pairs, rows = {pair.labels: pair for pair in compared(channel)}, channel.matrix
    assert Hidden(pairs[0, 1], n, delta).is_within(epsilon)
    assert not Hidden(pairs[2, 3], n, delta).is_within(epsilon)
    assert delta_of_test(Pair(rows[2], rows[3], rows[0]), n, epsilon, 1e-4) > delta


def test_pairs_are_listed_once() -> None:
    """Eight pairs up to the rows of other inputs, in any order; one of a symmetric channel."""
    rows = shuffled_pairs().matrix
    orders = ([0, 1, 2, 3, 4], [2, 3, 0, 1, 4], [4, 2, 0, 3, 1])
    symmetric = GeneralizedRandomizedResponse(12, 1), SubsetSelection(5, 1, size=2)
    channels = [Channel.from_matrix(rows[order]) for order in orders]
    found = [compared(channel) for channel in (*channels, *(m.dense() for m in symmetric))]
    assert [(len(c), c[0].complete) for c in found] == [(8, True)] * 3 + [(1, True)] * 2


# --- hidden senders -------------------------------------------------------------------------------


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
    channel = of_bits(chances)
    exact = exact_delta(channel.matrix, n, epsilon, (0, 1))
    pairs = [pair for pair in compared(channel) if set(pair.labels) == {0, 1}]
    said = [
        all(Hidden(pair, n, times * exact).is_within(epsilon) for pair in pairs)
        for times in (0.9, 0.999, 1.3, 2.0, 5.0)
    ]
    assert said[:2] == [False, False]
    assert said[-1]


def test_warner_lies_between_the_bounds_and_the_blanket_above_both() -> None:
    warner, n, epsilon = of_bits([0.25, 0.75]), 300, 0.25
    low, high = delta_after_shuffling(warner, n, epsilon)
    exact, rows = exact_delta(warner.matrix, n, epsilon), warner.matrix
    blanket = delta_of_pair(Pair(rows[0], rows[1], rows.min(axis=0)), n, epsilon, 1e-4)
    assert low <= exact <= high < min(1.6 * exact, 0.5 * blanket)


def test_sets_that_overlap_hide_more_than_the_blanket_alone() -> None:
    mechanism, n = SubsetSelection(10, 4, size=3), 10_000
    found, rows = after_shuffling(mechanism, n, "1e-6"), mechanism.dense().matrix
    assert found.at_least <= found.epsilon <= 1.025 * found.at_least
    blanket = Pair(rows[0], rows[1], rows.min(axis=0))
    assert delta_of_pair(blanket, n, 1.1 * found.epsilon, 1e-4) > 1.5e-6


def test_two_inputs_are_within_two_percent() -> None:
    """The blanket alone has 0.065627."""
    found = after_shuffling(GeneralizedRandomizedResponse(2, 3), 100_000, "1e-6")
    assert found.at_least <= found.epsilon <= 1.015 * found.at_least < 0.9 * 0.065627


# Numbers of reports, local budgets and designs for a central budget: both bounds hold.


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


def test_a_budget_is_too_much_only_where_that_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that keep the central budget up to 1, and exceed it from 2 on."""

    def bounds(local: float, **_: bool) -> Any:
        found = SimpleNamespace(is_within=lambda _: local <= 1, exceeds=lambda _: local >= 2)
        return lambda *_: found

    monkeypatch.setattr("mechdesign.accounting.central.central.view", bounds)
    find = partial(largest_local_budget, 500, "0.3", DELTA)
    assert find(most=3) == pytest.approx((1, 2), abs=1e-3)
    assert find(most="1.5") == (pytest.approx(1, abs=1e-3), math.inf)
    assert find(most=1) == (1, math.inf)


def test_any_channel_needs_more_than_one() -> None:
    any_channel, one = (
        largest_local_budget(500, "0.3", DELTA, family, precision="1e-2")
        for family in (None, shuffled)
    )
    assert any_channel.enough < one.enough


def test_hamming_loss_is_randomized_response_at_its_largest_budget() -> None:
    """The best channel is known in closed form; its largest budget is found without designs."""
    found = design_for_shuffle(QUESTION, N, "0.3", DELTA, precision="0.02")
    assert repr(found) == f"{found.solution}\n\n{found.shuffled}"
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
