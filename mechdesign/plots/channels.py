"""A channel as a heat map."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.channel import Channel
from mechdesign.plots.style import axes_or_new, label_axis, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOST_NUMBERS", "plot_channel", "save_channel_plot"]

MOST_NUMBERS = 12


def plot_channel(channel: Channel, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw a channel as a heat map: a row for each input, a column for each output.

    Parameters
    ----------
    channel
        What to draw.
    ax
        Where; default new axes.
    title
        What to write above.

    Returns
    -------
    Axes
        With the color scale beside them; small channels have their numbers written in.
    """
    ax = axes_or_new(ax)
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


def save_channel_plot(channel: Channel, path: str | os.PathLike[str], title: str = "") -> None:
    """Draw a channel to a PNG, PDF or SVG file.

    Raises
    ------
    InputError
        If the name has no such ending, or the file cannot be written.
    """
    save(path, lambda ax: plot_channel(channel, ax, title))
