"""One page of small maps: where each closed form is optimal, private, or neither."""

from __future__ import annotations

import io
import math
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.atlas.base import Entry, FloatArray, Region
from benchmarks.atlas.cell import Cell
from benchmarks.atlas.formulas import FORMULAS
from benchmarks.atlas.table import Atlas, Summary
from mechdesign.plots import check_picture_name
from mechdesign.plots.style import SKY, VERMILION
from mechdesign.writing.atomic import atomic_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = {Region.OPTIMAL: SKY, Region.FEASIBLE: "#f6eec2", Region.INFEASIBLE: VERMILION}
"""For the color-blind; they differ in lightness as well."""

MEANINGS = {
    Region.OPTIMAL: "optimal: private, and no private channel is better",
    Region.FEASIBLE: "feasible: private, not optimal",
    Region.INFEASIBLE: "infeasible: not private",
}
COLUMNS = 5
LOSSES = (1.01, 1.1, 1.3, 1.6, 2.0, 3.0, 5.0)
LEAKAGES = (1.2, 2.0, 4.0, 8.0, 16.0)
TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SMALL = 7.5
MANY = 1.995
"""From this loss on, by the optimum, it is given as a multiple and not in percent."""

PALETTE = 64
"""Colors of a PNG file; with few it takes a quarter of the space."""


def draw_map(formula: Entry, cells: list[Cell], ax: Axes | None = None) -> Axes:
    """Draw the regions of one closed form.

    Parameters
    ----------
    formula
        The closed form.
    cells
        Its cells, one for each point of a grid.
    ax
        Where; default new axes.

    Returns
    -------
    Axes
        With thin lines where the loss is so many times the optimum, dashed ones where the leakage
        is so many epsilon, and thick ones for the boundaries that are known.
    """
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    if ax is None:
        ax = Figure(figsize=(4.6, 4.0), layout="constrained").subplots()
    grid = _Grid(cells)
    colors = ListedColormap([COLORS[region] for region in Region])
    norm = BoundaryNorm(np.arange(len(Region) + 1) - 0.5, len(Region))
    regions = grid.of([list(Region).index(cell.region) for cell in cells])
    x_edges = np.exp(_edges(np.log(grid.x)))
    y_edges = _edges(grid.y, beyond=0.5 if _is_whole(grid.y) else 0.0)
    ax.pcolormesh(x_edges, y_edges, regions, cmap=colors, norm=norm, edgecolors="face", lw=0.2)
    ax.set_xscale("log")
    private = regions < list(Region).index(Region.INFEASIBLE)
    _contours(ax, grid, [cell.loss_ratio for cell in cells], private, LOSSES, "x", "solid")
    _contours(ax, grid, [cell.leakage_ratio for cell in cells], ~private, LEAKAGES, "ε", "dashed")
    _draw_lines(ax, formula, x_edges, y_edges)
    ax.set(xlim=(x_edges[0], x_edges[-1]), ylim=(y_edges[0], y_edges[-1]))
    ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.set_xticks([], minor=True)
    if _is_whole(grid.y):
        ax.yaxis.set_major_locator(MaxNLocator(7, integer=True))
    ax.set_xlabel("ε (nats)", fontsize=9, labelpad=1)
    ax.set_ylabel(formula.axis.label, fontsize=9)
    ax.set_title(f"{formula.title}\n{_in_words(Summary.of(formula.name, cells))}", fontsize=9.5)
    ax.tick_params(labelsize=8)
    return ax


