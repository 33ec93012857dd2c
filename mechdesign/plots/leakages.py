"""Bar charts of leakages and of relations between notions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.plots.style import BLUE, SKY, axes_or_new, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechdesign.accounting.conversions.relations import Relations
    from mechdesign.accounting.measure.leakage_table import Leakages

__all__ = ["plot_leakages", "plot_relations"]


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
    ax = axes_or_new(ax, (6.4, 3.6))
    values = [row.value for row in leakages.rows]
    heights = [value if math.isfinite(value) else 0.0 for value in values]
    bars = ax.barh(np.arange(len(values)), heights, height=0.7, color=BLUE)
    words = [f"{value:.4g}" if math.isfinite(value) else "infinite" for value in values]
    ax.bar_label(bars, words, padding=3)
    _name_rows(ax, [row.notion for row in leakages.rows], heights)
    ax.set_xlabel("leakage (nats)")
    ax.set_title(plain(title))
    return ax


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
    ax = axes_or_new(ax, (6.4, 4.8))
    rows, ends = relations.rows, []
    sides = (("exactly", BLUE, -0.2), ("bound in closed form", SKY, 0.2))
    for n, (label, color, shift) in enumerate(sides):
        values = [(row.tight, row.bound)[n] for row in rows]
        heights = [0.0 if v is None or math.isinf(v) else v for v in values]
        places = np.arange(len(rows)) + shift
        bars = ax.barh(places, heights, height=0.38, color=color, label=label)
        words = ["" if v is None else "infinite" if math.isinf(v) else f"{v:.4g}" for v in values]
        ax.bar_label(bars, words, padding=3, fontsize=9)
        ends += heights
    _name_rows(ax, [row.target for row in rows], ends)
    ax.set_xlabel("nats")
    ax.set_title(plain(title or f"{relations.notion!r} implies"))
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    return ax


def _name_rows(ax: Axes, names: list[str], heights: list[float]) -> None:
    """Label the bars from the top down, and leave room for the numbers."""
    ax.set_yticks(np.arange(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.18 * max([*heights, 1e-9]))
