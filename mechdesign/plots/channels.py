"""A channel as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.channel import Channel, as_channel
from mechdesign.designs.solution import Solution
from mechdesign.mechanisms import Mechanism
from mechdesign.plots.style import axes_or_new, label_axis, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOST_NUMBERS", "dense_channel", "plot_channel"]

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
        The axes, with a color bar; small channels are annotated with their numbers.
    """
    channel, ax = dense_channel(channel), axes_or_new(ax)
    matrix = channel.matrix
    image = ax.imshow(matrix, cmap="viridis", aspect="auto", vmin=0.0, vmax=float(matrix.max()))
    ax.set(xlabel="output y (what is reported)", ylabel="input x (the truth)")
    ax.set_title(plain(title))
    label_axis(ax.xaxis, channel.outputs)
    label_axis(ax.yaxis, channel.inputs.labels)
    if channel.shape[1] > MOST_NUMBERS // 2 and any(len(str(y)) > 3 for y in channel.outputs):
        ax.tick_params(axis="x", rotation=90)
    if max(channel.shape) <= MOST_NUMBERS:
        for (x, y), entry in np.ndenumerate(matrix):
            bright = entry > 0.6 * matrix.max()
            color = "black" if bright else "white"
            ax.text(y, x, f"{entry:.3f}", ha="center", va="center", color=color, fontsize=9)
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("Q(y|x)")
    return ax
