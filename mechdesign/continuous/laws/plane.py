"""Laws of a point in the plane."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from mechdesign.continuous.box import Box
from mechdesign.continuous.interval import Interval
from mechdesign.continuous.laws.base import Axis, Law, NumberLaw
from mechdesign.continuous.laws.empirical import Histogram
from mechdesign.errors import InputError, listed, shown, shown_kind
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.rounding.moments import Moments, mixed_moments, moments_from
from mechdesign.kernel.rounding.priors import Products, Rectangles
from mechdesign.prior import SUM_TOLERANCE, exact_numbers
from mechdesign.resources import check_size

__all__ = ["PlaneHistogram", "PlaneMixture", "PlaneSamples", "ProductLaw", "uniform_on"]


class PlaneMixture(Law):
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

    name, dimension = "parts", 2

    def __init__(self, weights: Iterable[Exact], parts: Iterable[Sequence[NumberLaw]]) -> None:
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
        known = [tuple(law.known for law in part) for part in self.parts]
        if all(law is not None for part in known for law in part):
            self.known = Products(self.weights, tuple(known))

    def check(self, box: Box) -> None:
        """Raise InputError unless each part fits the box."""
        for part in self.parts:
            for law, side in zip(part, box.sides, strict=True):
                law.check(side)

    def moments(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Moments:
        """Sum the products of the means of either coordinate; each part is truncated by itself."""
        pairs = list(zip(self.weights, self.parts, strict=True))
        return mixed_moments(pairs, axes, lambda law, n: law.along(axes[n], domain.sides[n]))

    def quantiles(
        self, side: Interval, probabilities: Sequence[float], axis: int = 0
    ) -> list[float]:
        """Invert the mixed distribution function, interpolated between quantiles of the parts."""
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
    >>> ProductLaw(NamedLaw("beta", [2, 3]), NamedLaw("uniform")).dimension
    2
    """

    def __init__(self, first: NumberLaw, second: NumberLaw) -> None:
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
        across = len(bins[1])
        flat = [self.weights[n : n + across] for n in range(0, len(self.weights), across)]
        self.known = Rectangles(self.edges, tuple(flat))

    def to_table(self) -> dict[str, Any]:
        """Return the edges and the masses."""
        edges = [list(map(fraction_text, side)) for side in self.edges]
        across = len(edges[1]) - 1
        flat = list(map(fraction_text, self.weights))
        rows = [flat[n : n + across] for n in range(0, len(flat), across)]
        return {"histogram": {"edges": edges, "masses": rows}}


class PlaneSamples(Law):
    """The empirical law of some points, with equal masses.

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

    name, dimension = "samples", 2

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
            raise InputError("samples", "points", "none", fault="there are no samples")
        self.points = tuple(found)

    def check(self, box: Box) -> None:
        """Raise InputError unless all points lie in the box."""
        for n, point in enumerate(self.points):
            if any(x not in side for x, side in zip(point, box.sides, strict=True)):
                given = ", ".join(map(fraction_text, point))
                raise InputError(f"samples[{n}]", f"points of {box!r}", f"({given})")

    def moments(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Moments:
        """Count; a point at an edge is in the cell above it, at the last one in the last cell."""
        share, cells = Fraction(1, len(self.points)), dict[tuple[int, ...], list[Fraction]]()
        for point in self.points:
            place, parts = [], []
            for x, axis in zip(point, axes, strict=True):
                n = min(bisect_right(axis, x), len(axis) - 1) - 1
                s = (x - axis[n]) / (axis[n + 1] - axis[n])
                place.append(n)
                parts.append(((1 - s) ** 2, s * (1 - s), s * s))
            cell = cells.setdefault(tuple(place), [Fraction(0)] * 9)
            for k, (a, b) in enumerate(product(*parts)):
                cell[k] += share * a * b
        rows = {place: list(map(Enclosure.of, cell)) for place, cell in cells.items()}
        return moments_from(rows, axes)

    def quantiles(
        self, side: Interval, probabilities: Sequence[float], axis: int = 0
    ) -> list[float]:
        """Return quantiles of the coordinates."""
        values = [float(point[axis]) for point in self.points]
        found: list[float] = np.quantile(values, probabilities).tolist()
        return found

    def to_table(self) -> dict[str, Any]:
        """Return how many points there are."""
        return {"samples": len(self.points)}


def _pair(given: Any, key: str) -> tuple[NumberLaw, NumberLaw]:
    pair = listed(given, key, "two laws")
    if len(pair) != 2:
        raise InputError(key, "two laws", f"{len(pair)}")
    for law in pair:
        if not isinstance(law, NumberLaw):
            raise InputError(key, "laws, such as NamedLaw('normal', [0, 1])", shown_kind(law))
    return pair[0], pair[1]


def uniform_on(box: Box) -> ProductLaw:
    """Return the uniform law of a box."""
    first, second = (
        Histogram([low, high], [1]) for low, high in zip(box.low, box.high, strict=True)
    )
    return ProductLaw(first, second)
