"""Plots of estimates: frequencies with confidence intervals, and maps of a grid or of points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain
from mechdesign.errors import InputError
from mechdesign.estimation import Estimate
from mechdesign.estimation.functionals import numeric_values
from mechdesign.estimation.result import bias_word
from mechdesign.geography.points import HAVERSINE
from mechdesign.plots.style import BLUE, GREY, SKY, TRUTH, label_axis, titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 40
"""Maximum number of inputs for bars."""

SIZE = (6.4, 5.2)
MOST_TICKS = 12
MOST_NAMED = 24
"""Maximum number of points for which indices are drawn."""


def plot_estimate(
    estimate: Estimate, ax: Axes | None = None, confidence: float = 0.95, title: str = ""
) -> Axes:
    """Draw an estimated distribution with its confidence intervals.

    Parameters
    ----------
    estimate
        The estimate to draw.
    ax
        The axes to draw on; default new axes.
    confidence
        Confidence of each interval, above 0 and below 1.
    title
        The title; default the method, its label and the number of reports.

    Returns
    -------
    Axes
        The axes, with bars for up to 40 inputs and a band for more; for numbers in an interval with
        the density. Unknown standard errors have no interval.
    """
    kind = ", ".join(dict.fromkeys([estimate.method, bias_word(estimate.unbiased)]))
    text = title or f"{kind}; {estimate.reports:,} reports"
    ax = titled_axes(ax, text, TRUTH, simulated=estimate.simulated)
    if estimate.stretches is None:
        _draw_inputs(estimate, ax, confidence)
    else:
        _draw_density(estimate, estimate.stretches, ax, confidence)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.legend(framealpha=0.9)  # readable on bars
    return ax


def _draw_density(estimate: Estimate, ends: FloatArray, ax: Axes, confidence: float) -> None:
    """Draw frequencies divided by the widths of their intervals."""
    widths = np.diff(ends, axis=1)[:, 0]
    low, high = estimate.interval(confidence).T / widths
    edges = np.append(ends[:, 0], ends[-1, 1])
    name = f"{100 * confidence:g} % interval"
    ax.stairs(high, edges, baseline=low, fill=True, color=SKY, label=name)
    ax.stairs(estimate.values / widths, edges, baseline=None, color=BLUE, label="estimate")
    ax.set(xlabel="number x (the truth)", ylabel=f"density among the {estimate.target}")


def _draw_inputs(estimate: Estimate, ax: Axes, confidence: float) -> None:
    """Draw a frequency for each input."""
    places = np.arange(len(estimate.values))
    low, high = estimate.interval(confidence).T
    name = f"{100 * confidence:g} % interval"
    if len(places) <= MOST_BARS:
        ax.bar(places, estimate.values, width=0.7, color=SKY, label="estimate")
        known = np.isfinite(low)
        if known.any():
            middle, half = (high + low)[known] / 2, (high - low)[known] / 2
            style: dict[str, Any] = {"fmt": "none", "ecolor": "black", "capsize": 3, "label": name}
            ax.errorbar(places[known], middle, yerr=half, **style)
    else:
        ax.fill_between(places, low, high, step="mid", color=SKY, linewidth=0, label=name)
        ax.step(places, estimate.values, where="mid", color=BLUE, linewidth=1, label="estimate")
    ax.set_ylabel(f"frequency among the {estimate.target}")
    label_axis(ax.xaxis, estimate.inputs.labels)


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
    """
    simulated, name = False, "value"
    if isinstance(values, Estimate):
        domain = values.inputs if domain is None else domain
        title = title or f"{values.method}; {values.reports:,} reports"
        simulated, name = values.simulated, f"frequency among the {values.target}"
    if domain is None or not has_map(domain):
        raise InputError("domain", "a grid or points as the inputs of a map", domain)
    given: Any = values.values if isinstance(values, Estimate) else values
    numbers = numeric_values(domain, given)
    ax = titled_axes(ax, title, size=SIZE, simulated=simulated)
    image = _grid(ax, numbers, domain) if domain.positions is None else _points(ax, numbers, domain)
    rows, columns = domain.grid_shape or (1, 1)
    share = 0.046 * min(1.0, rows / columns)  # as high as a map of squares
    ax.figure.colorbar(image, ax=ax, label=name, fraction=share, pad=0.03)
    return ax


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
