"""Plots of an estimated distribution with confidence intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.estimation.result import bias_word
from mechdesign.plots.style import BLUE, GREY, SKY, TRUTH, label_axis, titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechdesign.estimation import Estimate

MOST_BARS, MOST_LEVEL = 40, 12
"""Maximum number of inputs for bars, and for horizontal labels."""


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
    ax.legend(frameon=False)
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
        ends = (places[known], low[known], high[known])
        if known.any():
            ax.vlines(*ends, color="black", linewidth=1.2, label=name)
        for end in ends[1:]:
            ax.plot(places[known], end, linestyle="", marker="_", markersize=6, color="black")
    else:
        ax.fill_between(places, low, high, step="mid", color=SKY, linewidth=0, label=name)
        ax.step(places, estimate.values, where="mid", color=BLUE, linewidth=1, label="estimate")
    ax.set_ylabel(f"frequency among the {estimate.target}")
    label_axis(ax.xaxis, estimate.inputs.labels)
    if len(places) > MOST_LEVEL and any(len(str(x)) > 2 for x in estimate.inputs):
        ax.tick_params(axis="x", rotation=90)
