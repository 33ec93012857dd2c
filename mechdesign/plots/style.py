"""Shared colors, axes, labels and file output of plots."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.errors import InputError
from mechdesign.text import printable
from mechdesign.writing.atomic import atomic_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BLUE",
    "COLORS",
    "GREY",
    "MARKS",
    "PALE",
    "SKY",
    "VERMILION",
    "axes_or_new",
    "check_picture_name",
    "label_axis",
    "plain",
    "save_plot",
    "short",
]

BLUE, SKY, VERMILION, GREY = "#0072b2", "#56b4e9", "#d55e00", "#595959"
COLORS = (BLUE, VERMILION, "#009e73", "#cc79a7", "#e69f00", SKY, GREY)
"""The palette of Okabe and Ito for color-blind readers, and a grey."""

PALE = "#e6e6e6"
"""The background color of data."""

MARKS = ("o", "s", "^", "D", "v", "P", "X")

MOST_TICKS = 24
LONGEST = 16
"""Maximum length of a label."""

SIZE = (6.0, 4.8)
"""Figure size in inches, which notebooks show without scaling."""


def axes_or_new(ax: Axes | None, size: tuple[float, float] = SIZE) -> Axes:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=size, layout="constrained")
    return new


def plain(text: str) -> str:
    """Return text on one line that matplotlib does not parse as mathematics."""
    return printable(text).replace("$", r"\$")


def short(label: Any) -> str:
    """Return a label as text, truncated if long."""
    text = printable(label)
    return plain(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def label_axis(axis: Any, labels: Sequence[Any]) -> None:
    """Label the positions 0, 1, 2, ... on an axis, skipping some if there are many."""
    step = -(-len(labels) // MOST_TICKS)
    places = range(0, len(labels), step)
    axis.set_ticks(list(places), [short(labels[place]) for place in places])


def check_picture_name(path: str | os.PathLike[str]) -> Path:
    """Return the path, or raise :class:`InputError` unless it has the extension of a picture."""
    file = Path(path)
    if file.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise InputError(str(file), "a file name that ends in .png, .pdf or .svg", file.suffix)
    return file


def save_plot(
    path: str | os.PathLike[str],
    draw: Callable[[Any], object],
    size: tuple[float, float] = SIZE,
    panels: tuple[int, int] = (1, 1),
) -> None:
    """Draw on the axes of a new figure and write it to a PNG, PDF or SVG file.

    The file is written atomically.

    Parameters
    ----------
    path
        The file.
    draw
        A function of the axes, such as ``lambda ax: plot_channel(channel, ax)``, or of an array of
        axes.
    size
        Figure size in inches.
    panels
        The numbers of rows and columns of axes.

    Raises
    ------
    InputError
        If the extension is unknown, or the file cannot be written.
    """
    file = check_picture_name(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(*panels))
    with atomic_file(file) as stream:
        figure.savefig(stream, dpi=150, format=file.suffix.lower().removeprefix("."))
