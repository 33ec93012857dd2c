"""Pictures of channels of points: marks are as large as the reports are likely."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from mechdesign import Channel, InputError, plots
from mechdesign.continuous import ContinuousChannel
from mechdesign.plots.continuous import LARGEST

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
    with pytest.raises(InputError, match="ends in"):
        plots.save_reports_plot(CHANNEL, tmp_path / "reports.txt")


@pytest.mark.parametrize("outputs", [["a", "b", "c"], [0, 1, 2], [(0, 1), (1, 0), 2]])
def test_outputs_that_are_no_points_are_refused(outputs: list[object]) -> None:
    nodes = Channel.from_matrix(ROWS, outputs=outputs)
    with pytest.raises(InputError, match="outputs: expected points"):
        plots.plot_reports(
            ContinuousChannel(BOX, "linear", CHANNEL.axes, nodes), (1, 1), Figure().subplots()
        )


def test_a_point_outside_is_refused() -> None:
    with pytest.raises(InputError, match="x: expected"):
        plots.plot_reports(CHANNEL, (3, 1), Figure().subplots())
