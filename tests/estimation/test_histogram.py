"""Estimates of a continuous input: the histogram, its quantiles, and the mean through nodes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechdesign import Channel
from mechdesign.continuous import ContinuousChannel
from mechdesign.estimation import ContinuousEstimate, estimate, mean
from mechdesign.mechanisms import GeneralizedRandomizedResponse

N, K = 40_000, 8
NUMBERS = np.random.default_rng(0).beta(2, 5, size=N)
EVEN = [Fraction(n, K) for n in range(K + 1)]


def randomized(kind: str, epsilon: float = 2) -> ContinuousChannel:
    nodes = GeneralizedRandomizedResponse(K + (kind == "linear"), epsilon).dense()
    return ContinuousChannel([0, 1], kind, EVEN, nodes)


def estimated(kind: str, method: str = "unbiased") -> ContinuousEstimate:
    channel = randomized(kind)
    found = estimate(channel, channel.privatize(NUMBERS, rng=5), method=method)
    assert isinstance(found, ContinuousEstimate)
    return found


def test_the_estimate_of_cells_is_the_histogram() -> None:
    found = estimated("cells")
    truth = np.histogram(NUMBERS, K, (0, 1))[0] / N
    assert (np.abs(found.values - truth) < 4 * found.standard_errors).all()
    assert found.inputs.labels[1] == "[0.125, 0.25)"
    assert repr(found).startswith("ContinuousEstimate(8 inputs, from 40000 reports, unbiased")


@pytest.mark.parametrize("q", [0.05, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("kind", ["cells", "linear"])
def test_the_set_of_a_quantile_holds_it_and_its_value(kind: str, q: float) -> None:
    found = estimated(kind).quantile(q, 0.999)
    truth = float(np.quantile(NUMBERS, q))
    assert found.low <= truth <= found.high
    assert found.low <= found.value <= found.high
    assert abs(found.value - truth) < (0.03 if kind == "cells" else 1 / K)


def test_linear_nodes_give_the_mean_without_bias() -> None:
    channel = randomized("linear")
    found = mean(channel, channel.privatize(NUMBERS, rng=6))
    assert abs(found.value - NUMBERS.mean()) < 4 * found.standard_error
    assert found.unbiased


def test_a_half_line_has_no_middle() -> None:
    nodes = Channel.from_matrix(np.eye(3))
    channel = ContinuousChannel([-math.inf, math.inf], "cells", [-math.inf, 0, 10, math.inf], nodes)
    found = estimate(channel, channel.privatize([-5, 1, 2, 3, 50], rng=1))
    assert isinstance(found, ContinuousEstimate)
    assert found.positions.tolist() == [0, 5, 10]
    top = found.quantile(0.9)
    assert (top.value, top.high) == (10, math.inf)
    assert found.quantile(0.5).value == pytest.approx(5)
