"""Pictures of channels. Every function draws on Axes and returns them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.channel import Channel
from mechdesign.errors import InputError
from mechdesign.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["check_picture_name", "plot_channel", "save_channel_plot"]

MOST_TICKS = 24
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
        With the colour scale beside them; small channels have their numbers written in.
    """
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(6.0, 4.8), layout="constrained")
    matrix = channel.matrix
    image = ax.imshow(matrix, cmap="viridis", aspect="auto", vmin=0.0, vmax=float(matrix.max()))
    ax.set(xlabel="output y (what is reported)", ylabel="input x (the truth)")
    ax.set_title(_plain(title))
    _label(ax.xaxis, channel.outputs)
    _label(ax.yaxis, channel.inputs.labels)
    if channel.shape[1] > MOST_NUMBERS // 2 and any(len(str(y)) > 3 for y in channel.outputs):
        ax.tick_params(axis="x", rotation=90)
    if max(channel.shape) <= MOST_NUMBERS:
        for (x, y), entry in np.ndenumerate(matrix):
            bright = entry > 0.6 * matrix.max()
            colour = "black" if bright else "white"
            ax.text(y, x, f"{entry:.3f}", ha="center", va="center", color=colour, fontsize=9)
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
    file = check_picture_name(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.8), layout="constrained")
    plot_channel(channel, figure.subplots(), title)
    try:
        figure.savefig(file, dpi=150)
    except OSError as error:
        raise InputError(str(file), "a file that can be written", error.strerror) from None


def check_picture_name(path: str | os.PathLike[str]) -> Path:
    """Return the path, or raise :class:`InputError` unless it names a picture."""
    file = Path(path)
    if file.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(str(file), "a file name that ends in .png, .pdf or .svg", file.suffix)
    return file


def _label(axis: Any, labels: Sequence[Any]) -> None:
    step = -(-len(labels) // MOST_TICKS)
    places = range(0, len(labels), step)
    shown = [printable(labels[place]) for place in places]
    short = [text if len(text) <= 16 else text[:15] + "…" for text in shown]
    axis.set_ticks(list(places), [_plain(text) for text in short])


def _plain(text: str) -> str:
    """Return text that is not read as mathematics."""
    return printable(text).replace("$", r"\$")
