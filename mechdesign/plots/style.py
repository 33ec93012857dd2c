"""Shared colors, axes, labels and file output of plots."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.errors import InputError
from mechdesign.sampling import SIMULATION
from mechdesign.text import printable, shortened
from mechdesign.writing.atomic import atomic_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, SKY, VERMILION, GREY = "#0072b2", "#56b4e9", "#d55e00", "#595959"
COLORS = (BLUE, VERMILION, "#009e73", "#cc79a7", "#e69f00", SKY, GREY)
"""The palette of Okabe and Ito for color-blind readers, and a grey."""

PALE = "#e6e6e6"
"""The background color of data."""

MARKS = ("o", "s", "^", "D", "v", "P", "X")

MOST_TICKS = 24
LONGEST, LEVEL = 16, 40
"""Maximum length of a label, and of all horizontal labels below an axis together."""

SIZE = (6.0, 4.8)
"""Figure size in inches, which notebooks show without scaling."""

PROBABILITY = "Q(y|x)"
TRUTH, REPORTED = "input x (the truth)", "output y (what is reported)"


def titled_axes(
    ax: Axes | None,
    title: str,
    xlabel: str = "",
    ylabel: str = "",
    *,
    size: tuple[float, float] = SIZE,
    simulated: bool = False,
) -> Axes:
    """Return the given axes, or new ones, with a title and the names of both axes."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_title(plain(title) + f"\n{SIMULATION}" * simulated)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax


def legend_below(ax: Axes, **style: Any) -> Axes:
    """Put the legend below the axes, and return them."""
    given = {"frameon": False, "loc": "upper center", "bbox_to_anchor": (0.5, -0.13), "ncols": 2}
    ax.legend(**(given | style))
    return ax


def heat_map(ax: Axes, matrix: Any, name: str, /, **style: Any) -> Any:
    """Draw a matrix as colors, with a color bar."""
    given = {"cmap": "viridis", "aspect": "auto", "interpolation": "nearest"} | style
    image = ax.imshow(matrix, **given)
    ax.figure.colorbar(image, ax=ax, label=name)
    return image


def probability_map(ax: Axes, matrix: Any, **style: Any) -> Any:
    """Draw probabilities from 0 up, on one color scale in all panels of a figure."""
    from matplotlib.colors import Normalize

    drawn = (image for panel in ax.figure.axes for image in panel.images)
    shared = next((image.norm for image in drawn if image.get_label() == PROBABILITY), None)
    norm: Any = shared or Normalize(0.0, 0.0)
    norm.vmax = max(float(matrix.max()), norm.vmax or 0.0)
    return heat_map(ax, matrix, PROBABILITY, norm=norm, label=PROBABILITY, **style)


def plain(text: str) -> str:
    """Return text on one line that matplotlib does not parse as mathematics."""
    return printable(text).replace("$", r"\$")


def short(label: Any) -> str:
    """Return a label as text, truncated if long."""
    return plain(shortened(label, LONGEST))


def label_axis(axis: Any, labels: Sequence[Any]) -> None:
    """Label the positions 0, 1, 2, ... on an axis, skipping some if there are many."""
    places = range(0, len(labels), -(-len(labels) // MOST_TICKS))
    texts = [short(labels[place]) for place in places]
    upright = axis.axis_name == "x" and len(texts) > 2 and sum(map(len, texts)) > LEVEL
    axis.set_ticks(list(places), texts, rotation=90 if upright else 0)


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
    """
    file = check_picture_name(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(*panels))
    with atomic_file(file) as stream:
        figure.savefig(stream, dpi=150, format=file.suffix.lower().removeprefix("."))
