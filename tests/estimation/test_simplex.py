"""Projections: against a quadratic program, and what they may not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign import Channel
from mechdesign.estimation import estimate
from mechdesign.estimation.result import clipped, projected
from tests.strategies import examples, simplex

vectors = st.lists(st.integers(-40, 60), min_size=1, max_size=7).map(
    lambda v: np.array(v, dtype=float) / 20
)


@given(vectors)
@examples(60)
def test_the_projection_meets_the_conditions_of_the_nearest_point(v: np.ndarray) -> None:
    p = projected(v)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)
    slope = 2 * (p - v)  # the gradient is least, and equal, where p is positive
    assert slope[p > 0] == pytest.approx(slope.min(), abs=1e-9)


@given(vectors, st.data())
@examples(40)
def test_the_projection_is_nearer_to_every_distribution(v: np.ndarray, data: st.DataObject) -> None:
    p = np.array([float(q) for q in data.draw(simplex(len(v)))])
    assert np.linalg.norm(projected(v) - p) <= np.linalg.norm(v - p) + 1e-12
    assert projected(p) == pytest.approx(p)
    assert clipped(p) == pytest.approx(p)


@given(vectors)
@examples(30)
def test_clipping_keeps_the_ratios_of_positive_entries(v: np.ndarray) -> None:
    p = clipped(v)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)
    positive = np.maximum(v, 0)
    if positive.any():
        assert p * positive.sum() == pytest.approx(positive)
    else:
        assert p == pytest.approx(1 / len(v))


def test_as_methods_and_by_name_they_are_the_same() -> None:
    warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    raw = estimate(warner, counts=[1, 9])
    assert raw.unbiased
    assert raw.values.min() < 0
    for name, found in (("projected", raw.projected()), ("clipped", raw.clipped())):
        assert estimate(warner, counts=[1, 9], method=name).to_json() == found.to_json()
        assert found.method == name
        assert not found.unbiased
        assert found.values == pytest.approx([0, 1])
        assert "standard errors are those of the unbiased estimate" in repr(found)
