"""A problem on an interval or a box in the form of a file, and its rounding to nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise, product
from operator import add, mul
from typing import Literal

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Steps
from mechdesign.kernel.names import Notion, Utility
from mechdesign.kernel.rounding.laws import Prior
from mechdesign.kernel.rounding.moments import PLACES, Axis, End, Moments
from mechdesign.resources import check_size


@dataclass(frozen=True)
class Side:
    """An interval, the domain on one axis."""

    interval: tuple[Fraction | Literal["-inf"], Fraction | Literal["inf"]]

    @property
    def ends(self) -> tuple[End, End]:
        low, high = (float(end) if isinstance(end, str) else end for end in self.interval)
        return low, high


MIXED = (
    "ldp",
    "lip",
    "pml",
    "lift",
    "approximate-ldp",
    "approximate-lip",
    "maximal-leakage",
    "mutual-information",
    "metric",
)
"""The notions that hold for mixtures of rows, and metric privacy on a line."""


@dataclass(frozen=True)
class RoundedProblem:
    """A problem on an interval or a box.

    ``domain``: an interval for each axis.
    ``prior``: the law of the input.
    ``privacy``, ``utility``: the notions, and the loss of a released number or point, or the error
        of an estimate of the input: the squared error of the posterior mean, or the variance of
        unbiased readings.
    """

    domain: tuple[Side, ...]
    prior: Prior
    privacy: tuple[Notion, ...]
    utility: Utility

    def on(self, axes: tuple[Axis, ...], steps: Steps | None = None) -> Rounded:
        """Return the problem on nodes, with the moments of the cells."""
        ends, d = tuple(side.ends for side in self.domain), len(self.domain)
        need(d in PLACES and len(axes) == d, "expected one or two intervals, and nodes on each")
        for axis, (low, high) in zip(axes, ends, strict=True):
            rising = len(axis) > 1 and all(a < b for a, b in pairwise(axis))
            need(rising, "the nodes are not increasing")
            fits = low in (-math.inf, axis[0]) and high in (math.inf, axis[-1])
            need(fits, "the nodes do not go from end to end of the domain")
        is_bounded = not {-math.inf, math.inf} & set(chain(*ends))
        need(is_bounded or d == 1, "an unbounded box")
        check_size("inputs", math.prod(map(len, axes)), "rounding")
        if steps is not None:
            steps.take(self.prior.steps(axes), "the moments of the cells")
        self._check(d)
        moments = self.prior.moments(axes, ends)
        need(len(moments.cells) == math.prod(len(a) - 1 for a in axes), "expected all cells")
        beyond = zip(moments.tails, ends[0], (axes[0][0], axes[0][-1]), strict=True)
        inside = all(end != node or not any(tail) for tail, end, node in beyond)
        need(inside, "there is mass beyond the ends")
        moments.check(d)
        return Rounded(axes, is_bounded, moments, self.privacy, self.utility)

    def _check(self, d: int) -> None:
        """Raise unless the notions and the loss are supported in this dimension."""
        need(self.privacy, "the file claims no notion of privacy")
        for notion in self.privacy:
            mixed = notion.name in MIXED and "secret" not in notion.keys
            need(mixed, f"{notion.name!r:.60} does not extend to an interval")
            notion.check()
        metric = [notion for notion in self.privacy if notion.name == "metric"]
        known = d == 1 and len(metric) == 1 and metric[0].keys["distance"] == "absolute"
        need(known or not metric, "expected one notion by distance, by that of numbers")
        utility, reads = self.utility, d == 1 and self.utility.reads in ("mean", "readings")
        known = reads or utility.distance in ("squared", "absolute" if d == 1 else "euclidean")
        known = known and set(utility.keys) <= {"worst_case"}
        need(known, f"{utility.name!r:.60} of a number or a point")


@dataclass(frozen=True)
class Rounded:
    """A problem on an interval or a box, rounded to the nodes of its axes.

    ``axes``: the nodes of each axis, increasing; the first and the last are the ends of the
        interval, unless these are infinite.
    ``is_bounded``: whether all intervals end there.
    ``moments``: those of the law on the cells.
    ``privacy``, ``utility``: the notions, and the loss.
    """

    axes: tuple[Axis, ...]
    is_bounded: bool
    moments: Moments
    privacy: tuple[Notion, ...]
    utility: Utility

    @property
    def domain(self) -> str:
        return "interval" if len(self.axes) == 1 else "box"

    @property
    def distance(self) -> str:
        """The distance of the input and the output in the loss; "" for estimated outputs."""
        return self.utility.distance

    @property
    def worst_case(self) -> bool:
        return self.utility.worst_case

    @property
    def metric(self) -> Notion | None:
        return next((notion for notion in self.privacy if notion.name == "metric"), None)

    @cached_property
    def points(self) -> list[Axis]:
        """The nodes, with the last axis varying fastest."""
        return list(product(*self.axes))

    @cached_property
    def labels(self) -> tuple[object, ...]:
        """The labels of the inputs: numbers from 0, or pairs of them."""
        places = tuple(product(*(range(len(axis)) for axis in self.axes)))
        return places if len(self.axes) > 1 else tuple(n for (n,) in places)

    @cached_property
    def widths(self) -> list[list[Fraction]]:
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

        It is half the mean of the squared distance of two such nodes.
        """
        spread = Fraction(0)
        for (i, j), mean in self.pairs.items():
            pairs = zip(self.points[i], self.points[j], strict=True)
            spread += mean * sum((a - b) ** 2 for a, b in pairs)
        return spread / 2

    @cached_property
    def means(self) -> list[Fraction]:
        """The mean of w_i(x) x for each node of a bounded interval, where x is Sum_i w_i t_i."""
        return self.weighed(self.axes[0])

    @cached_property
    def square(self) -> Fraction:
        return sum(map(mul, self.means, self.axes[0]), Fraction(0))
