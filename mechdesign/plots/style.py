"""Colors, axes, labels and files that all plots share."""

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
"""From the palette of Okabe and Ito, which the color-blind can tell apart; and a grey."""

PALE = "#e6e6e6"
"""The background of the data."""

MARKS = ("o", "s", "^", "D", "v", "P", "X")

MOST_TICKS = 24
LONGEST = 16
"""Letters of a label, at most."""

SIZE = (6.0, 4.8)
"""In inches: what a notebook shows without scaling."""


def axes_or_new(ax: Axes | None, size: tuple[float, float] = SIZE) -> Axes:
    """Return the axes that were given, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=size, layout="constrained")
    return new


def plain(text: str) -> str:
    """Return text that stays on its line and is not read as mathematics."""
    return printable(text).replace("$", r"\$")


def short(label: Any) -> str:
    """Return a label as text, cut where it is long."""
    text = printable(label)
    return plain(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def label_axis(axis: Any, labels: Sequence[Any]) -> None:
    """Name the places 0, 1, 2, ... on an axis, not all of them where they are many."""
    step = -(-len(labels) // MOST_TICKS)
    places = range(0, len(labels), step)
    axis.set_ticks(list(places), [short(labels[place]) for place in places])


def check_picture_name(path: str | os.PathLike[str]) -> Path:
    """Return the path, or raise :class:`InputError` unless it names a picture."""
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

    The file is written whole or not at all.

    Parameters
    ----------
    path
        The file.
    draw
        Is given the axes, as ``lambda ax: plot_channel(channel, ax)``; or an array of them.
    size
        In inches.
    panels
        How many rows and columns of axes there are.

    Raises
    ------
    InputError
        If the name has no ending of a picture, or the file cannot be written.
    """
    file = check_picture_name(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(*panels))
    with atomic_file(file) as stream:
        figure.savefig(stream, dpi=150, format=file.suffix.lower().removeprefix("."))
