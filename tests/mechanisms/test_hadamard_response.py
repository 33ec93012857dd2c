"""Hadamard response and the Walsh-Hadamard transform, against their definitions."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, strategies as st

from mechdesign import InputError, Prior, load_mechanism, save
from mechdesign.exact import exp_lower
from mechdesign.mechanisms import HadamardResponse
from mechdesign.mechanisms.walsh import parity, walsh_hadamard
from tests.mechanisms_support import (
    exact_table,
    scores,
)
from tests.strategies import examples

sizes = st.integers(2, 17)
FIRST = [10, 21, 3, 2, 5, 22, 16, 21, 31, 1, 9, 1, 16, 16, 31, 13, 10, 1, 22, 10]
"""What the version before copies drew for the inputs 0..19 at epsilon = 5 from the seed 7."""

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
    mechanism = HadamardResponse(k, epsilon, copies=1)
    size = 1 << k.bit_length()
    assert mechanism.n_outputs == size
    assert size // 2 < k + 1 <= size
    signs = scipy.linalg.hadamard(size)
    odds = float(exp_lower(epsilon))
    for x, row in enumerate(exact_table(mechanism)):
        expected = np.where(signs[x + 1] > 0, odds, 1) * 2 / (size * (1 + odds))
        assert np.allclose([float(q) for q in row], expected, rtol=1e-9)


@given(sizes, budgets, st.integers(1, 17))
@examples(30)
def test_the_general_law_is_the_published_one(k: int, epsilon: Fraction, copies: int) -> None:
    """e**eps / (s e**eps + K - s) on the s = b/2 numbers of S_x (Acharya, Sun and Zhang 2019)."""
    mechanism, odds = HadamardResponse(k, epsilon, min(copies, k)), float(exp_lower(epsilon))
    copies = mechanism.copies
    most = -(-k // copies)  # inputs of a block
    b = mechanism.n_outputs // copies
    assert b == 1 << (b.bit_length() - 1)
    assert b // 2 < most + 1 <= b
    signs = scipy.linalg.hadamard(b)
    for x, row in enumerate(exact_table(mechanism)):
        inside = np.zeros((copies, b), dtype=bool)
        inside[x % copies] = signs[x // copies + 1] > 0
        expected = np.where(inside.ravel(), odds, 1) / (b / 2 * (odds + 2 * copies - 1))
        assert np.allclose([float(q) for q in row], expected, rtol=1e-9)


def test_the_score_of_the_general_form_is_the_published_estimator() -> None:
    """2 (e + 2B - 1)/(e - 1) (h(S_x) - h(block)/2), for each report alone."""
    mechanism, odds = HadamardResponse(5, 2, copies=2), np.exp(2)
    signs = scipy.linalg.hadamard(4)
    for x, found in enumerate(scores(mechanism)):
        published = np.zeros((2, 4))
        published[x % 2] = (odds + 3) / (odds - 1) * signs[x // 2 + 1]
        assert np.allclose(found, published.ravel())


@given(sizes, budgets)
@examples(20)
def test_the_default_has_nearly_the_least_risk_and_few_reports(k: int, epsilon: Fraction) -> None:
    every = [HadamardResponse(k, epsilon, copies) for copies in range(1, k + 1)]
    most = 1.01 * min(each.risk for each in every)
    found = HadamardResponse(k, epsilon)
    assert found.risk <= most * (1 + 1e-9)
    assert found.n_outputs == min(each.n_outputs for each in every if each.risk <= most)


def test_the_copies_go_by_the_budget() -> None:
    """One where e**epsilon is small, about e**epsilon / 2 where it is large, one input alone."""
    found = {e: HadamardResponse(10_000, e).copies for e in ("0.1", "1", "3", "5")}
    assert found["0.1"] == found["1"] == 1
    assert 6 <= found["3"] <= 14
    assert 50 <= found["5"] <= 110


def test_a_file_of_the_first_form_means_the_same(tmp_path: Path) -> None:
    """It has no copies in its law; loaded, it is the form for small epsilon, and draws the same."""
    mechanism, file = HadamardResponse(20, 5, copies=1), tmp_path / "m.json"
    save(mechanism, file)
    assert sorted(json.loads(file.read_text())["law"]) == ["held", "kind", "size"]
    loaded = load_mechanism(file).mechanism
    assert loaded == mechanism != HadamardResponse(20, 5)
    records = np.arange(20)
    drawn = loaded.privatize(records, rng=7).data
    assert drawn.tolist() == FIRST


def test_copies_are_saved(tmp_path: Path) -> None:
    for copies in (2, 3, 20):
        save(HadamardResponse(20, 5, copies), tmp_path / "m.json")
        assert load_mechanism(tmp_path / "m.json").mechanism == HadamardResponse(20, 5, copies)


def test_the_score_is_the_published_estimator() -> None:
    """2 (e + 1)/(e - 1) (h(S_x) - 1/2), for each report alone."""
    mechanism, e = HadamardResponse(5, 1), np.e
    signs = scipy.linalg.hadamard(8)[1:6]
    assert np.allclose(scores(mechanism), 2 * (e + 1) / (e - 1) * ((signs + 1) / 2 - 0.5))


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
        (5, (1, 0), "copies: expected a whole number from 1 to 5, given 0"),
        (5, (1, 6), "copies: expected a whole number from 1 to 5, given 6"),
    ],
)
def test_wrong_parameters_are_refused(inputs: object, epsilon: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        HadamardResponse(inputs, *np.atleast_1d(epsilon).tolist())  # type: ignore[arg-type]


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