def draw_atlas(atlas: Atlas) -> Figure:
    """Draw every map of an atlas on one page."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    maps = atlas.maps
    columns = min(COLUMNS, len(maps))
    rows = math.ceil(len(maps) / columns)
    figure = Figure(figsize=(4.1 * columns, 3.55 * rows + 1.0), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for (name, cells), ax in zip(maps.items(), grid, strict=False):
        draw_map(FORMULAS[name], cells, ax)
    for ax in grid[len(maps) :]:
        ax.set_axis_off()
    handles: list[Any] = [
        Patch(facecolor=COLORS[region], edgecolor="grey", label=MEANINGS[region])
        for region in Region
    ]
    handles += [
        Line2D([], [], color="black", lw=2, label="boundary, proved"),
        Line2D([], [], color="black", lw=0.8, label="loss by the optimum"),
        Line2D([], [], color="black", lw=0.8, ls="dashed", label="leakage by ε"),
    ]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=min(6, 2 * columns),
        frameon=False,
        fontsize=10 if columns > 2 else 8,
    )
    return figure


def save_maps(atlas: Atlas, path: str | os.PathLike[str]) -> None:
    """Draw an atlas to a PNG, PDF or SVG file, whole or not at all.

    Raises
    ------
    InputError
        If the name has no such ending, or the file cannot be written.
    """
    file = check_picture_name(path)
    drawn, kind = io.BytesIO(), file.suffix[1:].lower()
    draw_atlas(atlas).savefig(drawn, format=kind, dpi=88)
    with atomic_file(file) as stream:
        stream.write(_fewer_colors(drawn) if kind == "png" else drawn.getvalue())


def _fewer_colors(drawn: io.BytesIO) -> bytes:
    """Return a PNG picture with a palette."""
    from PIL import Image

    small = io.BytesIO()
    picture = Image.open(drawn).convert("RGB")
    picture.quantize(PALETTE, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


class _Grid:
    """The points of a map: budgets across, parameters up."""

    def __init__(self, cells: list[Cell]) -> None:
        across = [float(Fraction(cell.epsilon)) for cell in cells]
        up = [float(Fraction(cell.parameter)) for cell in cells]
        self.x, self._column = np.unique(across, return_inverse=True)
        self.y, self._row = np.unique(up, return_inverse=True)

    def of(self, values: list[Any]) -> FloatArray:
        """Return values as a table, rows by the parameter; nan where there is none."""
        table = np.full((len(self.y), len(self.x)), np.nan)
        table[self._row, self._column] = values
        return table


def _edges(centres: FloatArray, beyond: float = 0.0) -> FloatArray:
    """Return the borders half-way between points, and those of the first and the last."""
    if len(centres) == 1:
        beyond = 0.5
    middle = (centres[:-1] + centres[1:]) / 2
    return np.concatenate([[centres[0] - beyond], middle, [centres[-1] + beyond]])


def _is_whole(values: FloatArray) -> bool:
    """Return whether numbers count something."""
    return bool((values >= 1).all() and (values % 1 == 0).all())


def _contours(
    ax: Axes,
    grid: _Grid,
    ratios: list[float],
    shown: npt.NDArray[np.bool_],
    levels: tuple[float, ...],
    unit: str,
    style: str,
) -> None:
    """Draw where a ratio has some levels, on the cells that count."""
    table = np.where(shown, grid.of(ratios), np.nan)
    known = table[np.isfinite(table)]
    used = [level for level in levels if known.size and known.min() < level < known.max()]
    if min(table.shape) < 2 or not used:
        return
    masked = np.ma.masked_invalid(table)
    drawn = ax.contour(
        grid.x, grid.y, masked, levels=used, colors="black", linewidths=0.8, linestyles=style
    )
    ax.clabel(drawn, fmt=lambda level: f"{level:g}{unit}", fontsize=SMALL)


def _draw_lines(ax: Axes, formula: Entry, across: FloatArray, up: FloatArray) -> None:
    """Draw the boundaries that are known."""
    budgets = np.exp(np.linspace(math.log(across[0]), math.log(across[-1]), 300))
    texts = []
    for line in formula.boundaries:
        heights = np.array([line.height(float(budget)) for budget in budgets])
        outside = (heights < up[0]) | (heights > up[-1])
        ax.plot(budgets, np.where(outside, np.nan, heights), color="black", lw=2)
        texts += [line.text] if line.text else []
    if texts:
        box = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5}
        ax.text(
            0.98, 0.97, texts[0], transform=ax.transAxes, fontsize=8, ha="right", va="top", bbox=box
        )


def _in_words(summary: Summary) -> str:
    """Return the worst of a map as text."""
    words = []
    if summary.infeasible:
        words.append(f"leaks up to {summary.largest_leakage:.3g} ε")
    loss = summary.largest_loss
    if loss is None:
        words.append("never private")
    elif loss >= MANY:
        words.append(f"up to {loss:.3g} times the least loss")
    elif summary.feasible:
        words.append(f"loses up to {100 * (loss - 1):.2g} %")
    return "; ".join(words) or "optimal at every point"
