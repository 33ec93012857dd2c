"""Plots of a continuous channel: its kernel, quantiles of reports, and expected loss by x."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.continuous import ContinuousChannel
from mechdesign.errors import InputError, shown
from mechdesign.plots.style import (
    BLUE,
    GREY,
    REPORTED,
    SKY,
    label_axis,
    plain,
    probability_map,
    titled_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X = "x (the truth)"

POSITIONS = 401
"""Number of values x at which a kernel is drawn."""

TAIL = 0.1
"""Drawn length of a half-line, relative to the distance of the finite edges."""

BANDS = ((0.05, 0.95, "90 % of the reports", 0.35), (0.25, 0.75, "half of the reports", 0.7))
"""Lower and upper quantile, label and opacity of each band."""


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

    Raises
    ------
    InputError
        If the span is invalid, or not inside the interval.

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

    Raises
    ------
    InputError
        If the outputs are not numbers, or the span is not inside the interval.
    """
    ax, numbers = titled_axes(ax, title, X, "report y"), _numbers(channel, span)
    for low, high, name, alpha in BANDS:
        ends = channel.report_quantiles(numbers, [low, high]).T
        ax.fill_between(numbers, *ends, color=SKY, alpha=alpha, linewidth=0, label=name)
    median = channel.report_quantiles(numbers, [0.5])[:, 0]
    ax.plot(numbers, median, color=BLUE, linewidth=2, label="median report")
    ax.plot(numbers, numbers, color=GREY, linewidth=1, linestyle="--", label="the truth")
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    return ax


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

    Raises
    ------
    InputError
        If the outputs are not numbers, the distance is unknown, or the span is not inside the
        interval.
    """
    ax = titled_axes(ax, title, X, f"expected {distance} error")
    numbers = _numbers(channel, span)
    losses = channel.expected_loss(numbers, distance)
    ax.plot(numbers, losses, color=color, linewidth=2, label=plain(label) or None)
    ax.set_ylim(0, max(1.08 * float(losses.max()), ax.get_ylim()[1]))
    if label:
        ax.legend(frameon=False)
    return ax


def _numbers(channel: ContinuousChannel, span: tuple[Any, Any] | None) -> FloatArray:
    """Return the numbers at which to draw, including both ends."""
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
