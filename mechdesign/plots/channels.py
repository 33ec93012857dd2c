"""A channel as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.channel import Channel, as_channel
from mechdesign.designs.solution import Solution
from mechdesign.mechanisms import Mechanism
from mechdesign.plots.style import REPORTED, TRUTH, label_axis, probability_map, titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NUMBERS = 12


def dense_channel(given: Any) -> Channel:
    """Return the matrix of a channel, a structured mechanism or a solution."""
    return as_channel(given.dense() if isinstance(given, Mechanism | Solution) else given)


def plot_channel(
    channel: Channel | Mechanism | Solution, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw a channel as a heat map: a row for each input, a column for each output.

    Parameters
    ----------
    channel
        The channel, structured mechanism or solution to draw.
    ax
        The axes to draw on; default new axes.
    title
        The title.

    Returns
    -------
    Axes
        The axes, with a color bar; small channels are annotated with their numbers. Channels in
        panels of one figure share a color scale.
    """
    channel, ax = dense_channel(channel), titled_axes(ax, title, REPORTED, TRUTH)
    matrix = channel.matrix
    probability_map(ax, matrix)
    label_axis(ax.xaxis, channel.outputs)
    label_axis(ax.yaxis, channel.inputs.labels)
    if channel.shape[1] > MOST_NUMBERS // 2 and any(len(str(y)) > 3 for y in channel.outputs):
        ax.tick_params(axis="x", rotation=90)
    if max(channel.shape) <= MOST_NUMBERS:
        from matplotlib.patheffects import withStroke

        outline = [withStroke(linewidth=1.5, foreground="black")]  # legible on every color
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "color": "white"}
        for (x, y), entry in np.ndenumerate(matrix):
            ax.text(y, x, f"{entry:.3f}", path_effects=outline, **style)
    return ax
