"""PENA: the two-valued responder, exactly unbiased and private; means and sums with errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import LDP, Channel, InputError, Prior
from mechdesign.collection.personalized import (
    Group,
    NumberReports,
    TwoValuedResponder,
    collect_numbers,
)
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.reports import Reports
from tests.refusals_support import check_refused
from tests.strategies import examples

budgets = st.integers(1, 600).map(lambda n: Fraction(n, 100))
ends = st.fractions(-1000, 1000, max_denominator=50)
shares = st.fractions(0, 1, max_denominator=997)


@examples(40)
@given(budgets, ends, st.fractions("1/7", 1000, max_denominator=7), shares)
def test_the_expected_report_is_the_scaled_value_exactly(
    epsilon: Fraction, low: Fraction, width: Fraction, share: Fraction
) -> None:
    one = TwoValuedResponder(low, low + width, epsilon)
    value = low + share * width
    p = one.probability(value)
    mean_report = one.size * p - one.size * (1 - p)
    assert mean_report == 2 * share - 1 == one.scaled(value)
    # theory, section 8: the corrected mean is the value, exactly
    assert low + width * (mean_report + 1) / 2 == value
    # the published one is 2 value - low - high: right by chance only
    assert width * mean_report == 2 * value - low - (low + width)


@examples(40)
@given(budgets, shares, shares)
def test_any_two_values_are_private_and_the_ends_use_the_budget_up(
    epsilon: Fraction, share: Fraction, other: Fraction
) -> None:
    one = TwoValuedResponder(0, 1, epsilon)
    p, q = one.probability(share), one.probability(other)
    assert p <= exp_lower(epsilon) * q
    assert 1 - p <= exp_lower(epsilon) * (1 - q)
    top, bottom = one.probability(1), one.probability(0)
    assert top + bottom == 1
    assert bottom <= min(p, q)
    assert max(p, q) <= top
    assert top > exp_upper(epsilon - Fraction(1, 10**12)) * bottom
    assert float(epsilon) - 1e-12 < one.leakage <= math.nextafter(float(epsilon), math.inf)


def channel_of(one: TwoValuedResponder, *values: Any) -> Channel:
    return Channel.from_matrix([one.density(value) for value in values], inputs=list(values))


@pytest.mark.parametrize("epsilon", ["0.01", "3", "30"])
def test_the_channel_is_private_at_epsilon_and_not_below(epsilon: str) -> None:
    one = TwoValuedResponder(-5, 5, epsilon)
    channel = channel_of(one, -5, "1/3", 5)
    assert LDP(epsilon).holds(channel)
    # at 30 the smaller mass is 431 thousand units of 2**-62: known to 2e-6 of itself
    assert not LDP(Fraction(epsilon) - Fraction(1, 10**5)).holds(channel)


def test_the_example_of_the_paper() -> None:
    """$800 in $0-$10000 at 0.2: +10.03 with probability 0.46."""
    one = TwoValuedResponder(0, 10_000, "0.2")
    assert one.scaled(800) == Fraction(-84, 100)
    assert float(one.size) == pytest.approx((math.exp(0.2) + 1) / (math.exp(0.2) - 1), rel=1e-15)
    formula = (-0.84 * (math.exp(0.2) - 1) + math.exp(0.2) + 1) / (2 * math.exp(0.2) + 2)
    assert float(one.probability(800)) == pytest.approx(formula, rel=1e-15)
    assert f"{float(one.size):.2f} {formula:.2f}" == "10.03 0.46"


def test_draws_have_the_law() -> None:
    one = TwoValuedResponder(0, 1, 1)
    for value in (0, 1 / 3, 1):
        n, p = 40_000, float(one.probability(value))
        hits = int(one.tally(one.privatize([value] * n, rng=12)).counts[1])
        assert abs(hits - n * p) < 4 * math.sqrt(n * p * (1 - p))


def test_the_minimum_cannot_be_read() -> None:
    """All in the middle, or half at either end: the same law of the reports, another minimum."""
    channel = channel_of(TwoValuedResponder(0, 10, 1), 0, 5, 10)
    middle, halves = Prior([0, 1, 0]), Prior(["1/2", 0, "1/2"])
    assert channel.output_distribution(middle) == channel.output_distribution(halves)


def test_values_outside_are_refused_or_clipped() -> None:
    one = TwoValuedResponder(0, 10, 1)
    for values, place in (([3, 11], 1), (np.array([3.0, 0.5, -1.0]), 2)):
        check_refused(rf"values\[{place}\]", one.privatize, values)
    clipped, inside = (one.privatize(v, 3, outside="clip") for v in ([3, 11, -4], [3, 10, 0]))
    assert clipped.data.tolist() == inside.data.tolist()


def test_wrong_parameters_are_named() -> None:
    wrong: list[tuple[Any, ...]] = [(1, 1, 1, "high"), (0, "x", 1, "high"), (0, 1, 0, "epsilon")]
    for *words, key in [*wrong, (0, 1, 31, "epsilon"), (0, 1, "1e-30", "epsilon")]:
        assert check_refused("", TwoValuedResponder, *words).key == key
    for values in ([float("nan")], "0.5"):
        with pytest.raises(InputError, match="values"):
            TwoValuedResponder(0, 1, 1).privatize(values)


RANGES = [(0, 10), (0, 10), (0, 10), (100, 200)]
BUDGETS = ["1/2", "1/2", 2, 1]
VALUES = [Fraction(1), Fraction(9, 2), Fraction(29, 4), Fraction(120)]


def every_outcome() -> list[tuple[float, NumberReports]]:
    """All reports of four records in two ranges and three budgets, with their probabilities."""
    ones = [TwoValuedResponder(*r, e) for r, e in zip(RANGES, BUDGETS, strict=True)]
    found = []
    for bits in itertools.product((0, 1), repeat=4):
        chance = math.prod(
            one.probability(v) if bit else 1 - one.probability(v)
            for one, v, bit in zip(ones, VALUES, bits, strict=True)
        )
        groups = [group_of(ones[p[0]], p, [bits[n] for n in p]) for p in ([0, 1], [2], [3])]
        found.append((float(chance), NumberReports(tuple(groups))))
    return found


def group_of(
    one: TwoValuedResponder, places: list[int], bits: Iterable[int]
) -> Group[TwoValuedResponder]:
    reports = Reports(np.array(list(bits)), one.alphabet, False)
    return Group(one, np.array(places), reports, one.epsilon)


def test_by_size_the_mean_and_the_sum_are_unbiased_for_any_records() -> None:
    outcomes = every_outcome()
    assert math.fsum(chance for chance, _ in outcomes) == pytest.approx(1, abs=1e-15)
    mean = math.fsum(chance * r.mean("size").value for chance, r in outcomes)
    total = math.fsum(chance * r.sum("size").value for chance, r in outcomes)
    assert mean == pytest.approx(float(sum(VALUES)) / 4, rel=1e-13)
    assert total == pytest.approx(float(sum(VALUES)), rel=1e-13)


def test_by_information_it_is_unbiased_where_budgets_do_not_depend_on_values() -> None:
    """The expectation is the mean with weights 1/c**2 inside a range, and sizes across ranges."""
    outcomes = every_outcome()
    mean = math.fsum(chance * r.mean().value for chance, r in outcomes)
    worth = [1 / float(TwoValuedResponder(0, 1, e).size) ** 2 for e in BUDGETS[:3]]
    inside = math.fsum(w * float(v) for w, v in zip(worth, VALUES, strict=False)) / math.fsum(worth)
    assert mean == pytest.approx((3 * inside + float(VALUES[3])) / 4, rel=1e-13)


def test_the_variance_estimate_is_unbiased_for_records_of_one_mean() -> None:
    """Two budgets, equal values, all outcomes: E of the squared error is the true variance.

    T**2 is clipped to 1, so it is exact only if no outcome has |T| > 1; otherwise the error is
    overstated.
    """
    value, ones = Fraction(5), [TwoValuedResponder(0, 10, e) for e in (6, 7)]
    sizes = [float(one.size) for one in ones]
    expected, second = 0.0, 0.0
    for bits in itertools.product((0, 1), repeat=6):
        groups = [
            group_of(one, [0, 1, 2], part)
            for one, part in zip(ones, (bits[:3], bits[3:]), strict=True)
        ]
        mean = NumberReports(tuple(groups)).mean()
        chance = math.prod(
            float(one.probability(value) if bit else 1 - one.probability(value))
            for one, part in zip(ones, (bits[:3], bits[3:]), strict=True)
            for bit in part
        )
        expected += chance * mean.standard_error**2
        second += chance * (mean.value - 5) ** 2
    weights = np.array([1 / c**2 for c in sizes]) / sum(1 / c**2 for c in sizes)
    assert second == pytest.approx(25 * float(weights**2 @ np.square(sizes)) / 3, rel=1e-9)
    assert expected == pytest.approx(second, rel=1e-2)
    assert expected >= second


def test_a_simulation_agrees_within_four_standard_errors() -> None:
    generator = np.random.default_rng(3)
    n = 60_000
    values = generator.integers(0, 1001, n)
    epsilons = generator.choice([0.25, 0.5, 1.0], n)
    high = np.where(np.arange(n) % 3 == 0, 1000, 4000)
    people = collect_numbers(values, epsilons, 0, high, rng=8)
    assert len(people) == n
    assert len(people.groups) == 6
    for weights in ("information", "size"):
        mean, total = people.mean(weights), people.sum(weights)
        assert abs(mean.value - values.mean()) < 4 * mean.standard_error
        assert abs(total.value - values.sum()) < 4 * total.standard_error
        assert mean.simulated
        assert mean.unbiased
        assert mean.reports == n
    assert people.mean().standard_error < people.mean("size").standard_error
    parts = people.subsets()
    for (low, top), part in parts.items():
        assert low == 0
        chosen = values[high == int(top)]
        assert part.reports == len(chosen)
        assert abs(part.value - chosen.mean()) < 4 * part.standard_error


def test_reports_are_plus_or_minus_c_in_the_order_of_the_records() -> None:
    epsilons = [1, 2, 1, "1/2"]
    people = collect_numbers([0, 10, 10, 0], epsilons, 0, 10, rng=5)
    sizes = [float(TwoValuedResponder(0, 1, e).size) for e in epsilons]
    assert [abs(v) for v in people.labels()] == sizes
    assert sorted(np.concatenate([g.places for g in people.groups]).tolist()) == [0, 1, 2, 3]


def test_each_record_may_have_a_budget_of_its_own() -> None:
    """As in the paper's experiment: budgets uniform on (0, epsilon], all different."""
    n = 100
    epsilons = (np.arange(n) + 1) / (2 * n)
    people = collect_numbers(np.full(n, 8), epsilons, 0, 10, rng=4)
    assert len(people.groups) == n
    mean = people.mean()
    assert abs(mean.value - 8) < 4 * mean.standard_error
    size = (np.exp(epsilons) + 1) / (np.exp(epsilons) - 1)
    best = 5 / math.sqrt((1 / size**2).sum())
    assert mean.standard_error == pytest.approx(best, rel=0.02)


def test_wrong_input_is_named_by_its_record() -> None:
    check_refused(
        r"values\[3\].*given a number outside", collect_numbers, [1, 2, 3, 12], [1, 2, 1, 2], 0, 10
    )
    assert len(collect_numbers([1, 2, 3, 12], [1, 2, 1, 2], 0, 10, outside="clip")) == 4
    for arguments, key in (
        (([1, 2], [1, 2, 3], 0, 10), "epsilons"),
        (([1, 2], [1, "x"], 0, 10), "epsilons[1]"),
        (([1, 2], 0, 0, 10), "epsilon"),
        (([1, 2], 1, 0, [10, 0]), "high"),
        (("12", 1, 0, 10), "values"),
        (([1, "x"], 1, 0, 10), "values[1]"),
    ):
        assert check_refused("", collect_numbers, *arguments).key == key
    alone = collect_numbers([3], 1, 0, 10, rng=1).mean()
    assert alone.standard_error == pytest.approx(5 * float(TwoValuedResponder(0, 10, 1).size))
    people = collect_numbers([1, 2], 1, 0, 10)
    check_refused("weights", people.mean, "equal")
    check_refused("at least one number", lambda: collect_numbers([], 1, 0, 10).mean())
