"""Plots of loss against epsilon with the proved bound, for one or several notions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mechdesign.errors import InputError, shown
from mechdesign.plots.style import (
    COLORS,
    GREY,
    MARKS,
    PALE,
    legend_below,
    plain,
    titled_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechdesign.designs.min_epsilon import Reach
    from mechdesign.sweeps.frontier import Frontier

SIZE = (6.0, 5.6)
"""Figure size in inches, with the legend below."""

YELLOW = "#f0e442"

LONG = 36
"""Maximum length of labels in a legend of several columns."""

VISIBLE = 1e-3
"""Smaller gaps relative to the value are not visible."""


def plot_frontier(
    frontiers: Any,
    ax: Axes | None = None,
    title: str = "",
    *,
    labels: Sequence[str] | None = None,
    reached: Iterable[Reach] = (),
    logarithmic: bool = False,
) -> Axes:
    """Draw the loss of the best channel against epsilon.

    Parameters
    ----------
    frontiers
        A :class:`~mechdesign.sweeps.Frontier`, or several with the same objective, in a list or in
        a dict by label.
    ax
        The axes to draw on; default new axes.
    title
        The title.
    labels
        A label for each frontier; default the key, or the notions, with the prior or the title if
        the notions are equal.
    reached
        Results of :func:`~mechdesign.min_epsilon` to mark.
    logarithmic
        Whether epsilon has a logarithmic scale; budgets of 0 are omitted then.

    Returns
    -------
    Axes
        The axes, with a line of certified values for each frontier, shaded down (for a gain up) to
        the proved bound. A small cross on the axis marks an infeasible budget.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mechdesign import LDP, HammingLoss, Problem, design_frontier
    >>> curve = design_frontier(Problem(["yes", "no"], LDP(1), HammingLoss()), [0.5, 1, 2])
    >>> ax = plot_frontier(curve, Figure().subplots())
    >>> ax.lines[0].get_ydata().round(4).tolist()
    [0.3775, 0.2689, 0.1192]
    """
    from mechdesign.sweeps.frontier import Frontier

    if isinstance(frontiers, Frontier):
        frontiers = [frontiers]
    curves = list(frontiers.values() if isinstance(frontiers, Mapping) else frontiers)
    if not all(isinstance(curve, Frontier) for curve in curves):
        raise InputError("frontiers", "results of design_frontier", shown(curves[0]))
    objectives = dict.fromkeys(curve.problem.utility.name for curve in curves)
    if len(objectives) != 1:
        given = ", ".join(objectives) or "none"
        raise InputError("frontiers", "at least one, all with one objective", given)
    if labels is None:
        labels = list(frontiers) if isinstance(frontiers, Mapping) else _names(curves)
    names = list(labels)
    if len(names) != len(curves):
        raise InputError("labels", f"{len(curves)} names, one for each frontier", len(names))
    utility = curves[0].problem.utility
    objective = f"{'gain' if utility.is_maximized else 'loss'}: {utility.heading}"
    ax = titled_axes(ax, title, "epsilon (nats)", objective, size=SIZE)
    for n, (curve, name) in enumerate(zip(curves, names, strict=True)):
        _draw(ax, curve, plain(name), n)
    for reach in reached:
        _mark(ax, reach)
    if logarithmic:
        _logarithmic(ax)
    ax.grid(color=PALE, linewidth=0.8)
    ax.set_axisbelow(True)
    long = any(len(text) > LONG for text in ax.get_legend_handles_labels()[1])
    return legend_below(ax, ncols=1 if long else 2, fontsize=9)


def _names(curves: Sequence[Frontier]) -> list[str]:
    """Return labels: the notions of each frontier, with a suffix to make them distinct."""
    problems = [curve.problem for curve in curves]
    names = [[curve.label] for curve in curves]
    for parts in ([repr(p.prior) for p in problems], [p.title for p in problems]):
        if len(set(map(tuple, names))) == len(names):
            break
        if len(set(parts)) > 1:
            names = [[*name, part] for name, part in zip(names, parts, strict=True)]
    return [", ".join(filter(None, name)) for name in names]


def _draw(ax: Axes, curve: Frontier, name: str, n: int) -> None:
    """Draw one frontier."""
    color, mark = COLORS[n % len(COLORS)], MARKS[n % len(MARKS)]
    points = sorted(curve.points, key=lambda point: point.epsilon)
    found = [(float(p.epsilon), p.solution) for p in points if p.solution is not None]
    side = "up" if curve.problem.utility.is_maximized else "down"
    budgets = [epsilon for epsilon, _ in found]
    values = [float(solution.value) for _, solution in found]
    bounds = [float(solution.bound) for _, solution in found]
    size = 5 if len(found) <= 30 else 0
    ax.plot(budgets, values, color=color, marker=mark, markersize=size, label=name)
    if any(solution.gap > VISIBLE for _, solution in found):
        label = f"{name}: undecided, {side} to the proved bound"
        ax.fill_between(budgets, bounds, values, color=color, alpha=0.25, linewidth=0, label=label)
    none = [float(p.epsilon) for p in points if p.solution is None]
    if none:
        heights, label = [0.02 * (n + 1)] * len(none), f"{name}: infeasible"
        ax.plot(none, heights, "x", color=color, transform=ax.get_xaxis_transform(), label=label)


def _logarithmic(ax: Axes) -> None:
    """Set a logarithmic scale with plain numbers for the budgets."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def _mark(ax: Axes, reach: Reach) -> None:
    """Mark the least epsilon that reaches the wanted value."""
    epsilon, wanted = float(reach.epsilon), float(reach.wanted)
    ax.axhline(wanted, color=GREY, linewidth=1, linestyle=":")
    label = f"{wanted:.4g} from epsilon = {epsilon:.4g} on"
    style: dict[str, Any] = {"markersize": 14, "color": YELLOW, "markeredgecolor": "black"}
    ax.plot([epsilon], [wanted], "*", label=label, **style)
