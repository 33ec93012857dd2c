"""Priors are exact, nonnegative and sum to 1."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Domain, Prior
from tests.refusals_support import check_refused
from tests.strategies import examples, simplex


@examples(25)
@given(st.lists(st.fractions(0, 100), min_size=1, max_size=8).filter(any))
def test_counts_are_normalised_exactly(counts: list[Fraction]) -> None:
    prior = Prior.from_counts(counts)
    assert sum(prior) == 1
    assert all(p * sum(counts) == c for p, c in zip(prior, counts, strict=True))
    assert len(prior) == len(counts)
    assert prior.minimum == min(prior)
    assert np.allclose(prior.array, [float(p) for p in prior], rtol=0, atol=1e-15)
    assert Prior(prior.to_table()) == prior
    assert hash(Prior(prior.to_table())) == hash(prior)


@examples(20)
@given(st.integers(1, 5).flatmap(simplex), st.floats(-9e-7, 9e-7))
def test_decimals_are_taken_as_written_and_normalised(p: list[Fraction], off: float) -> None:
    given_total = [q * (1 + Fraction(off)) for q in p]
    assert list(Prior(given_total)) == p


@examples(20)
@given(st.integers(2, 5).flatmap(lambda k: st.tuples(simplex(k), simplex(k))))
def test_mean_is_linear_and_between_the_ends(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    prior, values = Prior(pair[0]), pair[1]
    assert min(values) <= prior.mean(values) <= max(values)
    assert prior.mean([3 * v + 1 for v in values]) == 3 * prior.mean(values) + 1


def test_smoothing_adds_to_every_count() -> None:
    assert Prior.from_counts([0, 0, 2], smoothing="1/2") == Prior(["1/7", "1/7", "5/7"])
    assert Prior.from_counts([0, 0], smoothing=1).is_uniform


def test_data_are_counted() -> None:
    domain = Domain(["a", "b", "c"])
    assert list(Prior.from_data(["b", "a", "b"], domain)) == list(Prior(["1/3", "2/3", 0]))
    check_refused("record 2: .*given another value", Prior.from_data, ["a", "d"], domain)
    check_refused("all counts are 0", Prior.from_data, [], domain)


def test_uniform() -> None:
    assert Prior.uniform(4).is_uniform
    assert Prior.uniform(1) == Prior([1])
    assert not Prior([0.4, 0.6]).is_uniform


@pytest.mark.parametrize(
    ("probabilities", "match"),
    [
        ([0.5, 0.6], "numbers that sum to 1, given sum 1.1; Prior.from_counts takes counts"),
        ([0.5, 0.499], "numbers that sum to 1"),
        ([1.5, -0.5], r"probabilities\[1\]: expected a finite number >= 0, given -0.5"),
        ([math.nan, 1], r"probabilities\[0\]: expected a finite number >= 0, given nan"),
        ([1, math.inf], r"probabilities\[1\]: expected a finite number >= 0, given inf"),
        ("1", "a list of numbers >= 0"),
        ([[1]], r"probabilities\[0\]"),
        ([0, 0], "numbers that sum to 1"),
    ],
)
def test_bad_probabilities_are_refused(probabilities: Any, match: str) -> None:
    check_refused(match, Prior, probabilities)


def test_bad_counts_are_refused() -> None:
    check_refused("all counts are 0", Prior.from_counts, [0, 0])
    check_refused("smoothing: expected a number >= 0", Prior.from_counts, [1], smoothing=-1)
    check_refused(r"counts\[0\]", Prior.from_counts, [-1, 2])
    check_refused("", Prior.uniform, 0)


@pytest.mark.parametrize("least", ["1e-300", "1.1e-300"])
def test_probabilities_too_small_for_a_file_are_refused(least: str) -> None:
    check_refused("counts: a probability is above 0 but below", Prior.from_counts, [2, least, 0])
    check_refused("above 0 but below 1e-300", Prior, [1, "1e-300", "1e-7"])
    assert Prior(["1e-300", 1 - Fraction(1, 10**300)])[0] == Fraction(1, 10**300)


def test_the_array_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Prior([0.5, 0.5]).array[0] = 1


def test_repr() -> None:
    assert repr(Prior(["1/3", "2/3"])) == "Prior(1/3, 2/3)"
    assert repr(Prior.uniform(10)) == "Prior(10 inputs: 0.1, 0.1, 0.1, 0.1, ..., 0.1, 0.1)"
