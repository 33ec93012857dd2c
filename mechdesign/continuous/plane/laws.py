"""Laws of a point in the plane: the nine means of each cell that a design and its proof read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, ClassVar

import numpy as np

from mechdesign.continuous.interval import Interval
from mechdesign.continuous.laws import Histogram, Law
from mechdesign.continuous.plane.box import Box
from mechdesign.errors import InputError, listed, shown, shown_kind
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.prior import SUM_TOLERANCE, exact_numbers
from mechdesign.resources import check_size

__all__ = ["PlaneHistogram", "PlaneLaw", "PlaneMixture", "PlaneSamples", "ProductLaw"]

Axis = Sequence[Fraction]
Means = list[tuple[Fraction, ...]]

MEANS_BITS = 128
"""Means with long denominators are rounded to multiples of 2**-128."""

EXACT_BITS = 160
LESS = 1 << 30


class PlaneLaw(ABC):
    """The law of a point; on a box it is truncated to it."""

    name: ClassVar[str]
    """The word for it in problem files."""

    @abstractmethod
    def check(self, box: Box) -> None:
        """Raise :class:`InputError` unless the law fits the box."""

    @abstractmethod
    def _means(self, box: Box, axes: tuple[Axis, Axis]) -> tuple[Means, Fraction]:
        """Return the means of each cell, and what they may be off by, summed."""

    @abstractmethod
    def quantiles(self, box: Box, axis: int, probabilities: Sequence[float]) -> list[float]:
        """Return about the quantiles of a coordinate: they say where cells are made small."""

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return the ``[prior]`` table; one of samples says only how many they were."""

    def cells(self, box: Box, axes: tuple[Axis, Axis]) -> tuple[Means, Fraction]:
        """Return for each cell the means of (1-s)**2, s(1-s), s**2 of one axis times the other.

        Long ones are rounded to multiples of 2**-128.

        Parameters
        ----------
        box, axes
            The nodes of the two axes go from end to end of the box.

        Returns
        -------
        list, Fraction
            The nine means of each cell, and what they may be off by, summed.
        """
        exact, error = self._means(box, axes)
        if max(part.denominator for cell in exact for part in cell).bit_length() <= EXACT_BITS:
            return exact, error
        unit, found = 1 << MEANS_BITS, list[list[int]]()
        for cell in exact:
            # a little less of the law, rounded down, and a little mass at each corner: so a mean of
            # a product stays below what the inequality of Cauchy and Schwarz allows
            parts = [math.floor(part * (unit - LESS)) for part in cell]
            for n in CORNERS if any(cell) else ():
                parts[n] += 2
            found.append(parts)
        heaviest = max(found, key=lambda parts: parts[0])
        heaviest[0] += unit - sum(
            w * n for parts in found for w, n in zip(WEIGHTS, parts, strict=True)
        )
        means = [tuple(Fraction(n, unit) for n in parts) for parts in found]
        pairs = zip(means, exact, strict=True)
        moved = sum(abs(a - b) for row in pairs for a, b in zip(*row, strict=True))
        return means, Fraction(math.ceil((error + moved) * unit), unit)

    def __repr__(self) -> str:
        inner = next(iter(self.to_table().values()))
        return f"{type(self).__name__}({inner})"


WEIGHTS = (1, 2, 1, 2, 4, 2, 1, 2, 1)
"""Those of the nine means in the mass of a cell."""

CORNERS = (0, 2, 6, 8)
"""Those that are above 0 at a corner of the cell."""


def _along(law: Law, axis: Axis) -> tuple[list[tuple[Fraction, Fraction, Fraction]], Fraction]:
    """Return the means of (1-s)**2, s(1-s), s**2 for the cells of an axis, and their error."""
    moments = law.cells(axis)
    found = []
    rows = zip(pairwise(axis), moments.masses, moments.first, moments.second, strict=True)
    for (low, high), mass, first, second in rows:
        h = high - low
        mean = (first - low * mass) / h
        square = (second - 2 * low * first + low * low * mass) / (h * h)
        found.append((mass - 2 * mean + square, mean - square, square))
    least, far = min(b - a for a, b in pairwise(axis)), max(map(abs, axis))
    zero, one, two = moments.error
    error = 4 * (zero * (1 + far / least) ** 2 + one * (1 + far / least) / least + two / least**2)
    return found, error


