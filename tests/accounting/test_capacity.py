"""Capacity: against closed forms and the two-sided bound."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from mechdesign import Channel, MutualInformation, Prior
from mechdesign.accounting import capacity
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


@examples(15)
@given(channels(3))
def test_the_law_attains_the_capacity_and_no_law_more(channel: Channel) -> None:
    found = capacity(channel)
    information = MutualInformation().value(channel, found.prior)
    assert found.low <= float(information) + 1e-15
    assert information <= Fraction(found.high)
    for other in (Prior.uniform(3), Prior([0.5, 0.25, 0.25]), Prior([0.01, 0.01, 0.98])):
        assert MutualInformation().value(channel, other) <= Fraction(found.high)
    assert found.high - found.low <= 1e-12
