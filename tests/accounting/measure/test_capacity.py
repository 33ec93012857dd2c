"""Capacity: against closed forms, cvxpy, and the two-sided bound; and under LDP against designs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from mechdesign import LDP, Channel, MutualInformation, Prior, Problem, design
from mechdesign.accounting import capacity, ldp_capacity
from tests.strategies import channels, examples


def entropy(p: float) -> float:
    return -sum(v * math.log(v) for v in (p, 1 - p) if v)


KNOWN: dict[str, tuple[list[list[Any]], float]] = {
    "binary symmetric": ([["0.9", "0.1"], ["0.1", "0.9"]], math.log(2) - entropy(0.1)),
    "erasure": ([["0.7", 0, "0.3"], [0, "0.7", "0.3"]], 0.7 * math.log(2)),
    "Z": ([[1, 0], ["0.5", "0.5"]], math.log(1.25)),
    "nothing": ([["0.5", "0.5"], ["0.5", "0.5"], ["0.5", "0.5"]], 0.0),
    "everything": (np.eye(4).tolist(), math.log(4)),
    "an input that is best left out": (
        [[1, 0], [0, 1], ["0.5", "0.5"]],
        math.log(2),
    ),
    "an output that is never sent": ([[1, 0, 0], [0, 1, 0], [0, 1, 0]], math.log(2)),
    "one input": ([["0.5", "0.5"]], 0.0),
    "typewriter": (
        [["0.5", "0.5", 0, 0], [0, "0.5", "0.5", 0], [0, 0, "0.5", "0.5"], ["0.5", 0, 0, "0.5"]],
        math.log(2),
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_capacities_are_enclosed(name: str) -> None:
    matrix, value = KNOWN[name]
    found = capacity(Channel.from_matrix(matrix))
    assert found.low <= value + 1e-15
    assert found.high >= value - 1e-15
    assert 0 <= found.high - found.low <= 1e-12


@examples(40)
@given(channels(3))
def test_the_law_attains_the_capacity_and_no_law_more(channel: Channel) -> None:
    found = capacity(channel)
    information = MutualInformation().value(channel, found.prior)
    assert found.low <= float(information) + 1e-15
    assert information <= Fraction(found.high)
    for other in (Prior.uniform(3), Prior([0.5, 0.25, 0.25]), Prior([0.01, 0.01, 0.98])):
        assert MutualInformation().value(channel, other) <= Fraction(found.high)
    assert found.high - found.low <= 1e-12


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_no_private_channel_carries_more(epsilon: str, k: int) -> None:
    """Designs at several laws, and the capacity of each, are at most the bound of LDP."""
    bounds, rng = ldp_capacity(epsilon, k), np.random.default_rng(k)
    most = 0.0
    for prior in ([1 / k] * k, [0.5, 0.5, *[0] * (k - 2)], *rng.dirichlet(np.ones(k), 3).tolist()):
        problem = Problem(range(k), LDP(epsilon), MutualInformation(), prior=prior)
        most = max(most, capacity(design(problem).channel).low)
    assert most <= bounds.high
    if k == 2:
        assert math.isclose(most, bounds.low, rel_tol=1e-9)
        assert bounds.high - bounds.low <= 1e-15


def test_from_below_it_is_attained() -> None:
    """Three inputs: the uniform law at epsilon 1, and two of them at a small budget."""
    for epsilon, prior in ((1, [1 / 3] * 3), ("0.1", [0.5, 0.5, 0])):
        problem = Problem(3, LDP(epsilon), MutualInformation(), prior=prior)
        value = design(problem).value
        assert math.isclose(value, ldp_capacity(epsilon, 3).low, rel_tol=1e-12)
    even = design(Problem(3, LDP("0.1"), MutualInformation())).value
    assert even < 0.92 * ldp_capacity("0.1", 3).low


def test_many_inputs_close_the_gap() -> None:
    for epsilon in (0, "0.01", 1, 5):
        bounds = ldp_capacity(epsilon, 2000)
        assert 0 <= bounds.low <= bounds.high
        assert bounds.high - bounds.low <= 1e-6 * bounds.high
    assert ldp_capacity(1000, 4).low <= math.log(4)
    assert math.isclose(ldp_capacity("0.001", 50).high, 1e-6 / 8, rel_tol=1e-3)


@pytest.mark.parametrize("k", [2, 3, 1000, 10**90])
@pytest.mark.parametrize("epsilon", ["1e-4", "1e-10", "1e-30", "1e-200", 400, 5000, 10**90])
def test_tiny_and_huge_budgets_have_bounds(epsilon: Any, k: int) -> None:
    """It is nearly eps**2 / 8 at first, and at last ln k."""
    bounds, small = ldp_capacity(epsilon, k), Fraction(epsilon)
    assert 0 <= bounds.low <= bounds.high
    if small < 1:
        assert bounds.low <= small**2 / 8  # c - 1 - ln c <= (c - 1)**2 / 2 is a little more
        assert bounds.high <= small**2 / 7 + Fraction(1, 10**40)
    else:
        assert math.isclose(bounds.high, math.log(k), rel_tol=1e-12) or small < math.log(k)
        if k == 3:
            assert math.isclose(bounds.low, math.log(3), rel_tol=1e-12)
