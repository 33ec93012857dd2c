"""Plots of a continuous channel: kernel, quantiles and loss by x, and reports of a point."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.continuous import ContinuousChannel, Interval
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.plots.style import (
    BLUE,
    GREY,
    REPORTED,
    SKY,
    VERMILION,
    label_axis,
    legend_below,
    plain,
    probability_map,
    save_plot,
    titled_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

X = "x (the truth)"

POSITIONS = 401
"""Number of values x at which a kernel is drawn."""

TAIL = 0.1
"""Drawn length of a half-line, relative to the distance of the finite edges."""

BANDS = ((0.05, 0.95, "90 % of the reports", 0.35), (0.25, 0.75, "half of the reports", 0.7))
"""Lower and upper quantile, label and opacity of each band."""

SIZE = (6.4, 5.2)
SIZE_OF_FOUR = (8.4, 7.4)
LARGEST = 420.0
"""The marker area of the most probable report, in square points."""

SHARES = (Fraction(1, 4), Fraction(3, 4))
"""The coordinates of the four points of a picture, relative to the sides."""

PROBABILITY = "probability of the report"


def plot_kernel(
    channel: ContinuousChannel,
    ax: Axes | None = None,
    title: str = "",
    *,
    span: tuple[Any, Any] | None = None,
) -> Axes:
    """Draw the kernel as a heat map: x on the horizontal axis, a row for each output.

    Parameters
    ----------
    channel
        The channel to draw.
    ax
        The axes to draw on; default new axes.
    title
        The title.
    span
        The least and the largest number to draw; default the interval, with half-lines cut a little
        beyond the finite edges.

    Returns
    -------
    Axes
        The axes, with a color bar.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mechdesign.channel import Channel
    >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> kernel = ContinuousChannel([0, 2], "linear", [0, 2], coin)
    >>> plot_kernel(kernel, Figure().subplots()).get_xlabel()
    'x (the truth)'
    """
    ax, numbers = titled_axes(ax, title, X, REPORTED), _numbers(channel, span)
    extent = (numbers[0], numbers[-1], -0.5, len(channel.outputs) - 0.5)
    probability_map(ax, channel.matrix(numbers).T, origin="lower", extent=extent)
    label_axis(ax.yaxis, channel.outputs)
    return ax


def plot_report_quantiles(
    channel: ContinuousChannel,
    ax: Axes | None = None,
    title: str = "",
    *,
    span: tuple[Any, Any] | None = None,
) -> Axes:
    """Draw the median, the central 50 % and 90 % of the reports by x, and the identity.

    Parameters
    ----------
    channel
        The channel to draw, whose outputs are numbers.
    ax, title, span
        As for :func:`plot_kernel`.
    """
    ax, numbers = titled_axes(ax, title, X, "report y"), _numbers(channel, span)
    for low, high, name, alpha in BANDS:
        ends = channel.report_quantiles(numbers, [low, high]).T
        ax.fill_between(numbers, *ends, color=SKY, alpha=alpha, linewidth=0, label=name)
    median = channel.report_quantiles(numbers, [0.5])[:, 0]
    ax.plot(numbers, median, color=BLUE, linewidth=2, label="median report")
    ax.plot(numbers, numbers, color=GREY, linewidth=1, linestyle="--", label="the truth")
    return legend_below(ax)


def plot_loss(
    channel: ContinuousChannel,
    ax: Axes | None = None,
    title: str = "",
    *,
    distance: str = "absolute",
    span: tuple[Any, Any] | None = None,
    label: str = "",
    color: str = BLUE,
) -> Axes:
    """Draw the expected loss of a report by x; several channels may share axes.

    Parameters
    ----------
    channel
        The channel to draw, whose outputs are numbers.
    ax, title, span
        As for :func:`plot_kernel`.
    distance
        ``"absolute"`` or ``"squared"``.
    label, color
        Label and color of the line.
    """
    ax = titled_axes(ax, title, X, f"expected {distance} error")
    numbers = _numbers(channel, span)
    losses = channel.expected_loss(numbers, distance)
    ax.plot(numbers, losses, color=color, linewidth=2, label=plain(label) or None)
    ax.set_ylim(0, max(1.08 * float(losses.max()), ax.get_ylim()[1]))
    if label:
        ax.legend(frameon=False)
    return ax


def _check_kind(given: Any) -> None:
    if not isinstance(given, ContinuousChannel):
        hint = "pass its .channel" if hasattr(given, "channel") else "plot_channel draws a matrix"
        raise InputError("channel", "a ContinuousChannel", shown_kind(given), hint)


def _numbers(channel: ContinuousChannel, span: tuple[Any, Any] | None) -> FloatArray:
    """Return the numbers at which to draw, including both ends."""
    _check_kind(channel)
    ends = float(channel.sides[0].low), float(channel.sides[0].high)
    if span is None:
        finite = [float(p) for p in channel.points if np.isfinite(float(p))] or [0.0]
        tail = TAIL * (finite[-1] - finite[0]) or 1.0
        low = finite[0] - tail * (ends[0] < finite[0])
        high = finite[-1] + tail * (ends[1] > finite[-1])
    else:
        try:
            low, high = map(float, span)
        except (TypeError, ValueError):
            raise InputError("span", "the least and the largest number", shown(span)) from None
        if not ends[0] <= low < high <= ends[1]:
            raise InputError("span", "two numbers of the interval that rise", shown(span))
    return np.clip(np.linspace(low, high, POSITIONS), low, high)


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
    _check_kind(channel)
    try:
        x, y = np.array(channel.outputs, dtype=float).reshape(len(channel.outputs), 2).T
    except (TypeError, ValueError):
        raise InputError("outputs", "points as the outputs", shown(channel.outputs)) from None
    truth = tuple(map(float, point))
    title = title or "reports of the cross, ({:g}, {:g})".format(*truth)
    ax = titled_axes(ax, title, "first", "second", size=SIZE)
    shares = np.array([float(share) for share in channel.density(point)])
    largest = float(channel.nodes.matrix.max())
    order = np.argsort(shares)  # the most probable on top
    x, y, shares = x[order], y[order], shares[order]
    colors: dict[str, Any] = {"c": shares, "cmap": "Blues", "vmin": 0.0, "vmax": largest}
    colors |= {"edgecolors": GREY, "linewidths": 0.5}
    marks = ax.scatter(x, y, s=LARGEST * shares / largest, **colors)
    ax.plot(*truth, marker="x", color=VERMILION, markersize=11, markeredgewidth=2.5)
    horizontal, vertical = map(_ends, channel.sides)
    ax.set(xlim=horizontal, ylim=vertical, aspect="equal")
    return ax, marks


def _ends(side: Interval) -> tuple[float, float]:
    """Return the ends of a side with a margin."""
    low, high = float(side.low), float(side.high)
    return low - (high - low) / 20, high + (high - low) / 20