class PlaneMixture(PlaneLaw):
    """A mixture of laws whose coordinates are independent.

    Parameters
    ----------
    weights
        The probability of each part; they sum to 1 within 1e-6, and are normalized exactly.
    parts
        For each a pair of laws of a number: of the first and the second coordinate.

    Raises
    ------
    InputError
        If they are not such.

    Examples
    --------
    >>> from mechdesign.continuous.laws import NamedLaw
    >>> town, port = [NamedLaw("normal", [m, 1]) for m in (2, 8)]
    >>> PlaneMixture([0.5, 0.5], [(town, town), (port, port)]).name
    'parts'
    """

    name = "parts"

    def __init__(self, weights: Iterable[Exact], parts: Iterable[Sequence[Law]]) -> None:
        given = exact_numbers(weights, "weights")
        whole = sum(given, Fraction(0))
        if abs(whole - 1) > SUM_TOLERANCE:
            raise InputError("weights", "numbers that sum to 1", f"sum {float(whole):.12g}")
        self.weights = tuple(weight / whole for weight in given)
        self.parts = tuple(
            _pair(part, f"parts[{n}]")
            for n, part in enumerate(listed(parts, "parts", "pairs of laws"))
        )
        if len(self.parts) != len(self.weights):
            expected = f"{len(self.weights)} pairs of laws, one for each weight"
            raise InputError("parts", expected, f"{len(self.parts)}")

    def check(self, box: Box) -> None:
        """Raise InputError unless each part fits the box."""
        for part in self.parts:
            for law, side in zip(part, box.sides, strict=True):
                law.check(side)

    def _means(self, box: Box, axes: tuple[Axis, Axis]) -> tuple[Means, Fraction]:
        """Sum the products of the means of either coordinate; each part is truncated by itself."""
        size = (len(axes[0]) - 1) * (len(axes[1]) - 1)
        totals, error = [[Fraction(0)] * 9 for _ in range(size)], Fraction(0)
        known: dict[tuple[int, int], Any] = {}
        for weight, part in zip(self.weights, self.parts, strict=True):
            if not weight:
                continue
            for n, law in enumerate(part):
                if (id(law), n) not in known:
                    known[id(law), n] = _along(law, axes[n])
            (first, off), (second, other) = (known[id(law), n] for n, law in enumerate(part))
            error += weight * 4 * (off + other + off * other)
            for cell, (u, v) in zip(totals, product(first, second), strict=True):
                if any(u) and any(v):
                    for k, (a, b) in enumerate(product(u, v)):
                        cell[k] += weight * a * b
        return [tuple(cell) for cell in totals], error

    def quantiles(self, box: Box, axis: int, probabilities: Sequence[float]) -> list[float]:
        """Invert the mixed distribution function, interpolated between quantiles of the parts."""
        side = box.sides[axis]
        levels = np.linspace(0, 1, 257)
        each = [
            np.maximum.accumulate(part[axis].quantiles(side, levels.tolist()))
            for part in self.parts
        ]
        places = np.unique(np.concatenate([*each, [float(side.low), float(side.high)]]))
        weights = map(float, self.weights)
        below = sum(
            (
                w * np.interp(places, own, levels, 0.0, 1.0)
                for w, own in zip(weights, each, strict=True)
            ),
            np.zeros(len(places)),
        )
        found: list[float] = np.interp(probabilities, below, places).tolist()
        return found

    def to_table(self) -> dict[str, Any]:
        """Return the weights and the tables of the parts."""
        parts = [[law.to_table() for law in part] for part in self.parts]
        return {"parts": {"weights": list(map(fraction_text, self.weights)), "laws": parts}}


class ProductLaw(PlaneMixture):
    """A law whose two coordinates are independent.

    Parameters
    ----------
    first, second
        Their laws.

    Raises
    ------
    InputError
        If one is no law.

    Examples
    --------
    >>> from mechdesign.continuous.laws import NamedLaw
    >>> law = ProductLaw(NamedLaw("beta", [2, 3]), NamedLaw("uniform"))
    >>> means, error = law.cells(Box((0, 0), (1, 1)), ([0, 1], [0, 1]))
    >>> round(float(sum(means[0][3:6])), 4)  # 1/5 of s(1-s) on the first axis, times 5/6
    0.1667
    """

    def __init__(self, first: Law, second: Law) -> None:
        super().__init__([1], [(first, second)])


