"""The central privacy of a sum: against exact enumeration, simulation and published values."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial, reduce
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.signal import convolve
from scipy.stats import binom

from mechdesign.accounting import (
    after_aggregation,
    after_shuffling,
    design_for_aggregation,
    largest_local_budget,
)
from mechdesign.accounting.central.central import view
from mechdesign.accounting.central.data_sets import DataSets
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)
from mechdesign.mechanisms.subsets.unary import UnaryEncoding
from tests.strategies import examples

KINDS: list[type[UnaryEncoding]] = [OptimizedUnaryEncoding, SymmetricUnaryEncoding]


def vectors(mechanism: Mechanism) -> list[np.ndarray]:
    """Return the law of the report for each input, as an array with one binary axis per bit."""
    k = len(mechanism.inputs)
    labels = mechanism.inputs.labels
    found = [np.zeros((2,) * k) for _ in labels]
    for report in mechanism.outputs():
        held = report if isinstance(report, tuple) else (report,)
        bits = tuple(int(label in held) for label in labels)
        for law, x in zip(found, labels, strict=True):
            law[bits] += float(mechanism.probability(x, report))
    return found


def exact_delta(mechanism: Mechanism, n: int, epsilon: float) -> float:
    """The least delta of the sum of n reports: every data set, every sum of vectors."""
    laws, worst = vectors(mechanism), 0.0
    for others in combinations_with_replacement(laws, n - 1):
        sums = [reduce(lambda a, b: convolve(a, b, method="direct"), others, law) for law in laws]
        for one, other in permutations(sums, 2):
            worst = max(worst, float(np.maximum(one - math.exp(epsilon) * other, 0).sum()))
    return worst


@given(
    st.sampled_from([*KINDS, GeneralizedRandomizedResponse]),
    st.integers(2, 3),
    st.integers(1, 8),
    st.floats(0.1, 6),
    st.sampled_from(["1e-1", "1e-2", "1e-4", "1e-6"]),
)
@examples(40)
def test_no_claim_is_below_the_truth(
    kind: type, k: int, n: int, epsilon: float, delta: str
) -> None:
    mechanism = kind(k, epsilon)
    told = after_aggregation(mechanism, n, delta)
    assert 0 <= told.at_least <= told.epsilon <= told.local
    assert exact_delta(mechanism, n, told.epsilon) <= float(delta) * (1 + 1e-9) + 1e-14
    if told.at_least > 0:
        assert exact_delta(mechanism, n, told.at_least * (1 - 1e-9)) > float(delta) * (1 - 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 3])
def test_eight_people_are_enumerated(kind: type[UnaryEncoding], k: int) -> None:
    mechanism = kind(k, 2)
    for epsilon in (0.2, 1.0, 1.8):
        exact = exact_delta(mechanism, 8, epsilon)
        assert view(mechanism, summed=True).is_within(8, epsilon, exact * (1 + 1e-9))
        assert not view(mechanism, summed=True).is_within(8, epsilon, exact * (1 - 1e-9))
        assert view(mechanism, summed=True).exceeds(8, epsilon, exact * 0.9, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [(0, 0), (999, 0), (0, 999), (500, 300), (200, 700)])
def test_a_simulation_of_a_thousand_people_agrees(
    kind: type[UnaryEncoding], m: tuple[int, int]
) -> None:
    mechanism, n, draws = kind(4, 3), 1000, 400_000
    p, q = map(float, mechanism.chances)
    rng = np.random.default_rng(5)

    def drawn(own: float, held: int) -> np.ndarray:
        others = rng.binomial(held, p, draws) + rng.binomial(n - 1 - held, q, draws)
        return np.asarray(others + (rng.random(draws) < own))

    def law(own: float, held: int) -> np.ndarray:
        parts = [binom.pmf(np.arange(s + 1), s, c) for s, c in ((held, p), (n - 1 - held, q))]
        return np.convolve(np.convolve(*parts), [1 - own, own])

    places = drawn(p, m[0]), drawn(q, m[1])
    tops = [(law(own, held), at) for own, held, at in zip((p, q), m, places, strict=True)]
    bottoms = [(law(own, held), at) for own, held, at in zip((q, p), m, places, strict=True)]
    one, other = (np.prod([masses[at] for masses, at in both], axis=0) for both in (tops, bottoms))
    data_sets = DataSets(*mechanism.chances, n, 4, 1e-3)
    for epsilon in (0.05, 0.15, 0.3):
        gains = np.maximum(1 - math.exp(epsilon) * other / one, 0)
        found, error = gains.mean(), gains.std() / math.sqrt(draws)
        below = data_sets.delta_below(epsilon, m)
        assert below <= found + 5 * error + 20 / draws
        assert below >= found - 5 * error
        # the proved bound over all data sets is above the simulated value
        if found > 6 * error:
            assert not view(mechanism, summed=True).is_within(n, epsilon, found - 5 * error)


@pytest.mark.parametrize("kind", [*KINDS, GeneralizedRandomizedResponse])
def test_reports_that_are_drawn_do_not_exceed_the_budget(kind: type) -> None:
    mechanism, n, times = kind(3, 2), 1000, 400
    told = after_aggregation(mechanism, n, "1e-2")
    others = [1] * (n - 1)
    found = []
    for seed, own in ((1, 0), (2, 1)):
        reports = mechanism.privatize([own, *others] * times, rng=seed).data
        if isinstance(mechanism, UnaryEncoding):
            bits = np.unpackbits(reports, axis=1, bitorder="little")[:, :2]
        else:
            bits = reports[:, None] == np.arange(2)
        found.append(bits.reshape(times, n, 2).sum(axis=1).astype(int) @ [1, -1])
    for threshold in range(int(min(map(np.min, found))), int(max(map(np.max, found)))):
        yes, no = ((each > threshold).mean() for each in found)
        assert yes <= math.exp(told.epsilon) * no + 0.01 + 5 * math.sqrt(0.5 / times)


@pytest.mark.parametrize(
    ("budget", "most", "least", "published"),
    [(5, 0.4059, 0.2974, 0.317), (6.5, 0.9093, 0.7001, 0.906), (7, 1.2012, 0.9504, 1.528)],
)
def test_published_numbers_are_proved_or_beaten(
    budget: float, most: float, least: float, published: float
) -> None:
    """Table 1 of draft-wang-ppm-differential-privacy: n = 100,000, delta = 1e-9."""
    mechanism = SymmetricUnaryEncoding(10, 2 * Fraction(budget), digits=62)
    told = after_aggregation(mechanism, 100_000, "1e-9")
    assert least <= told.at_least <= told.epsilon <= min(most, published)
    assert told.epsilon <= 1.01 * told.at_least
    assert told.others == (99_999, 0)


@given(
    st.sampled_from(KINDS),
    st.sampled_from([2, 3, 50]),
    st.integers(1, 3000),
    st.floats(0.2, 12),
    st.floats(1e-12, 0.1),
)
@examples(25)
def test_both_sides_are_near_and_monotone(
    kind: type[UnaryEncoding], k: int, n: int, epsilon: float, delta: float
) -> None:
    def told(n: int, epsilon: float, delta: float) -> tuple[float, float]:
        found = after_aggregation(kind(k, epsilon, digits=62), n, delta)
        return found.at_least, found.epsilon

    low, high = told(n, epsilon, delta)
    assert high <= 1.1 * low + 1e-5 or high >= 0.999 * kind(k, epsilon, digits=62).leakage
    # the exact value decreases in n and delta; for symmetric bits it increases in the local budget
    assert told(2 * n, epsilon, delta)[0] <= high
    assert told(n, epsilon, min(2 * delta, 0.5))[0] <= high
    if kind is SymmetricUnaryEncoding:
        assert low <= told(n, 1.1 * epsilon, delta)[1]


def test_it_falls_with_reports_and_grows_with_the_budget() -> None:
    def told(n: int, budget: float, delta: float) -> float:
        return after_aggregation(SymmetricUnaryEncoding(5, budget, digits=62), n, delta).epsilon

    for series in (
        [told(n, 6, 1e-9) for n in (10_000, 3_000, 1_000, 300, 100)],
        [told(3_000, budget, 1e-9) for budget in (1, 2, 4, 6, 8)],
        [told(3_000, 6, delta) for delta in (1e-3, 1e-6, 1e-9, 1e-12)],
    ):
        assert sorted(set(series)) == series


def test_the_sum_of_single_ones_leaks_as_much_as_their_shuffle() -> None:
    mechanism = GeneralizedRandomizedResponse(5, 2)
    summed, shuffled = (f(mechanism, 500, "1e-6") for f in (after_aggregation, after_shuffling))
    assert (summed.epsilon, summed.at_least) == (shuffled.epsilon, shuffled.at_least)
    assert summed.others is None


def test_a_sum_leaks_less_than_the_shuffled_vectors() -> None:
    for kind in KINDS:
        mechanism = kind(3, 1)
        summed = after_aggregation(mechanism, 100, "1e-3")
        assert summed.at_least <= after_shuffling(mechanism, 100, "1e-3").epsilon


@pytest.mark.parametrize(("k", "n", "epsilon"), [(50, 2_000, 1), (3, 500, "0.8"), (2, 300, 1)])
def test_a_design_keeps_the_budget_with_less_noise_than_known_ones(
    k: int, n: int, epsilon: float
) -> None:
    design = design_for_aggregation(k, n, epsilon, "1e-6")
    assert view(design.mechanism, summed=True).is_within(n, float(epsilon), 1e-6)
    assert design.aggregated.epsilon <= float(epsilon)
    assert design.aggregated.at_least > 0.95 * float(epsilon)
    for kind in KINDS:
        family = partial(kind, k, digits=62)
        budget = largest_local_budget(
            n, epsilon, "1e-6", family, summed=True, most=30, precision="0.01"
        ).enough
        p, q = map(float, kind(k, budget, digits=62).chances)
        noise = (q * (1 - q) * (k - 1) + p * (1 - p)) / k / (p - q) ** 2
        assert design.standard_error <= 1.01 * math.sqrt(n * noise)
    assert isinstance(design.mechanism, GeneralizedRandomizedResponse) == (k == 2)


def test_a_design_states_the_error_that_its_estimates_have() -> None:
    k, n, times = 4, 100, 300
    design = design_for_aggregation(k, n, 1, "1e-6")
    people = [x % k for x in range(n)]
    made, squares = design.mechanism, []
    for seed in range(times):
        reports = made.privatize(people, rng=seed)
        counts = n * made.frequencies(made.tally(reports)).estimates
        squares.append(np.mean((counts - n / k) ** 2))
    assert math.sqrt(np.mean(squares)) == pytest.approx(design.standard_error, rel=0.1)


def test_one_person_has_the_local_budget_and_no_budget_is_kept_below_it() -> None:
    mechanism = SymmetricUnaryEncoding(3, 1)
    told = after_aggregation(mechanism, 1, "1e-12")
    assert told.epsilon <= mechanism.leakage
    assert told.at_least == pytest.approx(mechanism.leakage, rel=1e-3)
    assert told.to_json()["others"] == [0, 0]
