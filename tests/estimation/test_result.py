"""Projections, quantiles, and histograms of continuous inputs."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mechdesign import Channel, Domain, InputError
from mechdesign.collection.records import save_estimate
from mechdesign.continuous import ContinuousChannel
from mechdesign.estimation import Estimate, estimate, mean
from mechdesign.estimation.result import clipped, projected, quantile_of
from mechdesign.mechanisms import GeneralizedRandomizedResponse, HadamardResponse
from mechdesign.plots import plot_estimate, save_plot
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


STEPS = Channel.from_matrix(
    [[0.7, 0.2, 0.1, 0], [0.2, 0.6, 0.1, 0.1], [0.1, 0.1, 0.6, 0.2], [0, 0.1, 0.2, 0.7]]
)


@given(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), st.integers(1, 19))
@examples(30)
def test_without_noise_it_is_the_quantile_of_the_sample(counts: list[int], twentieth: int) -> None:
    labels = [3, -1, 0.5, 10]
    clear = Channel.from_matrix(np.eye(4), inputs=labels)
    found = estimate(clear, counts=counts).quantile(twentieth / 20)
    sample = sorted(x for x, c in zip(labels, counts, strict=True) for _ in range(c))
    assert found.value == sample[-(-twentieth * len(sample) // 20) - 1]
    assert found.low <= found.value <= found.high


def test_the_confidence_set_covers() -> None:
    rng, repeats = np.random.default_rng(5), 600
    truth = np.array([0.2, 0.28, 0.3, 0.22])  # Pr(X <= 1) = 0.48: the median is 2, narrowly
    hits = 0
    for _ in range(repeats):
        found = estimate(STEPS, counts=rng.multinomial(500, truth @ STEPS.matrix)).quantile(
            0.5, 0.9
        )
        assert found.low <= found.value <= found.high
        hits += found.low <= 2 <= found.high
    assert hits / repeats > 0.9 - 4 * math.sqrt(0.09 / repeats)


def test_one_report_gives_no_interval() -> None:
    found = estimate(STEPS, counts=[0, 1, 0, 0]).quantile(0.5)
    assert (found.low, found.high) == (0, 3)


@pytest.mark.slow
def test_a_share_that_rounding_moves_is_reached_by_the_same_values() -> None:
    """Sums of 0.1 are below 0.8 and above 0.3 in floats."""
    clear = Channel.from_matrix(np.eye(10), inputs=list(range(1, 11)))
    found = estimate(clear, counts=[10] * 10)
    assert [found.quantile(n / 10).value for n in range(1, 10)] == list(range(1, 10))


def test_a_quantile_of_many_values_takes_little_memory() -> None:
    """Never all sums at once: of 43,750 values they would be 15 GB."""
    k = 6000
    values, widths = np.full(k, 1 / k), []

    def deviation(weights: Any) -> Any:
        widths.append(weights.size)
        return np.full(len(weights), 0.01)

    found = quantile_of(Domain.range(k), values, deviation, 0.5, 0.95)
    assert (found.value, found.low, found.high) == (2999, 2882, 3117)
    assert max(widths) <= 1 << 22
    assert sum(widths) == k * (k - 1)


N, K = 40_000, 8
NUMBERS = np.random.default_rng(0).beta(2, 5, size=N)
EVEN = [Fraction(n, K) for n in range(K + 1)]


def randomized(kind: str, epsilon: float = 2) -> ContinuousChannel:
    nodes = GeneralizedRandomizedResponse(K + (kind == "linear"), epsilon).dense()
    return ContinuousChannel([0, 1], kind, EVEN, nodes)


def estimated(kind: str, method: str = "unbiased") -> Estimate:
    channel = randomized(kind)
    return estimate(channel, channel.privatize(NUMBERS, rng=5), method=method)


def test_the_estimate_of_cells_is_the_histogram() -> None:
    found = estimated("cells")
    truth = np.histogram(NUMBERS, K, (0, 1))[0] / N
    assert (np.abs(found.values - truth) < 4 * found.standard_errors).all()
    assert found.inputs.labels[1] == "[0.125, 0.25)"
    assert repr(found).startswith("Estimate(8 inputs, from 40000 reports, unbiased")


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
    assert found.stretches.tolist() == [[-10, 0], [0, 10], [10, 20]]
    top = found.quantile(0.9)
    assert (top.value, top.high) == (10, math.inf)
    assert found.quantile(0.5).value == pytest.approx(5)


# Pictures of estimates: every value, its interval, and the label.


WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["$yes$", "no"])


def drawn(found: Estimate) -> Axes:
    axes = Figure().subplots()
    assert plot_estimate(found, axes) is axes
    axes.figure.canvas.draw()
    return axes


def test_bars_and_intervals() -> None:
    found = estimate(WARNER, counts=[60, 40])
    axes = drawn(found)
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(found.values)
    (ends,) = [lines.get_segments() for lines in axes.collections]
    assert np.array(ends)[:, :, 1] == pytest.approx(found.interval())
    assert [text.get_text() for text in axes.get_xticklabels()] == [r"\$yes\$", "no"]
    assert axes.get_title() == "unbiased; 100 reports"
    assert "population" in axes.get_ylabel()


def test_an_unknown_error_has_no_interval_and_a_simulation_is_marked() -> None:
    clear = Channel.from_matrix(np.eye(3))
    found = estimate(clear, clear.privatize([0, 0, 2], rng=1), method="maximum-likelihood")
    axes = drawn(found)
    assert len(axes.patches) == 3
    assert len(axes.collections[0].get_segments()) == 2
    assert "maximum-likelihood, biased" in axes.get_title()
    assert "simulation, not for release" in axes.get_title()


def test_reports_without_spread_have_no_interval_anywhere(tmp_path: Path) -> None:
    found = estimate(WARNER, counts=[3, 0])
    assert not drawn(found).collections
    assert np.isnan(found.interval()).all()
    save_estimate(found, tmp_path / "out.csv")
    rows = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [row.split(",")[2:] for row in rows] == [["", "", ""]] * 2
    assert found.to_json()["standard_errors"] == [None, None]


def test_many_inputs_are_a_band(tmp_path: Path) -> None:
    mechanism = HadamardResponse(120, 1)
    found = estimate(mechanism, mechanism.privatize(np.arange(120), rng=1))
    axes = drawn(found)
    assert not axes.patches
    assert len(axes.get_xticks()) < 30
    save_plot(tmp_path / "estimate.png", lambda ax: plot_estimate(found, ax))
    assert (tmp_path / "estimate.png").stat().st_size > 1000
    with pytest.raises(InputError, match=r"\.png, \.pdf or \.svg"):
        save_plot(tmp_path / "estimate.doc", lambda ax: plot_estimate(found, ax))


@pytest.mark.parametrize("kind", ["cells", "linear"])
def test_numbers_of_an_interval_are_drawn_as_a_density(kind: str) -> None:
    points = [0, 1, 3, 7, 8]
    k = len(points) - (kind == "cells")
    nodes = Channel.from_matrix((np.eye(k) + 1) / (k + 1))
    channel = ContinuousChannel([0, 8], kind, points, nodes)
    found = estimate(channel, channel.privatize(np.linspace(0, 8, 500), rng=1))
    axes = drawn(found)
    band, line = axes.patches
    heights, edges, _ = line.get_data()
    assert edges[[0, -1]].tolist() == [0, 8]
    assert (heights * np.diff(edges)).tolist() == pytest.approx(found.values.tolist())
    high, _, low = band.get_data()
    assert np.column_stack([low, high]) * np.diff(edges)[:, None] == pytest.approx(found.interval())
    assert "density" in axes.get_ylabel()