class PlaneHistogram(PlaneMixture):
    """A law with a constant density on each bin of a grid.

    Parameters
    ----------
    edges
        The rising edges of the bins of the first and of the second coordinate.
    masses
        ``(n_first, n_second)`` probabilities of the bins, which sum to 1 within 1e-6.

    Raises
    ------
    InputError
        If they are not such.
    """

    name = "histogram"

    def __init__(self, edges: Sequence[Iterable[Exact]], masses: Iterable[Iterable[Exact]]) -> None:
        given = listed(edges, "histogram.edges", "two lists of numbers")
        if len(given) != 2:
            raise InputError("histogram.edges", "two lists of numbers", f"{len(given)}")
        sides = [listed(each, f"histogram.edges[{n}]", "numbers") for n, each in enumerate(given)]
        bins = [[Histogram(pair, [1]) for pair in pairwise(side)] for side in sides]
        rows = [
            listed(row, f"histogram.masses[{n}]", "a list of numbers")
            for n, row in enumerate(listed(masses, "histogram.masses", "rows of numbers"))
        ]
        if [len(row) for row in rows] != [len(bins[1])] * len(bins[0]):
            expected = f"{len(bins[0])} rows of {len(bins[1])} numbers"
            raise InputError("histogram.masses", expected, f"{len(rows)} rows")
        check_size("entries", len(bins[0]) * len(bins[1]), "histogram.masses")
        super().__init__([mass for row in rows for mass in row], product(*bins))
        self.edges = tuple(tuple(as_fraction(edge) for edge in side) for side in sides)

    def to_table(self) -> dict[str, Any]:
        """Return the edges and the masses."""
        edges = [list(map(fraction_text, side)) for side in self.edges]
        across = len(edges[1]) - 1
        flat = list(map(fraction_text, self.weights))
        rows = [flat[n : n + across] for n in range(0, len(flat), across)]
        return {"histogram": {"edges": edges, "masses": rows}}


class PlaneSamples(PlaneLaw):
    """The empirical law of some points: each has the same mass, where it is.

    Parameters
    ----------
    points
        ``(n, 2)`` numbers; a float stands for the decimal that it prints as.

    Raises
    ------
    InputError
        If one is no pair of finite numbers, or there are none.

    Examples
    --------
    >>> PlaneSamples([(0, 0), (1, 0.5)])
    PlaneSamples(2)
    """

    name = "samples"

    def __init__(self, points: Iterable[Sequence[Any]]) -> None:
        given = listed(points, "samples", "a list of points")
        check_size("entries", 2 * len(given), "samples")
        found = []
        for n, point in enumerate(given):
            pair = listed(point, f"samples[{n}]", "two numbers")
            if len(pair) != 2:
                raise InputError(f"samples[{n}]", "two numbers", shown(pair))
            found.append(
                (as_fraction(pair[0], f"samples[{n}]"), as_fraction(pair[1], f"samples[{n}]"))
            )
        if not found:
            raise InputError("samples", "at least one point", "none")
        self.points = tuple(found)

    def check(self, box: Box) -> None:
        """Raise InputError unless all points lie in the box."""
        for n, point in enumerate(self.points):
            if any(x not in side for x, side in zip(point, box.sides, strict=True)):
                given = ", ".join(map(fraction_text, point))
                raise InputError(f"samples[{n}]", f"points of {box!r}", f"({given})")

    def _means(self, box: Box, axes: tuple[Axis, Axis]) -> tuple[Means, Fraction]:
        """Count; a point at an edge is in the cell above it, at the last one in the last cell."""
        across, share = len(axes[1]) - 1, Fraction(1, len(self.points))
        totals = [[Fraction(0)] * 9 for _ in range((len(axes[0]) - 1) * across)]
        for point in self.points:
            place, parts = [], []
            for x, axis in zip(point, axes, strict=True):
                n = min(bisect_right(axis, x), len(axis) - 1) - 1
                s = (x - axis[n]) / (axis[n + 1] - axis[n])
                place.append(n)
                parts.append(((1 - s) ** 2, s * (1 - s), s * s))
            cell = totals[place[0] * across + place[1]]
            for k, (a, b) in enumerate(product(*parts)):
                cell[k] += share * a * b
        return [tuple(cell) for cell in totals], Fraction(0)

    def quantiles(self, box: Box, axis: int, probabilities: Sequence[float]) -> list[float]:
        """Return quantiles of the coordinates."""
        values = [float(point[axis]) for point in self.points]
        found: list[float] = np.quantile(values, probabilities).tolist()
        return found

    def to_table(self) -> dict[str, Any]:
        """Return how many points there are."""
        return {"samples": len(self.points)}


def _pair(given: Any, key: str) -> tuple[Law, Law]:
    pair = listed(given, key, "two laws")
    if len(pair) != 2:
        raise InputError(key, "two laws", f"{len(pair)}")
    for law in pair:
        if not isinstance(law, Law):
            raise InputError(key, "laws, such as NamedLaw('normal', [0, 1])", shown_kind(law))
    return pair[0], pair[1]


def uniform_on(box: Box) -> ProductLaw:
    """Return the uniform law of a box."""
    first, second = (Histogram([*_ends(side)], [1]) for side in box.sides)
    return ProductLaw(first, second)


def _ends(side: Interval) -> tuple[Fraction, Fraction]:
    return Fraction(side.low), Fraction(side.high)
