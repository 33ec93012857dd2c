"""Bar charts of leakages and of relations between notions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.plots.style import BLUE, SKY, titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechdesign.accounting.conversions.relations import Relations
    from mechdesign.accounting.measure.leakage_table import Leakages


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
    _bars(ax, [row.target for row in rows], series, fontsize=9)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    return ax


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
