"""Plots of a channel: its matrix, and the posterior at each output against the prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mechdesign.channel import Channel, as_channel
from mechdesign.designs.solution import Solution
from mechdesign.mechanisms import Mechanism
from mechdesign.plots.style import (
    COLORS,
    GREY,
    REPORTED,
    TRUTH,
    heat_map,
    label_axis,
    probability_map,
    short,
    titled_axes,
)
from mechdesign.prior import Prior, prior_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NUMBERS = 12
"""The largest channel whose entries are written as numbers."""

MOST_BARS = 60
"""Maximum number of bars; with more, or with more inputs than colors, a map is drawn."""

WIDTH = 0.8


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
    if max(channel.shape) <= MOST_NUMBERS:
        from matplotlib.patheffects import withStroke

        outline = [withStroke(linewidth=1.5, foreground="black")]  # legible on every color
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "color": "white"}
        for (x, y), entry in np.ndenumerate(matrix):
            ax.text(y, x, f"{entry:.3f}", path_effects=outline, **style)
    return ax


def plot_posterior(
    channel: Channel | Mechanism | Solution, prior: Any, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the posterior of the inputs at each output, beside the prior.

    Parameters
    ----------
    channel
        The channel, structured mechanism or solution to draw.
    prior
        The distribution of the input: a Prior, or probabilities by label or in order.
    ax
        The axes to draw on; default new axes.
    title
        The title.

    Returns
    -------
    Axes
        The axes, with a group of bars P(x|y) for each output y, and a black line at P(x) for each
        bar. For too many bars, a map of ln P(x|y) / P(x) in nats with a color bar, grey where the
        posterior is 0. Impossible outputs stay empty.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> ax = plot_posterior(warner, Prior([0.5, 0.5]), Figure().subplots())
    >>> [float(bar.get_height()) for bar in ax.patches]
    [0.75, 0.25, 0.25, 0.75]
    """
    channel = dense_channel(channel)
    prior = prior_on(prior, channel.inputs)
    posterior = channel.posterior(prior)
    ax = titled_axes(ax, title, REPORTED, size=(6.4, 4.4))
    if posterior.size <= MOST_BARS and len(posterior) <= len(COLORS):
        _bars(ax, channel, prior, posterior)
    else:
        _map(ax, channel, prior, posterior)
    label_axis(ax.xaxis, channel.outputs)
    return ax


def _bars(ax: Axes, channel: Channel, prior: Prior, posterior: npt.NDArray[np.float64]) -> None:
    """Draw a group of bars for each output."""
    k, m = posterior.shape
    width = WIDTH / k
    line: Any = None
    for x, label in enumerate(channel.inputs.labels):
        places = np.arange(m) + (x - (k - 1) / 2) * width
        heights = np.nan_to_num(posterior[x])
        ax.bar(places, heights, 0.9 * width, color=COLORS[x], label=short(label))
        ends = places - 0.45 * width, places + 0.45 * width
        line = ax.hlines(np.full(m, prior.array[x]), *ends, color="black", linewidth=2)
    line.set_label("prior P(x)")
    ax.set_ylabel("posterior P(x|y)")
    ax.set_ylim(0, 1.05 * max(float(np.nanmax(posterior)), float(prior.array.max())))
    ax.legend(title="input x", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _map(ax: Axes, channel: Channel, prior: Prior, posterior: npt.NDArray[np.float64]) -> None:
    """Draw the log-lift on a diverging scale from red to violet."""
    import matplotlib as mpl

    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.log(posterior / prior.array[:, None])
    known = np.isfinite(lift)
    largest = float(np.abs(lift[known]).max(initial=1e-9))
    colors = mpl.colormaps["PuOr_r"].with_extremes(bad=GREY)
    name, shown = "ln P(x|y) / P(x) (nats); grey: P(x|y) = 0", np.ma.masked_where(~known, lift)
    heat_map(ax, shown, name, cmap=colors, vmin=-largest, vmax=largest)
    ax.set_ylabel(TRUTH)
    label_axis(ax.yaxis, channel.inputs.labels)
