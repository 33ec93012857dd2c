"""Plots of trade-off curves and error regions: privacy as hypothesis testing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mechdesign.errors import InputError
from mechdesign.plots.style import COLORS, GREY, MARKS, SKY, plain, short, titled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mechdesign.accounting.measure.hypothesis_testing import ErrorRegion, TradeOff


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

    Raises
    ------
    InputError
        If the numbers of labels and curves differ.

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
    from mechdesign.accounting.measure.hypothesis_testing import TradeOff

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
