"""Hadamard response and the Walsh-Hadamard transform, against their definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, strategies as st

from mechdesign import LDP, InputError, Prior
from mechdesign.exact import exp_lower
from mechdesign.mechanisms import HadamardResponse
from mechdesign.mechanisms.walsh import parity, walsh_hadamard
from tests.mechanisms_support import (
    check_budget,
    check_draws,
    check_lifts,
    check_moments,
    check_outputs,
    check_ratios,
    check_unbiased,
    exact_table,
    scores,
)
from tests.strategies import examples

sizes = st.integers(2, 17)
budgets = st.sampled_from(
    [Fraction("0.01"), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(20)]
)


@given(st.integers(0, 7), st.integers(0, 10**6))
@examples(30)
def test_the_transform_is_the_matrix(digits: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(-(10**6), 10**6, size=(3, 1 << digits))
    matrix = scipy.linalg.hadamard(1 << digits).astype(np.int64)
    assert (walsh_hadamard(values) == values @ matrix).all()
    big = values.astype(object) * 10**30
    assert (walsh_hadamard(big) == big @ matrix.astype(object)).all()


def test_parity_counts_bits() -> None:
    numbers = np.array([0, 1, 2, 3, 2**40 + 2**3, 2**62 - 1])
    assert parity(numbers).tolist() == [int(n).bit_count() % 2 for n in numbers]


@given(sizes, budgets)
@examples(30)
def test_its_law_is_the_published_one(k: int, epsilon: Fraction) -> None:
    """2 e**eps / (K (1 + e**eps)) where H_K[x + 1, y] = +1 and 2 / (K (1 + e**eps)) elsewhere."""
    mechanism = HadamardResponse(k, epsilon)
    size = 1 << k.bit_length()
    assert mechanism.n_outputs == size
    assert size // 2 < k + 1 <= size
    signs = scipy.linalg.hadamard(size)
    odds = float(exp_lower(epsilon))
    for x, row in enumerate(exact_table(mechanism)):
        expected = np.where(signs[x + 1] > 0, odds, 1) * 2 / (size * (1 + odds))
        assert np.allclose([float(q) for q in row], expected, rtol=1e-9)


@given(sizes, budgets)
@examples(20)
def test_it_is_private_and_not_more(k: int, epsilon: Fraction) -> None:
    mechanism = HadamardResponse(k, epsilon)
    check_budget(mechanism, epsilon, slack=1e-8)
    check_ratios(mechanism)
    assert LDP(epsilon).holds(mechanism.dense())
    assert not LDP(epsilon * Fraction(999, 1000)).holds(mechanism.dense())


@given(sizes, budgets)
@examples(10)
def test_its_estimates_are_unbiased(k: int, epsilon: Fraction) -> None:
    mechanism = HadamardResponse(k, epsilon)
    check_unbiased(mechanism)
    check_moments(mechanism)
    check_outputs(mechanism)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=9).filter(any), budgets)
@examples(30)
def test_its_lifts_are_those_of_all_outputs(counts: list[int], epsilon: Fraction) -> None:
    check_lifts(HadamardResponse(len(counts), epsilon), Prior.from_counts(counts))


def test_the_score_is_the_published_estimator() -> None:
    """2 (e + 1)/(e - 1) (h(S_x) - 1/2), for each report alone."""
    mechanism, e = HadamardResponse(5, 1), np.e
    signs = scipy.linalg.hadamard(8)[1:6]
    assert np.allclose(scores(mechanism), 2 * (e + 1) / (e - 1) * ((signs + 1) / 2 - 0.5))


def test_its_draws_follow_the_law() -> None:
    for k in (2, 3, 5, 8):
        check_draws(HadamardResponse(k, 1), seed=10 * k)


def test_every_record_takes_one_word() -> None:
    """The same seed gives the same numbers to a record, whatever the records before it."""
    mechanism = HadamardResponse(6, 2)
    first = mechanism.privatize([0, 1, 2, 3, 4, 5], rng=3).data
    second = mechanism.privatize([5, 5, 5, 5, 5, 5], rng=3).data
    assert first[5] == second[5]


@pytest.mark.parametrize(
    ("inputs", "epsilon", "words"),
    [
        (1, 1, "inputs: expected at least two inputs, given 1"),
        (["a"], 1, "inputs: expected at least two inputs, given 1"),
        (5, 0, "epsilon: expected a number from 1e-06 to 30, given 0"),
        (5, 31, "epsilon: expected a number from 1e-06 to 30, given 31"),
        (5, -1, "epsilon"),
        (5, float("nan"), "epsilon"),
        (5.5, 1, "size"),
    ],
)
def test_wrong_parameters_are_refused(inputs: object, epsilon: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        HadamardResponse(inputs, epsilon)  # type: ignore[arg-type]


def test_a_report_out_of_range_is_refused() -> None:
    mechanism = HadamardResponse(3, 1)
    with pytest.raises(InputError, match=r"y\[0\]"):
        mechanism.probability(0, 4)
    with pytest.raises(InputError, match="x: expected labels of the domain"):
        mechanism.probability(3, 0)


def test_a_large_domain_needs_no_matrix() -> None:
    mechanism = HadamardResponse(43_750, 1)
    records = np.arange(43_750)
    tally = mechanism.tally(mechanism.privatize(records, rng=1))
    found = mechanism.frequencies(tally)
    error = np.sqrt(found.squares[0] / 43_750)
    assert abs(found.estimates.mean() - 1 / 43_750) < 4 * error / np.sqrt(43_750)
    least, largest = mechanism.lifts(Prior.uniform(43_750))
    assert 0 < least < 1 < largest <= exp_lower(Fraction(1))
