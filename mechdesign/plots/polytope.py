"""Plots of the posteriors that a notion on three inputs allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel
from mechdesign.errors import InputError, UnsupportedError
from mechdesign.plots.style import BLUE, GREY, PALE, SKY, VERMILION, short, titled_axes
from mechdesign.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INPUTS = 3
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])
"""The corners for the inputs; a posterior is drawn at its mean of them."""

TICKS = (0.2, 0.4, 0.6, 0.8)
DIGITS, NEAR, TOUCHING = 9, 0.1, 0.03
"""Digits for distinct points; distances at which an output is near a corner, and at which outputs
share a label."""

LARGEST_AREA = 420.0
"""The marker area of an output of probability 1, in square points."""


def plot_polytope(
    problem: Problem, channel: Channel | None = None, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the posteriors that the notions of a problem with three inputs allow.

    An output y has a posterior P(x|y), a point of the triangle: a corner reveals the input, and the
    prior reveals nothing. The allowed posteriors form a polygon whose corners are the extreme rays
    of the cone; a channel writes the prior as a mean of allowed posteriors.

    Parameters
    ----------
    problem
        A problem with three inputs of positive prior, and notions that are conditions on columns.
    channel
        A channel whose outputs are drawn as circles with areas proportional to their probabilities.
    ax
        The axes to draw on; default new axes.
    title
        The title; default the notions.

    Returns
    -------
    Axes
        The axes, with the polygon, its rays, the prior, and the outputs of the channel.

    Raises
    ------
    InputError
        If there are not three inputs, or one has prior 0.
    UnsupportedError
        If a notion is not a condition on columns.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mechdesign import LDP, HammingLoss
    >>> ax = plot_polytope(Problem(range(3), LDP(1), HammingLoss()), ax=Figure().subplots())
    >>> [len(line.get_xdata()) for line in ax.lines if line.get_label() == "extreme rays"]
    [6]
    """
    if len(problem.domain) != INPUTS or (channel is not None and channel.shape[0] != INPUTS):
        given = len(problem.domain) if channel is None else (len(problem.domain), channel.shape[0])
        raise InputError("problem", "three inputs", given)
    if not problem.prior.minimum:
        raise InputError("prior", "a probability > 0 for each input", problem.prior)
    if not problem.is_conic:
        raise UnsupportedError("privacy", "conditions on single columns", problem.non_conic[0])
    from mechdesign.search.rays.enumerate import all_rays  # scipy on demand

    title = title or " and ".join(map(repr, problem.privacy))
    ax = titled_axes(ax, title, size=(6.4, 5.6))
    ax.title.set_y(1.05)
    _triangle(ax, problem)
    prior = problem.prior.array
    corners = _hull(_places(all_rays(problem.cone), prior))
    ax.fill(*corners.T, facecolor=SKY, alpha=0.35, edgecolor=BLUE, label="allowed posteriors")
    ax.plot(*corners.T, "o", color=BLUE, markersize=6, label="extreme rays", zorder=3)
    if channel is not None:
        _outputs(ax, channel, prior)
    ax.plot(*(prior @ CORNERS), "P", color="black", markersize=9, label="prior", zorder=4)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(-0.12, 1.0))
    return ax


def _places(columns: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the points ``(n, 2)`` of the posteriors of columns ``(3, n)``."""
    joint = prior[:, None] * columns
    places: FloatArray = (joint / joint.sum(axis=0)).T @ CORNERS
    return places


def _hull(places: FloatArray) -> FloatArray:
    """Return the corners of the convex hull in order; of a segment its ends."""
    from scipy.spatial import ConvexHull

    points = np.unique(places.round(DIGITS), axis=0)
    sides = (points - points[0]) / max(float(np.ptp(points, axis=0).max()), 1e-9)
    far = sides[np.abs(sides).max(axis=1).argmax()]
    if np.abs(sides @ [far[1], -far[0]]).max() < 1e-6:
        return np.asarray(np.unique(points[[0, -1]], axis=0))
    return np.asarray(points[ConvexHull(sides).vertices])


def _triangle(ax: Axes, problem: Problem) -> None:
    """Draw the triangle with a grid, its corners, and an axis for each input."""
    for x, label in enumerate(problem.domain.labels):
        corner, start, other = (CORNERS[(x + n) % INPUTS] for n in range(INPUTS))
        side = corner - start
        across = np.array([side[1], -side[0]])
        across *= np.sign(across @ (start - other))  # outward
        for share in TICKS:
            ends = np.array([start + share * side, other + share * (corner - other)])
            ax.plot(*ends.T, color=PALE, linewidth=0.8, zorder=0)
            _write(ax, ends[0] + 0.035 * across, f"{share:g}", fontsize=8, color=GREY)
        angle = math.degrees(math.atan2(side[1], side[0]))
        angle -= 180 * round(angle / 180)
        name = f"P({short(label)} | y)"
        _write(ax, start + side / 2 + 0.11 * across, name, rotation=angle)
        away = corner - CORNERS.mean(axis=0)
        _write(ax, corner + 0.1 * away, short(label), fontweight="bold")
    ax.fill(*CORNERS.T, fill=False, edgecolor=GREY, linewidth=1.2, zorder=1)
    ax.set(xlim=(-0.2, 1.2), ylim=(-0.16, 0.97), aspect="equal")
    ax.set_axis_off()


def _write(ax: Axes, place: FloatArray, text: str, **style: Any) -> None:
    """Write text centered at a point."""
    ax.text(float(place[0]), float(place[1]), text, ha="center", va="center", **style)


def _outputs(ax: Axes, channel: Channel, prior: FloatArray) -> None:
    """Draw the possible outputs of a channel; those that touch share a label."""
    matrix = channel.matrix
    shares = prior @ matrix
    used = np.flatnonzero(shares > 0)
    places = _places(matrix[:, used], prior)
    areas = LARGEST_AREA * shares[used] + 60
    style: dict[str, Any] = {"facecolors": "none", "edgecolors": VERMILION, "linewidths": 2}
    x, y = places.T
    ax.scatter(x, y, s=areas, label="outputs of the channel", zorder=5, **style)
    left = list(range(len(used)))
    while left:
        together = [n for n in left if np.hypot(*(places[n] - places[left[0]])) < TOUCHING]
        left = [n for n in left if n not in together]
        names = ", ".join(short(channel.outputs[used[n]]) for n in together)
        _name_output(ax, places[together[0]], prior @ CORNERS, names)


def _name_output(ax: Axes, place: FloatArray, center: FloatArray, name: str) -> None:
    """Write the label of an output on the side away from the center."""
    away = place - center if np.hypot(*(place - center)) > 1e-9 else np.array([0.0, 1.0])
    away = 18 * away / np.hypot(*away)
    if np.hypot(*(CORNERS - place).T).min() < NEAR:  # the label of the input is there
        away = -away
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontweight": "bold"}
    offset = {"xytext": away.tolist(), "textcoords": "offset points"}
    ax.annotate(name, place.tolist(), color=VERMILION, **offset, **style)
