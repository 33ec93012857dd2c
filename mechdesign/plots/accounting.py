"""Plots of accounting: leakages, relations between notions, and errors of tests between inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import InputError
from mechdesign.plots.style import (
    BLUE,
    COLORS,
    GREY,
    MARKS,
    SKY,
    legend_below,
    plain,
    short,
    titled_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechdesign.accounting.channel_leakage import Leakages
    from mechdesign.accounting.hypothesis_testing import ErrorRegion, TradeOff
    from mechdesign.accounting.implications import Relations


def plot_leakages(leakages: Leakages, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the leakage of a channel under each notion.

    Parameters
    ----------
    leakages
        A result of :func:`~mechdesign.accounting.leakages`.
    ax
        The axes to draw on; default new axes.
    title
        The title.

    Returns
    -------
    Axes
        The axes, with a bar and a number for each notion, the first on top; an infinite leakage is
        a word without a bar.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mechdesign import Channel
    >>> from mechdesign.accounting import leakages
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> ax = plot_leakages(leakages(warner), Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['1.099', '0.4055']
    """
    ax = titled_axes(ax, title, "leakage (nats)", size=(6.4, 3.6))
    rows = leakages.rows
    return _bars(ax, [row.notion for row in rows], {"": [row.value for row in rows]}, fontsize=10)


def plot_relations(relations: Relations, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the guarantees that a guarantee implies under every other notion.

    Parameters
    ----------
    relations
        A result of :func:`~mechdesign.accounting.relations`.
    ax
        The axes to draw on; default new axes.
    title
        The title; default the given guarantee.

    Returns
    -------
    Axes
        The axes, with two bars and their numbers for each notion, the exact value and the papers'
        bound; an unknown value has no bar, and an infinite value is a word.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mechdesign import LIP, Prior
    >>> from mechdesign.accounting import relations
    >>> ax = plot_relations(relations(LIP(1), Prior([0.2, 0.8])), Figure().subplots())
    >>> ax.get_title()
    'LIP(epsilon=1) implies'
    """
    title = title or f"{relations.notion!r} implies"
    ax, rows = titled_axes(ax, title, "nats", size=(6.4, 4.8)), relations.rows
    exact, bounds = [row.tight for row in rows], [row.bound for row in rows]
    series = {"exactly": exact, "bound in closed form": bounds}
    return legend_below(_bars(ax, [row.target for row in rows], series, fontsize=9))


def _bars(
    ax: Axes, names: list[str], series: dict[str, list[float | None]], fontsize: float
) -> Axes:
    """Draw bars with their numbers from the top down, side by side for several series."""
    height, longest = 0.76 / len(series), 1e-9
    for n, ((label, values), color) in enumerate(zip(series.items(), (BLUE, SKY), strict=False)):
        lengths = [0.0 if v is None or math.isinf(v) else v for v in values]
        places = np.arange(len(names)) + (n - (len(series) - 1) / 2) * (height + 0.02)
        bars = ax.barh(places, lengths, height=height, color=color, label=label)
        words = ["" if v is None else "infinite" if math.isinf(v) else f"{v:.4g}" for v in values]
        ax.bar_label(bars, words, padding=3, fontsize=fontsize)
        longest = max(longest, *lengths)
    ax.set_yticks(np.arange(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.18 * longest)
    return ax


def plot_error_region(
    curves: TradeOff | Iterable[TradeOff] = (),
    region: ErrorRegion | None = None,
    ax: Axes | None = None,
    title: str = "",
    *,
    labels: Sequence[str] | None = None,
) -> Axes:
    """Draw the errors of the best tests between two inputs, and the region that a notion allows.

    Parameters
    ----------
    curves
        One or several results of :func:`~mechdesign.accounting.trade_off`.
    region
        The region of two budgets, from :func:`~mechdesign.accounting.error_region`; None for none.
    ax
        The axes to draw on; default new square axes.
    title
        The title.
    labels
        A label for each curve; default its two inputs.

    Returns
    -------
    Axes
        The axes, with the region shaded up to the line of random guessing, alarm + missed = 1, and
        a line with a marker at each corner for every curve. A curve outside the shaded region
        violates the budgets.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mechdesign import Channel
    >>> from mechdesign.accounting import trade_off
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> ax = plot_error_region(trade_off(warner, 0, 1), ax=Figure().subplots())
    >>> ax.lines[0].get_xydata().tolist()
    [[0.0, 1.0], [0.25, 0.25], [1.0, 0.0]]
    """
    from mechdesign.accounting.hypothesis_testing import TradeOff

    ax = titled_axes(ax, title, "false alarm rate", "missed detection rate", size=(5.2, 5.2))
    if region is not None:
        edge = region.corners
        ax.fill(*zip(*edge, strict=True), color=SKY, alpha=0.35, linewidth=0, label=_name(region))
        ax.plot(*zip(*edge, strict=True), color=GREY, linewidth=1)
    listed = [curves] if isinstance(curves, TradeOff) else list(curves)
    if labels is not None and len(labels) != len(listed):
        raise InputError("labels", f"{len(listed)} names, one for each curve", len(labels))
    for n, curve in enumerate(listed):
        alarms, missed = zip(*((float(a), float(b)) for a, b in curve.points), strict=True)
        label = f"best tests, {short(curve.x)} against {short(curve.other)}"
        label = label if labels is None else plain(labels[n])
        color, mark = COLORS[n % len(COLORS)], MARKS[n % len(MARKS)]
        ax.plot(alarms, missed, color=color, marker=mark, label=label, markersize=5, clip_on=False)
    ax.plot([0, 1], [1, 0], color=GREY, linewidth=1, linestyle="--", label="guessing")
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.legend(frameon=False, loc="upper right")
    return ax


def _name(region: ErrorRegion) -> str:
    """Return the budgets of a region as text."""
    ends = ["inf" if e is None else f"{float(e):.4g}" for e in (region.forward, region.back)]
    return f"allowed at {', '.join(dict.fromkeys(ends))} nats"
