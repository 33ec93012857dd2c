"""A rounded problem: nodes on each axis, the law of the node, and the moments that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from operator import add

from mechdesign.kernel.names.base import NamedObjective, Notion
from mechdesign.kernel.names.ratios import Metric
from mechdesign.kernel.rounding.moments import PLACES, Moments

__all__ = ["Rounded"]

Point = tuple[Fraction, ...]


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
        """The domain in words."""
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
        """The labels of the inputs: numbers from 0, or pairs of them."""
        if len(self.axes) == 1:
            return tuple(range(len(self.axes[0])))
        return tuple(product(*(range(len(axis)) for axis in self.axes)))

    @cached_property
    def widths(self) -> list[list[Fraction]]:
        """The widths of the cells of each axis."""
        return [[b - a for a, b in pairwise(axis)] for axis in self.axes]

    @cached_property
    def cells(self) -> list[list[tuple[tuple[int, ...], int]]]:
        """The corners of each cell, as 0 or 1 on each axis, and the nodes that they are."""
        place = {point: n for n, point in enumerate(product(*(range(len(a)) for a in self.axes)))}
        corners = list(product((0, 1), repeat=len(self.axes)))
        return [
            [(corner, place[tuple(map(add, at, corner))]) for corner in corners]
            for at in product(*(range(len(axis) - 1) for axis in self.axes))
        ]

    @cached_property
    def pairs(self) -> dict[tuple[int, int], Fraction]:
        """The mean of w_i w_j for nodes i, j of one cell; beyond the nodes w_i = 1 at the last.

        In a cell w_i is a product of s or 1 - s on each axis: w_i w_j is one of U_0, U_1, U_2.
        """
        ends = zip((0, len(self.points) - 1), self.moments.tails, strict=True)
        found = {(i, i): mass for i, (mass, *_) in ends}
        for means, cell in zip(self.moments.cells, self.cells, strict=True):
            at = dict(zip(PLACES[len(self.axes)], means, strict=True))
            for (p, i), (q, j) in product(cell, repeat=2):
                found[i, j] = found.get((i, j), Fraction(0)) + at[tuple(map(add, p, q))]
        return found

    def weighed(self, values: Sequence[Fraction]) -> list[Fraction]:
        """Return the mean of w_i f for each node, f = Sum_j w_j f_j with values at the nodes."""
        found = [Fraction(0)] * len(values)
        for (i, j), mean in self.pairs.items():
            found[i] += mean * values[j]
        return found

    @cached_property
    def prior(self) -> tuple[Fraction, ...]:
        """The law of the node: P_i is the mean of w_i."""
        return tuple(self.weighed([Fraction(1)] * len(self.points)))

    @cached_property
    def variance(self) -> Fraction:
        """The mean of v, the variance of the node that x is rounded to.

        That is half the mean of the square of the distance of two such nodes.
        """
        spread = Fraction(0)
        for (i, j), mean in self.pairs.items():
            pairs = zip(self.points[i], self.points[j], strict=True)
            spread += mean * sum((a - b) ** 2 for a, b in pairs)
        return spread / 2

    @cached_property
    def means(self) -> list[Fraction]:
        """The mean of w_i(x) x for each node of an interval."""
        (nodes,), (below, above) = self.axes, self.moments.tails
        found = self.weighed(nodes)
        found[0] -= below[1]
        found[-1] += above[1]
        return found

    @cached_property
    def square(self) -> Fraction:
        """The mean of x**2 on an interval: between nodes x is Sum_i w_i t_i."""
        (nodes,), ((_, r, s), (_, t, u)) = self.axes, self.moments.tails
        inside = sum((v * t for v, t in zip(self.weighed(nodes), nodes, strict=True)), Fraction(0))
        return inside - 2 * nodes[0] * r + s + 2 * nodes[-1] * t + u
