"""Plots of a channel on points: the reports of a point on a map."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.continuous import ContinuousChannel, Interval
from mechdesign.errors import InputError, shown
from mechdesign.plots.style import GREY, VERMILION, plain, save_plot, titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

SIZE = (6.4, 5.2)
SIZE_OF_FOUR = (8.4, 7.4)
LARGEST = 420.0
"""The marker area of the most probable report, in square points."""

SHARES = (Fraction(1, 4), Fraction(3, 4))
"""The coordinates of the four points of a picture, relative to the sides."""

PROBABILITY = "probability of the report"


def plot_reports(
    channel: ContinuousChannel, point: Sequence[Any], ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the reports of a point on a map, larger and darker for larger probabilities.

    Parameters
    ----------
    channel
        The channel to draw, whose outputs are points.
    point
        The true point, drawn as a cross.
    ax
        The axes to draw on; default new axes.
    title
        The title.

    Returns
    -------
    Axes
        The axes, with a color bar. Markers are scaled by the largest probability of any report at
        any point, so that pictures of different points are comparable.

    Raises
    ------
    InputError
        If the outputs are not points, or the point is not in the box.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mechdesign.channel import Channel
    >>> rows = [["3/4", "1/4"]] * 2 + [["1/4", "3/4"]] * 2
    >>> nodes = Channel.from_matrix(rows, outputs=[(0, 1), (2, 1)])
    >>> west_or_east = ContinuousChannel([(0, 0), (2, 2)], "linear", [[0, 2], [0, 2]], nodes)
    >>> plot_reports(west_or_east, (0.5, 1), Figure().subplots()).get_title()
    'reports of the cross, (0.5, 1)'
    """
    ax, marks = _draw(channel, point, ax, title)
    ax.figure.colorbar(marks, ax=ax, label=PROBABILITY)
    return ax


def save_reports_plot(
    channel: ContinuousChannel, path: str | os.PathLike[str], title: str = ""
) -> None:
    """Draw the reports of four points of a channel to a PNG, PDF or SVG file.

    The points are a quarter of the sides away from the corners of the box; see
    :func:`plot_reports`.

    Raises
    ------
    InputError
        If the outputs are not points, the extension is unknown, or the file cannot be written.
    """

    def draw(panels: Any) -> None:
        first, second = channel.sides
        shares = product(reversed(SHARES), SHARES)  # the upper row first
        for ax, (v, u) in zip(panels.flat, shares, strict=True):
            sides = ((u, first), (v, second))
            point = [s.low + share * (s.high - s.low) for share, s in sides]
            _, marks = _draw(channel, point, ax, "")
        figure = panels.flat[0].figure
        figure.colorbar(marks, ax=panels, label=PROBABILITY, shrink=0.7)
        figure.suptitle(plain(title))

    save_plot(path, draw, SIZE_OF_FOUR, panels=(2, 2))


def _draw(
    channel: ContinuousChannel, point: Sequence[Any], ax: Axes | None, title: str
) -> tuple[Axes, PathCollection]:
    """Draw one panel without a color bar."""
    try:
        places = np.array(channel.outputs, dtype=float).reshape(-1, 2)
        x, y = places.T
    except (TypeError, ValueError):
        raise InputError("outputs", "points as the outputs", shown(channel.outputs)) from None
    if len(places) != len(channel.outputs):
        raise InputError("outputs", "points as the outputs", shown(channel.outputs))
    truth = tuple(map(float, point))
    title = title or "reports of the cross, ({:g}, {:g})".format(*truth)
    ax = titled_axes(ax, title, "first", "second", size=SIZE)
    shares = np.array([float(share) for share in channel.density(point)])
    largest = float(channel.nodes.matrix.max())
    order = np.argsort(shares)  # the most probable on top
    marks = ax.scatter(
        x[order],
        y[order],
        c=shares[order],
        s=LARGEST * shares[order] / largest,
        cmap="Blues",
        vmin=0.0,
        vmax=largest,
        edgecolors=GREY,
        linewidths=0.5,
    )
    ax.plot(*truth, marker="x", color=VERMILION, markersize=11, markeredgewidth=2.5)
    horizontal, vertical = map(_ends, channel.sides)
    ax.set(xlim=horizontal, ylim=vertical, aspect="equal")
    return ax, marks


def _ends(side: Interval) -> tuple[float, float]:
    """Return the ends of a side with a margin."""
    low, high = float(side.low), float(side.high)
    return low - (high - low) / 20, high + (high - low) / 20
