"""A rounded problem: nodes on each axis, the law of the node, and the moments that are left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product

from mechdesign.kernel.names.base import NamedObjective, Notion
from mechdesign.kernel.names.ratios import Metric
from mechdesign.kernel.rounding.moments import PLACES, Moments, sides

__all__ = ["Cell", "Rounded"]

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Cell:
    """A cell: its place on each axis, its nodes with the corners they are, and its widths."""

    place: tuple[int, ...]
    corners: tuple[tuple[tuple[int, ...], int], ...]
    widths: Point


@dataclass(frozen=True)
class Rounded:
    """A problem on an interval or a box, rounded to the nodes of its axes.

    Attributes
    ----------
    axes
        The nodes of each axis, rising; the first and the last are the ends of the interval, unless
        these are infinite.
    is_bounded
        Whether all intervals end there.
    moments
        Those of the law on the cells.
    privacy, utility
        What is asked, and the loss.
    """

    axes: tuple[Point, ...]
    is_bounded: bool
    moments: Moments
    privacy: tuple[Notion, ...]
    utility: NamedObjective

    @property
    def domain(self) -> str:
        """What it is on, in words."""
        return "interval" if len(self.axes) == 1 else "box"

    @property
    def squared(self) -> bool:
        """Whether the loss is a squared distance."""
        return getattr(self.utility, "distance", "") == "squared"

    @property
    def worst_case(self) -> bool:
        """Whether the loss is that of the worst input."""
        return bool(getattr(self.utility, "worst_case", False))

    @property
    def metric(self) -> Metric | None:
        """The notion by distance, if there is one."""
        return next((notion for notion in self.privacy if isinstance(notion, Metric)), None)

    @cached_property
    def points(self) -> list[Point]:
        """The nodes, the last axis running first."""
        return list(product(*self.axes))

    @cached_property
    def labels(self) -> tuple[object, ...]:
        """What the channel calls its inputs: numbers from 0, or pairs of them."""
        if len(self.axes) == 1:
            return tuple(range(len(self.axes[0])))
        return tuple(product(*(range(len(axis)) for axis in self.axes)))

    @cached_property
    def widths(self) -> list[list[Fraction]]:
        """The widths of the cells of each axis."""
        return [[b - a for a, b in pairwise(axis)] for axis in self.axes]

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells, the last axis running first."""
        return list(self._cells())

    def _cells(self) -> Iterator[Cell]:
        place = {point: n for n, point in enumerate(product(*(range(len(a)) for a in self.axes)))}
        for at in product(*(range(len(axis) - 1) for axis in self.axes)):
            corners = tuple(
                (corner, place[tuple(c + p for c, p in zip(at, corner, strict=True))])
                for corner in product((0, 1), repeat=len(at))
            )
            wide = tuple(widths[c] for widths, c in zip(self.widths, at, strict=True))
            yield Cell(at, corners, wide)

    @cached_property
    def prior(self) -> tuple[Fraction, ...]:
        """The law of the node: P_i is the mean of w_i."""
        masses = [Fraction(0)] * len(self.points)
        masses[0], masses[-1] = (tail[0] for tail in self.moments.tails)
        for means, cell in zip(self.moments.cells, self.cells, strict=True):
            at = dict(zip(PLACES[len(self.axes)], means, strict=True))
            for corner, i in cell.corners:
                for step in product((0, 1), repeat=len(corner)):
                    masses[i] += at[tuple(p + q for p, q in zip(corner, step, strict=True))]
        return tuple(masses)

    @cached_property
    def variance(self) -> Fraction:
        """The mean of the variance of the node that x is rounded to: of h**2 s (1 - s)."""
        return sum(
            (
                h * h * both
                for means, cell in zip(self.moments.cells, self.cells, strict=True)
                for h, (_, both, _) in zip(cell.widths, sides(means, len(self.axes)), strict=True)
            ),
            Fraction(0),
        )

    @cached_property
    def means(self) -> list[Fraction]:
        """The mean of w_i(x) x for each node of an interval."""
        (nodes,), (below, above) = self.axes, self.moments.tails
        found = [Fraction(0)] * len(nodes)
        found[0] = below[0] * nodes[0] - below[1]
        found[-1] = above[0] * nodes[-1] + above[1]
        for c, (left, both, right) in enumerate(self.moments.cells):
            found[c] += left * nodes[c] + both * nodes[c + 1]
            found[c + 1] += both * nodes[c] + right * nodes[c + 1]
        return found

    @cached_property
    def square(self) -> Fraction:
        """The mean of x**2 on an interval."""
        (nodes,), ((m, r, s), (n, t, u)) = self.axes, self.moments.tails
        low, high = nodes[0], nodes[-1]
        found = m * low * low - 2 * low * r + s + n * high * high + 2 * high * t + u
        for (a, b), means in zip(pairwise(nodes), self.moments.cells, strict=True):
            found += sum(w * q for w, q in zip((a * a, 2 * a * b, b * b), means, strict=True))
        return found
