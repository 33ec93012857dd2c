"""Maps and pictures of points: each input in its place, marks as large as reports are likely."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import mechdesign as md
from mechdesign import Channel, Domain, InputError, plots
from mechdesign.cli import main
from mechdesign.continuous import ContinuousChannel
from mechdesign.plots import plot_map, save_plot
from mechdesign.plots.continuous import LARGEST
from tests.refusals_support import check_refused

CITY = Domain.points([["39.9", "116.4"], ["39.8", "116.3"], ["39.95", "116.2"]], "haversine")


def test_a_grid_is_a_heat_map_with_rows_downwards() -> None:
    grid = Domain.grid(2, 3)
    ax = plot_map([0.1, 0.2, 0.3, 0.1, 0.1, 0.2], grid, title="$a$")
    (image,) = ax.images
    assert np.asarray(image.get_array()).tolist() == [[0.1, 0.2, 0.3], [0.1, 0.1, 0.2]]
    low, high = ax.get_ylim()
    assert low > high
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("column", "row", r"\$a\$")
    assert image.get_clim() == (0.0, 0.3)
    plt.close(ax.figure)


def test_places_have_the_longitude_to_the_right() -> None:
    ax = plot_map(pd.Series([0.5, -0.1, 0.6], index=[2, 1, 0]), CITY)
    (dots,) = ax.collections
    offsets = np.asarray(dots.get_offsets())
    assert offsets.tolist() == [[116.4, 39.9], [116.3, 39.8], [116.2, 39.95]]
    assert np.asarray(dots.get_array()).tolist() == [0.6, -0.1, 0.5]  # by label
    assert dots.get_clim() == (-0.6, 0.6)  # zero is white
    assert float(ax.get_aspect()) == pytest.approx(1 / math.cos(math.radians(39.883)), rel=1e-4)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("longitude", "latitude")
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    plt.close(ax.figure)


def test_a_map_of_an_estimate_has_its_title() -> None:
    plane = Domain.points([[0, 0], [1, 0], [0, 1]])
    channel = md.mechanisms.GeneralizedRandomizedResponse(plane, 1)
    ax = plot_map(md.estimate(channel, channel.privatize([0, 1, 2, 2], rng=1)))
    assert ax.get_title().startswith("unbiased; 4 reports\nsimulation")
    plt.close(ax.figure)


def test_inputs_without_coordinates_are_refused(tmp_path: Path) -> None:
    for domain in (None, Domain.range(3), Domain.grid(1, 3)):
        check_refused("domain", plot_map, [0.1, 0.2, 0.7], domain)
    for values in ([0.1, 0.2], [math.nan, 0, 1], 3, "abc"):
        check_refused("values", plot_map, values, CITY)
    with pytest.raises(InputError):
        save_plot(tmp_path / "a.txt", lambda ax: plot_map([0.1, 0.2, 0.7], CITY, ax))


def test_records_of_coordinates_become_a_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    md.save(md.mechanisms.GeneralizedRandomizedResponse(CITY, 20), "city.json")
    rows = "39.901,116.41\n39.96,116.1\n39.7,116.3\n39.7,116.3\n"
    Path("in.csv").write_text("lat,lon\n" + rows, encoding="utf-8")
    assert main(["privatize", "city.json", "in.csv", "out.csv", "--columns", "lat", "lon"]) == 0
    assert Path("out.csv").read_text(encoding="utf-8") == '"lat, lon"\n0\n2\n1\n1\n'
    arguments = ["city.json", "out.csv", "--column", "lat, lon", "--plot", "map.png"]
    assert main(["estimate", *arguments]) == 0
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()
    Path("in.csv").write_text("lat,lon\n39.901,here\n", encoding="utf-8")
    Path("out.csv").unlink()
    assert main(["privatize", "city.json", "in.csv", "out.csv", "--columns", "lat", "lon"]) == 2
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert not Path("out.csv").exists()


# --- pictures of channels of points ---------------------------------------------------------------


OUTPUTS = [(0, 1), (2, 1), (1, 3)]
ROWS = np.random.default_rng(4).dirichlet(np.ones(3), size=4)
BOX = [(0, 0), (2, 4)]
CHANNEL = ContinuousChannel(
    BOX, "linear", [[0, 2], [0, 4]], Channel.from_matrix(ROWS, outputs=OUTPUTS)
)


def test_marks_are_as_large_as_the_reports_are_likely() -> None:
    point = (0.5, 3)
    ax = plots.plot_reports(CHANNEL, point, Figure().subplots())
    (marks,) = ax.collections
    share = dict(zip(OUTPUTS, map(float, CHANNEL.density(point)), strict=True))
    drawn = [share[int(x), int(y)] for x, y in np.asarray(marks.get_offsets())]
    assert drawn == sorted(share.values())
    assert np.asarray(marks.get_array()) == pytest.approx(drawn)
    sizes = LARGEST * np.array(drawn) / CHANNEL.nodes.matrix.max()
    assert marks.get_sizes() == pytest.approx(sizes)
    (truth,) = ax.lines
    assert (list(truth.get_xdata()), list(truth.get_ydata())) == ([0.5], [3])


def test_four_points_are_saved_as_one_picture(tmp_path: Path) -> None:
    plots.save_reports_plot(CHANNEL, tmp_path / "reports.svg", "towns")
    assert b"<svg" in (tmp_path / "reports.svg").read_bytes()
    check_refused("ends in", lambda: plots.save_reports_plot(CHANNEL, tmp_path / "reports.txt"))


@pytest.mark.parametrize("outputs", [["a", "b", "c"], [0, 1, 2], [(0, 1), (1, 0), 2]])
def test_outputs_that_are_no_points_are_refused(outputs: list[object]) -> None:
    nodes = Channel.from_matrix(ROWS, outputs=outputs)
    with pytest.raises(InputError, match="outputs: expected points"):
        plots.plot_reports(
            ContinuousChannel(BOX, "linear", CHANNEL.axes, nodes), (1, 1), Figure().subplots()
        )


def test_a_point_outside_is_refused() -> None:
    check_refused("x: expected", lambda: plots.plot_reports(CHANNEL, (3, 1), Figure().subplots()))
