"""Sums of bit vectors: one entry in rationals; all data sets, simulation and published values."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, pairwise, permutations
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.signal import convolve
from scipy.stats import binom

from mechdesign.accounting import after_aggregation, after_shuffling
from mechdesign.accounting.central.central import view
from mechdesign.accounting.central.lattice_sums import Part, positive_part, saddle_point, sum_law
from mechdesign.accounting.central.sums import SummedReports, _masses, bit_sum, hockey_stick
from mechdesign.mechanisms import (
    GeneralizedRandomizedResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)
from mechdesign.mechanisms.reported_sets import UnaryEncoding
from tests.strategies import examples


def entry(own: Fraction, p: Fraction, q: Fraction, m: int, r: int) -> Any:
    """Return the exact law of the own bit plus the bits of the others."""
    law = np.array([1 - own, own], dtype=object)
    for chance, times in ((p, m), (q, r)):
        powers = (chance**s * (1 - chance) ** (times - s) for s in range(times + 1))
        law = np.convolve(law, [math.comb(times, s) * power for s, power in enumerate(powers)])
    return law


chances = st.tuples(
    st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6), max_denominator=10**6),
    st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6), max_denominator=10**6),
).filter(lambda pair: pair[0] != pair[1])


@given(chances, st.integers(0, 30), st.integers(0, 30), st.sampled_from([1e-100, 1e-9, 0.1]))
@examples(40)
def test_masses_and_losses_are_within_their_bounds(
    pair: tuple[Fraction, Fraction], m: int, r: int, spared: float
) -> None:
    p, q = max(pair), min(pair)
    law = bit_sum(p, q, m, r, spared)
    high, low = entry(p, p, q, m, r), entry(q, p, q, m, r)
    losses = [math.log(a / b) for a, b in zip(high, low, strict=True)]
    # the first place of the kept law: nearly all mass is kept
    starts = range(len(high) - len(law.high) + 1)
    start = min(starts, key=lambda s: abs(losses[s] - law.loss[0]))
    kept = slice(start, start + len(law.high))
    assert float(sum(high) - sum(high[kept])) <= law.spare + 1e-300
    assert float(sum(low) - sum(low[kept])) <= law.spare + 1e-300
    np.testing.assert_allclose(law.loss, losses[kept], rtol=0, atol=law.wrong + 1e-13)
    for found, exact in ((law.high, high[kept]), (law.low, low[kept])):
        logs = [math.log(float(f)) - math.log(e) for f, e in zip(found, exact, strict=True)]
        assert max(map(abs, logs)) <= law.factor + 1e-12
    assert all(one <= other for one, other in pairwise(law.loss))


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_masses_beyond_the_kept_places_are_within_their_bound(mirrored: bool) -> None:
    n, seen = 12, set()
    for rare in range(1, 13):
        chance = Fraction(rare if mirrored else 100 - rare, 100)
        masses = [math.comb(n, s) * chance**s * (1 - chance) ** (n - s) for s in range(n + 1)]
        for reach in range(12):
            _, (low, top), beyond, _ = _masses(chance, chance, n, 0, reach)
            assert sum(masses[:low]) + sum(masses[top + 1 :]) <= Fraction(beyond)
            seen.add(n - top if mirrored else low)
    assert {0, 1, 2} <= seen


@given(chances, st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.floats(0, 3))
@examples(60)
def test_the_divergence_lies_between_its_bounds(
    pair: tuple[Fraction, Fraction], m: int, other: int, n: int, epsilon: float
) -> None:
    p, q = max(pair), min(pair)
    m, other = min(m, n), min(other, n)
    laws = [bit_sum(p, q, each, n - each, 1e-12) for each in (m, other)]
    places = ((m, n - m), (other, n - other))
    (a, b), (c, d) = ([entry(own, p, q, *place) for own in (p, q)] for place in places)
    odds = Fraction(math.exp(epsilon))  # exact up to e**epsilon
    exact = np.maximum(np.outer(a, d) - odds * np.outer(b, c), 0).sum()
    low, high = (hockey_stick(*laws, epsilon, up=up) for up in (False, True))
    # e**epsilon of the reference is a float with an error of one unit
    slack = 4e-16 * math.exp(epsilon)
    assert low - slack <= exact <= high + slack
    assert high - low <= 1e-9 * high + 1e-11


@pytest.mark.parametrize("log_n", [3, 5, 7, 9])
def test_many_people_cost_a_window_and_no_digits(log_n: int) -> None:
    n, q = 10**log_n, Fraction(1, 100)
    law = bit_sum(1 - q, q, n // 3, n - n // 3, 1e-9)
    spread = math.sqrt(n * q * (1 - q))
    assert len(law.high) < 22 * spread + 300
    assert law.spare < 1e-15
    assert law.factor < 1e-2
    for own, masses in ((1 - q, law.high), (q, law.low)):
        assert masses.sum() == pytest.approx(1, abs=1e-9)
        mean = masses @ np.arange(len(masses))
        variance = masses @ (np.arange(len(masses)) - mean) ** 2
        expected = n * q * (1 - q) + own * (1 - own)
        assert variance == pytest.approx(float(expected), rel=1e-6)


KINDS: list[type[UnaryEncoding]] = [OptimizedUnaryEncoding, SymmetricUnaryEncoding]


def vectors(mechanism: Mechanism) -> list[np.ndarray]:
    """Return the law of the report for each input, as an array with one binary axis per bit."""
    labels = mechanism.inputs.labels
    found = [np.zeros((2,) * len(labels)) for _ in labels]
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
    st.integers(1, 6),
    st.floats(0.1, 6),
    st.sampled_from(["1e-1", "1e-2", "1e-4", "1e-6"]),
)
@examples(30)
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
    seen = view(mechanism, summed=True)
    for epsilon in (0.2, 1.0, 1.8):
        exact = exact_delta(mechanism, 8, epsilon)
        assert seen(8, exact * (1 + 1e-9)).is_within(epsilon)
        assert not seen(8, exact * (1 - 1e-9)).is_within(epsilon)
        assert seen(8, exact * 0.9).exceeds(epsilon)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [(0, 0), (999, 0), (0, 999), (500, 300), (200, 700)])
def test_a_data_set_of_a_thousand_people_by_its_binomial_laws(
    kind: type[UnaryEncoding], m: tuple[int, int]
) -> None:
    mechanism, n = kind(4, 3), 1000
    p, q = map(float, mechanism.chances)

    def law(own: float, held: int) -> np.ndarray:
        parts = [binom.pmf(np.arange(s + 1), s, c) for s, c in ((held, p), (n - 1 - held, q))]
        return np.convolve(np.convolve(*parts), [1 - own, own])

    one, other = (np.outer(*map(law, owns, m)) for owns in ((p, q), (q, p)))
    data_sets = SummedReports(n, 1e-9, mechanism.chances, 4)
    for epsilon in (0.05, 0.15, 0.3):
        exact = float(np.maximum(one - math.exp(epsilon) * other, 0).sum())
        assert data_sets.delta_below(epsilon, m) == pytest.approx(exact, rel=1e-9, abs=1e-12)
        # all data sets together are proved at no less
        assert not view(mechanism, summed=True)(n, exact * (1 - 1e-6)).is_within(epsilon)


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
    st.integers(1, 200),
    st.floats(0.2, 12),
    st.floats(1e-12, 0.1),
)
@examples(8)
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


def test_a_sum_leaks_at_most_as_much_as_the_shuffled_vectors() -> None:
    """Single ones leak as much; a single person leaks the local budget."""
    mechanism = GeneralizedRandomizedResponse(5, 2)
    summed, shuffled = (f(mechanism, 500, "1e-6") for f in (after_aggregation, after_shuffling))
    assert (summed.epsilon, summed.at_least) == (shuffled.epsilon, shuffled.at_least)
    assert summed.others is None
    bits = OptimizedUnaryEncoding(3, 1)
    summed, shuffled = (f(bits, 30, "1e-2") for f in (after_aggregation, after_shuffling))
    assert summed.at_least <= shuffled.epsilon
    alone = after_aggregation(bits, 1, "1e-12")
    assert bits.leakage * (1 - 1e-3) <= alone.at_least <= alone.epsilon <= bits.leakage
    assert alone.to_json()["others"] == [0, 0]


# --- sums on a lattice against exact enumeration and long arithmetic ------------------------------


def enumerated(values: list[float], masses: list[float], n: int) -> Fraction:
    """E[(V_1 + ... + V_n)_+], in rationals."""
    exact = [(Fraction(v), Fraction(w)) for v, w in zip(values, masses, strict=True)]
    total = Fraction(0)
    for drawn in itertools.product(exact, repeat=n):
        total += math.prod(w for _, w in drawn) * max(Fraction(0), sum(v for v, _ in drawn))
    return total


@examples(40)
@given(
    st.lists(
        st.tuples(st.floats(-4, 4, allow_subnormal=False), st.floats(0.01, 1)),
        min_size=2,
        max_size=3,
    ),
    st.integers(1, 5),
)
def test_is_above_the_exact_expectation_and_near_it(
    atoms: list[tuple[float, float]], n: int
) -> None:
    values = [v for v, _ in atoms]
    mean = sum(v * w for v, w in atoms) / sum(w for _, w in atoms)
    values = [v - max(mean, 0) for v in values]  # without upward drift, as in the callers
    masses = [w / sum(w for _, w in atoms) for _, w in atoms]
    exact = float(enumerated(values, masses, n))
    found = positive_part([Part(np.array(values), np.array(masses), n)], 1e-6)
    assert exact * (1 - 1e-12) <= found
    assert found <= exact * (1 + 1e-3) + 1e-8 * max(1, *map(abs, values))
    never = Part(-np.abs(values), np.array(masses), n)
    assert positive_part([never], 1e-3) == saddle_point([never]) == 0


def test_the_law_of_a_sum_is_binomial_far_in_the_tail() -> None:
    """Coins that show heads with probability 1/4: mass e-20 and less, tilted to the middle."""
    n, theta = 1000, math.log(3.0)
    law = sum_law([Part(np.array([0.0, 1.0]), np.array([0.75, 0.25]), n)], theta)
    for heads in (430, 500, 570):
        exact = mpmath.binomial(n, heads) * mpmath.mpf(3) ** (n - heads) / mpmath.mpf(4) ** n
        mass = law.masses[heads - law.low]
        scale = law.log_scale - theta * (heads - law.center)
        found = mpmath.exp(scale) * mpmath.mpf(mass)
        allowed = law.pointwise / mass + law.relative + 1e-12
        assert abs(found / exact - 1) < allowed < 1e-6
        assert law.pointwise < 1e-11


def test_two_thousand_reports_against_long_arithmetic() -> None:
    """Three values 1, -1 and 0 with a drift: the exact sum over the number of nonzero ones."""
    n, moved, up = 2000, 0.05, 0.4
    masses = np.array([moved * up, moved * (1 - up), 1 - moved])
    found = positive_part([Part(np.array([1.0, -1.0, 0.0]), masses, n)], 1e-8)
    with mpmath.workdps(40):
        p, q = mpmath.mpf(moved * up), mpmath.mpf(moved * (1 - up))
        rest, exact = 1 - p - q, mpmath.mpf(0)
        for ups in range(10, 160):
            first, term = mpmath.binomial(n, ups) * p**ups, rest ** (n - ups)
            for downs in range(ups):
                exact += (ups - downs) * first * term
                term *= (n - ups - downs) * q / ((downs + 1) * rest)
    assert exact <= found <= exact * (1 + mpmath.mpf("1e-5"))
