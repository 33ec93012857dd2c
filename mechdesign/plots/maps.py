"""Maps: a heat map of a grid, colored points in the plane or on the Earth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.estimation import Estimate
from mechdesign.geography.points import HAVERSINE
from mechdesign.labels import aligned, split
from mechdesign.plots.style import GREY, titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 5.2)
MOST_TICKS = 12
MOST_NAMED = 24
"""Maximum number of points for which indices are drawn."""


def has_map(domain: Domain) -> bool:
    """Return whether the inputs have places: a grid with two sides, or points."""
    grid = domain.grid_shape
    return domain.positions is not None or (grid is not None and min(grid) > 1)


def plot_map(
    values: Any, domain: Domain | None = None, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw a number for each point of a grid, the plane or the Earth as a color.

    Parameters
    ----------
    values
        An :class:`~mechdesign.estimation.Estimate`, whose frequencies are drawn, or ``(n_inputs,)``
        numbers, such as a prior or a row of a channel.
    domain
        A grid or points; default the domain of the estimate.
    ax
        The axes to draw on; default new axes.
    title
        The title; default for an estimate its method and the number of reports.

    Returns
    -------
    Axes
        The axes. Rows of a grid go downwards. On the Earth, longitude is horizontal and latitude
        vertical, scaled to equal distances at the middle latitude. If some numbers are negative, as
        in unbiased estimates, 0 is white.

    Raises
    ------
    InputError
        If the inputs have no places, or the number of values is wrong.
    """
    simulated, name = False, "value"
    if isinstance(values, Estimate):
        domain = values.inputs if domain is None else domain
        title = title or f"{values.method}; {values.reports:,} reports"
        simulated, name = values.simulated, f"frequency among the {values.target}"
    if domain is None or not has_map(domain):
        raise InputError("domain", "a grid or points as the inputs of a map", domain)
    numbers = values.values if isinstance(values, Estimate) else _numbers(values, domain)
    if numbers.shape != (len(domain),):
        raise InputError("values", f"{len(domain)} numbers, one for each input", numbers.shape)
    ax = titled_axes(ax, title, size=SIZE, simulated=simulated)
    image = _grid(ax, numbers, domain) if domain.positions is None else _points(ax, numbers, domain)
    rows, columns = domain.grid_shape or (1, 1)
    share = 0.046 * min(1.0, rows / columns)  # as high as a map of squares
    ax.figure.colorbar(image, ax=ax, label=name, fraction=share, pad=0.03)
    return ax


def _numbers(values: Any, domain: Domain) -> FloatArray:
    """Return numbers in the order of the domain, aligned by labels if they have any."""
    given, labels = split(values, "values", "a number for each input")
    found = np.array(aligned([float(each) for each in given], labels, domain.labels, "values"))
    if not np.isfinite(found).all():
        fault = "a value is infinite or not a number"
        raise InputError("values", "finite numbers", "others", fault=fault)
    return found


def _colors(numbers: FloatArray) -> dict[str, Any]:
    """Return the color scale: from 0 up, or diverging from a white 0."""
    low, high = float(numbers.min()), float(numbers.max())
    if low < 0:
        largest = max(-low, high)
        return {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest}
    return {"cmap": "Blues", "vmin": 0.0, "vmax": high or 1.0}


def _grid(ax: Axes, numbers: FloatArray, domain: Domain) -> Any:
    rows, columns = domain.grid_shape or (1, len(domain))
    image = ax.imshow(numbers.reshape(rows, columns), interpolation="nearest", **_colors(numbers))
    ax.set(xlabel="column", ylabel="row")
    for axis, size in ((ax.xaxis, columns), (ax.yaxis, rows)):
        axis.set_ticks(range(0, size, -(-size // MOST_TICKS)))
    return image


def _points(ax: Axes, numbers: FloatArray, domain: Domain) -> Any:
    places = np.array([[float(part) for part in pair] for pair in domain.positions or ()])
    x, y = places.T
    aspect = 1.0
    if domain.metric == HAVERSINE:
        x, y = y, x
        aspect = 1 / max(0.05, math.cos(math.radians(float(y.mean()))))
    size = float(np.clip(12000 / len(numbers), 12, 160))
    image = ax.scatter(x, y, c=numbers, s=size, edgecolors=GREY, linewidths=0.5, **_colors(numbers))
    if len(numbers) <= MOST_NAMED:
        for n, place in enumerate(zip(x, y, strict=True)):
            ax.annotate(str(n), place, xytext=(7, 5), textcoords="offset points", fontsize=8)
    names = ("longitude", "latitude") if domain.metric == HAVERSINE else ("first", "second")
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.set_aspect(aspect, adjustable="datalim")
    ax.margins(0.1)
    ax.ticklabel_format(useOffset=False)
    return image
