"""PENA's means and sums: unbiased for every range and budget, with honest standard errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest

from mechdesign import InputError
from mechdesign.collection.personalized import (
    Group,
    NumberReports,
    TwoValuedResponder,
    collect_numbers,
)
from mechdesign.reports import Reports

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
    # so with equal values it is that value for any budgets
    same = [Fraction(7)] * 3
    weighted = math.fsum(w * float(v) for w, v in zip(worth, same, strict=True)) / math.fsum(worth)
    assert weighted == pytest.approx(7)


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


def test_budgets_are_rounded_down_so_that_each_promise_is_kept() -> None:
    generator = np.random.default_rng(2)
    epsilons = np.round(generator.uniform(0.05, 0.5, 2000), 6)
    values = np.full(2000, 3)
    for levels in (8, [0.05, 0.1, 0.25, 0.4]):
        people = collect_numbers(values, epsilons, 0, 10, levels=levels, rng=1)
        assert len(people.groups) == (8 if levels == 8 else 4)
        for group in people.groups:
            given = epsilons[group.places]
            assert (given >= float(group.mechanism.epsilon)).all()
            assert group.mechanism.leakage <= given.min() + 1e-15
    with pytest.raises(InputError, match="levels"):
        collect_numbers(values, epsilons, 0, 10, levels=[0.3])


def test_each_record_may_have_a_budget_of_its_own() -> None:
    """As in the paper's experiment: budgets uniform on (0, epsilon], all different."""
    n = 1500
    epsilons = (np.arange(n) + 1) / (2 * n)
    people = collect_numbers(np.full(n, 8), epsilons, 0, 10, rng=4)
    assert len(people.groups) == n
    mean = people.mean()
    assert abs(mean.value - 8) < 4 * mean.standard_error
    size = (np.exp(epsilons) + 1) / (np.exp(epsilons) - 1)
    best = 5 / math.sqrt((1 / size**2).sum())
    assert mean.standard_error == pytest.approx(best, rel=0.02)


def test_wrong_input_is_named_by_its_record() -> None:
    with pytest.raises(InputError, match=r"values\[3\].*given 12"):
        collect_numbers([1, 2, 3, 12], [1, 2, 1, 2], 0, 10)
    assert len(collect_numbers([1, 2, 3, 12], [1, 2, 1, 2], 0, 10, outside="clip")) == 4
    for given, key in (
        (([1, 2], [1, 2, 3], 0, 10), "epsilons"),
        (([1, 2], [1, "x"], 0, 10), "epsilons[1]"),
        (([1, 2], 0, 0, 10), "epsilon"),
        (([1, 2], 1, 0, [10, 0]), "high"),
        (("12", 1, 0, 10), "values"),
        (([1, "x"], 1, 0, 10), "values[1]"),
    ):
        with pytest.raises(InputError) as caught:
            collect_numbers(*given)  # type: ignore[arg-type]
        assert caught.value.key == key
    alone = collect_numbers([3], 1, 0, 10, rng=1).mean()
    assert alone.standard_error == pytest.approx(5 * float(TwoValuedResponder(0, 10, 1).size))
    people = collect_numbers([1, 2], 1, 0, 10)
    with pytest.raises(InputError, match="weights"):
        people.mean("equal")
    with pytest.raises(InputError, match="at least one number"):
        collect_numbers([], 1, 0, 10).mean()
