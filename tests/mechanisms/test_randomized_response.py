"""k-ary randomized response drawn without a matrix, against its definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from mechdesign.exact import exp_lower
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from tests.mechanisms_support import (
    exact_table,
)
from tests.strategies import examples

sizes = st.integers(2, 20)
budgets = st.sampled_from(
    [Fraction("0.01"), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(20)]
)


@given(sizes, budgets)
@examples(30)
def test_its_law_is_the_published_one(k: int, epsilon: Fraction) -> None:
    mechanism = GeneralizedRandomizedResponse(k, epsilon)
    odds = float(exp_lower(epsilon))
    expected = np.where(np.eye(k, dtype=bool), odds, 1) / (odds + k - 1)
    found = [[float(q) for q in row] for row in exact_table(mechanism)]
    assert np.allclose(found, expected, rtol=1e-8)


@given(sizes, budgets)
@examples(10)
def test_the_matrix_is_the_mechanism(k: int, epsilon: Fraction) -> None:
    """Its masses are multiples of 2**-62, so that nothing is rounded."""
    mechanism = GeneralizedRandomizedResponse(k, epsilon)
    dense = mechanism.dense()
    assert [[dense.probability(x, y) for y in range(k)] for x in range(k)] == exact_table(mechanism)


def test_labels_go_in_and_out() -> None:
    mechanism = GeneralizedRandomizedResponse(["red", "green"], 20)
    reports = mechanism.privatize(["red", "green", "green"], rng=1)
    assert reports.labels() == ["red", "green", "green"]
    assert mechanism == GeneralizedRandomizedResponse(["red", "green"], 20)
    assert mechanism != GeneralizedRandomizedResponse(["red", "green"], 19)
