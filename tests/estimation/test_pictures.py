"""Pictures of estimates: every value, its interval, and the label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mechdesign import Channel, InputError
from mechdesign.collection.records import save_estimate
from mechdesign.continuous import ContinuousChannel
from mechdesign.estimation import Estimate, estimate
from mechdesign.mechanisms import HadamardResponse
from mechdesign.plots import plot_estimate, save_plot

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
