"""One picture for an experiment: ours full, published dashed, crosses where not private."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

from benchmarks.papers.base import Experiment, Pair, Panel

COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
    *("#882255", "#999933"),
)
"""Okabe and Ito's colors, distinct for most color-blind readers, and two of Tol's."""

ABOVE = 1 + 1e-9
"""A leakage that is not within the budget, relative to it."""


def draw(experiment: Experiment, pair: Pair, path: Path) -> Path:
    """Draw all panels and write a PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    across = min(experiment.columns, len(pair[0]))
    down = math.ceil(len(pair[0]) / across)
    size = (max(4.7 * across, 8.5), 4.1 * down + 1.0)
    figure, grid = plt.subplots(down, across, figsize=size, squeeze=False)
    colours = palette(pair)
    for axes, ours, published in itertools.zip_longest(grid.flat, *pair):
        if ours is None:
            axes.axis("off")
        else:
            fill(axes, ours, published, colours)
    handles = legend(pair, colours)
    columns = fitting([each.get_label() for each in handles], size[0], 3 * across)
    above = 0.72 + 0.2 * math.ceil(len(handles) / columns)
    figure.suptitle(f"{experiment.title} ({experiment.data})", fontsize=11)
    figure.tight_layout(rect=(0, above / size[1], 1, 0.99))
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.6 / size[1]),
        ncols=columns,
        fontsize=8,
        frameon=False,
    )
    caption = wrapped(experiment.caption(pair), size[0])
    figure.text(0.5, 0.62 / size[1], caption, ha="center", va="top", fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def fitting(labels: list[str], width: float, most: int) -> int:
    """Return in how many columns a legend of small print fits into a width in inches."""
    for columns in range(min(len(labels), most), 1, -1):
        rows = math.ceil(len(labels) / columns)
        longest = [max(map(len, labels[n : n + rows])) for n in range(0, len(labels), rows)]
        if sum(0.062 * length + 0.65 for length in longest) <= width:
            return columns
    return 1


def wrapped(caption: str, width: float) -> str:
    """Return the caption in lines that fit."""
    import textwrap

    return "\n".join(textwrap.wrap(caption.replace("\n", " "), int(width * 17)))


def palette(pair: Pair) -> dict[str, str]:
    """Return a colour for each curve."""
    names = dict.fromkeys(name for side in pair for panel in side for name in panel.curves)
    return dict(zip(names, itertools.cycle(COLOURS), strict=False))


def fill(axes: Any, ours: Panel, published: Panel, colours: dict[str, str]) -> None:
    """Draw one panel."""
    for panel, line in ((ours, "-"), (published, "--")):
        mark = "o" if panel.ticks else ""
        style = "none" if panel.ticks else line
        for name, values in panel.curves.items():
            filled = colours[name] if line == "-" else "none"
            axes.plot(
                panel.x,
                values,
                color=colours[name],
                ls=style,
                marker=mark,
                ms=7,
                lw=1.5,
                mfc=filled,
            )
    for name, ratios in published.leakage.items():
        places = [
            (x, y)
            for x, y, ratio in zip(published.x, published.curves[name], ratios, strict=True)
            if ratio > ABOVE
        ]
        if places:
            axes.plot(*zip(*places, strict=True), "x", color=colours[name], ms=6)
    axes.set_title(ours.title, fontsize=10)
    axes.set_xlabel(ours.axis, fontsize=9)
    axes.set_ylabel(ours.unit, fontsize=9)
    if "x" in ours.log:
        axes.set_xscale("log")
    if "y" in ours.log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if ours.ticks:
        axes.set_xticks(ours.x, ours.ticks)
    axes.grid(alpha=0.25)


def legend(pair: Pair, colours: dict[str, str]) -> list[Any]:
    """Return what the colours and the lines mean."""
    from matplotlib.lines import Line2D

    found = [Line2D([], [], color=colour, lw=3, label=name) for name, colour in colours.items()]
    if any(panel.ticks for panel in pair[0]):
        marks: dict[str, Any] = {"marker": "o", "ls": "none", "color": "grey"}
        return [
            *found,
            Line2D([], [], label="ours", **marks),
            Line2D([], [], label="published", mfc="none", **marks),
        ]
    found.append(Line2D([], [], color="grey", ls="-", label="ours"))
    found.append(Line2D([], [], color="grey", ls="--", label="published"))
    if any(ratio > ABOVE for panel in pair[1] for each in panel.leakage.values() for ratio in each):
        found.append(Line2D([], [], color="grey", ls="none", marker="x", label="not private"))
    return found
