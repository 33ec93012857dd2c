"""Hadamard response and the Walsh-Hadamard transform, against their definitions."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy.linalg
from hypothesis import given, strategies as st

from mechdesign import load_mechanism, save
from mechdesign.mechanisms import HadamardResponse
from mechdesign.mechanisms.hadamard_response import walsh_hadamard
from tests.mechanisms_support import scores
from tests.strategies import examples

sizes = st.integers(2, 17)
FIRST = [10, 21, 3, 2, 5, 22, 16, 21, 31, 1, 9, 1, 16, 16, 31, 13, 10, 1, 22, 10]
"""What the version before copies drew for the inputs 0..19 at epsilon = 5 from the seed 7."""

budgets = st.sampled_from(
    [Fraction("0.01"), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(20)]
)


@given(st.integers(0, 7), st.integers(0, 10**6))
@examples(15)
def test_the_transform_is_the_matrix(digits: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(-(10**6), 10**6, size=(3, 1 << digits))
    matrix = scipy.linalg.hadamard(1 << digits).astype(np.int64)
    assert (walsh_hadamard(values) == values @ matrix).all()
    big = values.astype(object) * 10**30
    assert (walsh_hadamard(big) == big @ matrix.astype(object)).all()


def test_the_score_of_the_general_form_is_the_published_estimator() -> None:
    """2 (e + 2B - 1)/(e - 1) (h(S_x) - h(block)/2), for each report alone."""
    mechanism, odds = HadamardResponse(5, 2, copies=2), np.exp(2)
    signs = scipy.linalg.hadamard(4)
    for x, found in enumerate(scores(mechanism)):
        published = np.zeros((2, 4))
        published[x % 2] = (odds + 3) / (odds - 1) * signs[x // 2 + 1]
        assert np.allclose(found, published.ravel())


@given(sizes, budgets)
@examples(10)
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
