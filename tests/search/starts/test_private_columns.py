"""Columns that are known to be private: they are, and farther out they are not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mechdesign as md
from mechdesign.notions import Cone
from mechdesign.search.starts.baseline import FARTHEST, inside, raised, reach
from tests.strategies import examples

SLACK = 1e-9

PLANE = md.MetricPrivacy("0.5", "euclidean")
NOTIONS: dict[str, Any] = {
    "ldp": md.LDP(1),
    "lip": md.LIP("0.5"),
    "pml": md.PML("0.5"),
    "lift": md.AsymmetricLift("0.2", "inf"),
    "block": md.BlockLDP(1, blocks=[[(0, 0), (0, 1)], [(0, 2), (1, 0), (1, 1), (1, 2)]]),
    "context-aware": md.ContextAwareLDP(
        [[0 if x == y else 1 + (x * y) % 3 for y in range(6)] for x in range(6)]
    ),
    "metric": PLANE,
    "walk": md.MetricPrivacy("0.3", "manhattan"),
    "set of priors": md.BoundedPriorLIP(1, lower=["0.05"] * 6, upper=["0.4"] * 6),
    "two": [PLANE, md.LIP(1)],
}


def cone_of(name: str) -> Cone:
    prior = [0.1, 0.2, 0.3, 0.1, 0.2, 0.1]
    return md.Problem(md.Domain.grid(2, 3), NOTIONS[name], md.HammingLoss(), prior=prior).cone


def excess(cone: Cone, columns: np.ndarray) -> float:
    """Return the largest left side of the rows G q <= 0, of columns with largest entry 1."""
    return float((cone.matrix() @ (columns / np.maximum(columns.max(axis=0), SLACK))).max())


@given(st.data())
@examples(25)
@pytest.mark.parametrize("name", NOTIONS)
def test_reach_is_the_end_of_the_private_segment(name: str, data: st.DataObject) -> None:
    cone = cone_of(name)
    numbers = st.integers(-9, 9).map(float)
    v = np.array(data.draw(st.lists(numbers, min_size=6, max_size=6)))[:, None]
    (t,) = reach(cone, v)
    assert t >= 0
    assert excess(cone, 1 + t * v) <= SLACK
    assert (1 + t * v).min() >= -SLACK * (1 + t)
    if t < FARTHEST:
        farther = 1 + (1.001 * t + 1e-6) * v
        assert farther.min() < 0 or excess(cone, farther) > 0


@pytest.mark.parametrize("name", NOTIONS)
def test_all_columns_are_private(name: str) -> None:
    cone = cone_of(name)
    sets = np.array([[x >> y & 1 for y in range(3)] for x in range(1, 7)], dtype=float)
    assert excess(cone, raised(cone, sets)) <= SLACK
    assert excess(cone, inside(cone, sets)) <= SLACK


@pytest.mark.parametrize("name", NOTIONS)
def test_a_raised_column_and_another_private_one_make_a_channel(name: str) -> None:
    cone = cone_of(name)
    columns = raised(cone, np.eye(6))
    others = inside(cone, -columns)
    assert excess(cone, others) <= SLACK
    for column, other in zip(columns.T, others.T, strict=True):
        weights, residual, *_ = np.linalg.lstsq(np.column_stack([column, other]), np.ones(6))
        assert residual.sum() == pytest.approx(0, abs=1e-12)
        assert weights.min() >= -SLACK


def test_on_a_line_the_exponentials_are_the_truncated_geometric_mechanism() -> None:
    """Inside, each has the size (1 - a) / (1 + a); the ends have 1 / (1 + a); a = 1 / e."""
    cone = Cone([md.MetricPrivacy(1, "absolute").family(md.Domain.range(7))])
    sizes = np.linalg.solve(raised(cone, np.eye(7)), np.ones(7))
    a = math.exp(-1)
    assert sizes == pytest.approx([1 / (1 + a), *[(1 - a) / (1 + a)] * 5, 1 / (1 + a)])
