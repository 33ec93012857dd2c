"""Laws of a continuous input: samples, histograms, named laws, mixtures, kernel estimates.

A design and its proof depend on a law only through the moments in
:mod:`mechdesign.kernel.rounding`: means over the cells between nodes. A saved file names a law that
the kernel knows, and the kernel encloses the means itself; for other laws, based on samples that no
file contains, a file has the means.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import prod
from operator import add
from typing import Any, ClassVar

import numpy as np

from mechdesign.continuous.domain import Box, End, Interval, end_text, pair_of
from mechdesign.errors import InputError, did_you_mean, listed, shown, shown_kind
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.arithmetic import lattice
from mechdesign.kernel.rounding import laws as kernel, moments
from mechdesign.kernel.rounding.laws import FAMILIES, Normal, Prior, Stated
from mechdesign.kernel.rounding.moments import Axis, Moments
from mechdesign.prior import distribution, exact_numbers
from mechdesign.resources import check_size

SHAPES = {"lognormal": ("shape",), "beta": ("a", "b")}
"""The shape parameters of laws that have any; location and scale follow them."""

SAME = {"norm": "normal", "expon": "exponential", "lognorm": "lognormal"}
"""Accepted synonyms: the names in scipy.stats."""

MOST_SHOWN = 8
"""Longer lists are abridged in a repr."""


class Law(ABC):
    """The law of a number or of a point, truncated to the interval or the box.

    Attributes
    ----------
    measure
        The law in the kernel, or one of the same kind.
    extent
        The ends on each axis of what holds all its mass, if the domain must hold that; else None.
    """

    dimension: ClassVar[int] = 1
    """How many coordinates it has."""

    key: ClassVar[str] = "law"
    """Its key in errors."""

    by_name: bool = True
    """Whether a file states it by name; else by its moments."""

    measure: Any
    extent: tuple[tuple[Fraction, Fraction], ...] | None = None

    def check(self, domain: Interval | Box) -> None:
        """Raise :class:`InputError` unless the law matches the interval or the box."""
        if self.extent is None:
            self._check_mass(domain)
            return
        for side, ends in zip(domain.sides, self.extent, strict=True):
            for end in ends:
                if end not in side:
                    raise InputError(self.key, f"numbers in {side!r}", end_text(end))

    def _check_mass(self, domain: Interval | Box) -> None:
        low, high = (self._mass(end) for (side,) in [domain.sides] for end in (side.low, side.high))
        if (high - low).low < Fraction(1, 10**12):
            expected = f"a law with a mass of 1e-12 or more on {domain!r}"
            raise InputError("law", expected, f"{float((high - low).high):.3g} of {self!r}")

    def _mass(self, position: End) -> Enclosure:
        return Enclosure.of(self.measure.below(position)[0])

    def moments(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Moments:
        """Return the moments on the cells between nodes."""
        found: Moments = self.measure.moments(axes, domain.ends)
        return found

    def below(self, position: Fraction, side: Interval, axis: int = 0) -> float:
        """Return the approximate probability below a position, of one coordinate.

        It determines the sizes of cells; no proof depends on it.
        """
        low, here, high = (self._mass(x).middle for x in (side.low, position, side.high))
        return float((here - low) / (high - low))

    @abstractmethod
    def to_table(self) -> dict[str, Any]:
        """Return the ``[prior]`` table; for samples, only their number."""

    def stated(self, domain: Interval | Box, axes: tuple[Axis, ...]) -> Prior:
        """Return the law in the form of a saved file: by name, or by its moments."""
        if self.by_name:
            known: Prior = self.measure
            return known
        found = self.moments(domain, axes)
        tails = found.tails if any(map(any, found.tails)) else ()
        return Stated(found.cells, tails, found.error, repr(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Law) and bool(self.measure == other.measure)

    def __hash__(self) -> int:
        return hash(self.measure)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_arguments(next(iter(self.to_table().values())))})"


def _arguments(value: Any) -> str:
    """Return a table as arguments of a call; long lists are abridged."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={_arguments(inner)}" for key, inner in value.items())
    if not isinstance(value, list):
        return str(value)
    texts = [*map(_arguments, value)]
    texts = texts if len(texts) <= MOST_SHOWN else [*texts[:3], "...", texts[-1]]
    return f"[{', '.join(texts)}]"


class NamedLaw(Law):
    """A law given by its name and its parameters in ``scipy.stats``.

    Parameters
    ----------
    name
        ``"normal"`` (or ``"norm"``), ``"uniform"``, ``"exponential"``, ``"laplace"``,
        ``"lognormal"`` or ``"beta"``.
    parameters
        The shape parameters, if the law has any, then optionally location and scale, as in
        ``scipy.stats``: ``[mean, deviation]`` for a normal law, ``[a, b]`` for a beta law, ``[low,
        length]`` for a uniform one.

    Notes
    -----
    Laws without a mean, such as Cauchy's, are not supported: no loss could be bounded.

    Examples
    --------
    >>> NamedLaw("norm", [0, 2]).measure
    Normal(location=Fraction(0, 1), scale=Fraction(2, 1))
    """

    def __init__(self, name: str, parameters: Iterable[Any] = ()) -> None:
        self.law = SAME.get(name, name)
        if self.law not in FAMILIES:
            expected = f"one of {', '.join(FAMILIES)}, which have a mean"
            hint = did_you_mean(str(name), [*FAMILIES, *SAME])
            raise InputError("law.name", expected, shown(name), hint)
        names = SHAPES.get(self.law, ())
        found, shapes = exact_list(parameters, "law.parameters"), len(names)
        if not shapes <= len(found) <= shapes + 2:
            expected = f"{shapes} to {shapes + 2} numbers, as scipy.stats takes them"
            raise InputError("law.parameters", expected, f"{len(found)}")
        found += [Fraction(0), Fraction(1)][len(found) - shapes :]
        for n, parameter in enumerate(found):
            if n != shapes and parameter <= 0:
                raise InputError(f"law.parameters[{n}]", "a number > 0", shown(str(parameter)))
        self.parameters = tuple(found)
        named: dict[str, Any] = dict(zip((*names, "location", "scale"), found, strict=True))
        self.measure = FAMILIES[self.law](**named)

    def to_table(self) -> dict[str, Any]:
        """Return the name and the parameters."""
        return {"law": {"name": self.law, "parameters": list(map(fraction_text, self.parameters))}}


class Histogram(Law):
    """A law with a constant density on each bin.

    Parameters
    ----------
    edges
        Increasing numbers, one more than there are bins.
    masses
        The probability of each bin; they sum to 1 within 1e-6, and are normalized exactly.

    Examples
    --------
    >>> Histogram([0, 1, 3], [0.5, 0.5]).masses
    (Fraction(1, 2), Fraction(1, 2))
    """

    key = "histogram.edges"

    def __init__(self, edges: Iterable[Exact], masses: Iterable[Exact]) -> None:
        self.edges = rising(edges, self.key)
        found = exact_numbers(masses, "histogram.masses")
        if len(found) != len(self.edges) - 1:
            expected = f"{len(self.edges) - 1} numbers, one for each bin"
            raise InputError("histogram.masses", expected, f"{len(found)} numbers")
        self.masses = distribution(found, "histogram.masses")
        self.extent = ((self.edges[0], self.edges[-1]),)
        self.measure = kernel.Histogram(self.edges, self.masses)

    def to_table(self) -> dict[str, Any]:
        """Return the edges and the masses."""
        columns = {"edges": self.edges, "masses": self.masses}
        return {"histogram": {key: list(map(fraction_text, c)) for key, c in columns.items()}}


class GaussianMixture(Law):
    """A mixture of normal laws.

    Parameters
    ----------
    weights
        The probability of each part; they sum to 1 within 1e-6, and are normalized exactly.
    means, deviations
        Those of each part; deviations are > 0.

    Examples
    --------
    >>> GaussianMixture([1, 3], [-1, 1], [1, 2]) == GaussianMixture([0.25, 0.75], [-1, 1], [1, 2])
    Traceback (most recent call last):
    mechdesign.errors.InputError: mixture.weights: expected numbers that sum to 1, given sum 4
    """

    def __init__(
        self, weights: Iterable[Any], means: Iterable[Any], deviations: Iterable[Any]
    ) -> None:
        given = exact_numbers(weights, "mixture.weights")
        self.weights = distribution(given, "mixture.weights")
        self.means = tuple(exact_list(means, "mixture.means"))
        self.deviations = exact_numbers(deviations, "mixture.deviations")
        for key, part in (("means", self.means), ("deviations", self.deviations)):
            if len(part) != len(self.weights):
                expected = f"{len(self.weights)} numbers, one for each weight"
                raise InputError(f"mixture.{key}", expected, f"{len(part)}")
        if min(self.deviations) <= 0:
            raise InputError("mixture.deviations", "numbers > 0", "0")
        parts = map(Normal, self.means, self.deviations)
        self.measure = kernel.Mixture(self.weights, tuple(parts))

    @classmethod
    def normal(cls, mean: Any, deviation: Any) -> GaussianMixture:
        """Return a single normal law.

        Examples
        --------
        >>> GaussianMixture.normal(0, 5).deviations
        (Fraction(5, 1),)
        """
        return cls([1], [mean], [deviation])

    def to_table(self) -> dict[str, Any]:
        """Return the weights, means and deviations."""
        columns = {"weights": self.weights, "means": self.means, "deviations": self.deviations}
        return {
            "mixture": {key: [fraction_text(x) for x in column] for key, column in columns.items()}
        }


class Atoms(moments.Law):
    """Equal masses at some points, of any dimension."""

    def __init__(self, points: Sequence[tuple[Fraction, ...]]) -> None:
        self._points, self._unit = lattice(points)

    def means(self, axes: tuple[moments.Axis, ...], ends: moments.Ends) -> moments.Cells:
        """Sum products of powers over each cell; a point at an edge is in the cell above it."""
        unit, d, sums = self._unit, len(axes), dict[tuple[int, ...], list[int]]()
        edges = [[math.ceil(t * unit) for t in axis] for axis in axes]
        last = [
            len(axis) - 1 - (high != math.inf) for axis, (_, high) in zip(axes, ends, strict=True)
        ]
        for point in self._points:
            at = zip(point, edges, last, strict=True)
            place = tuple(min(bisect_right(edge, x) - 1, end) for x, edge, end in at)
            powers = map(prod, product(*((1, x, x * x) for x in point)))
            sums[place] = list(map(add, sums.get(place, [0] * 3**d), powers))
        units = [len(self._points) * unit ** sum(powers) for powers in moments.PLACES[d]]
        found = moments.Cells()
        for place, totals in sums.items():
            row: list[Any] = [Fraction(total, n) for total, n in zip(totals, units, strict=True)]
            for n, axis in reversed([*zip(place, axes, strict=True)]):
                triples = [moments.basis(n, axis, row[k : k + 3]) for k in range(0, len(row), 3)]
                row = [mean for column in zip(*triples, strict=True) for mean in column]
            found[place] = list(map(Enclosure.of, row))
        return found

    def steps(self, axes: tuple[moments.Axis, ...]) -> int:
        """Count the points, which only designs need."""
        return len(self._points)


class Samples(Law):
    """The empirical law of some numbers, with equal masses.

    Parameters
    ----------
    values
        Numbers; a float is read as the decimal that it prints as.

    Examples
    --------
    >>> Samples([1, 1, 4]).below(Fraction(5, 2), Interval(0, 5))
    0.75
    """

    key, by_name = "samples", False

    def __init__(self, values: Iterable[Any]) -> None:
        given = listed(values, "samples", "a list of numbers")
        self._hold([(as_fraction(value, f"samples[{n}]"),) for n, value in enumerate(given)])

    def _hold(self, points: list[tuple[Fraction, ...]]) -> None:
        if not points:
            raise InputError("samples", "numbers", "none", fault="there are no samples")
        check_size("entries", self.dimension * len(points), "samples")
        self.points = tuple(points)
        self._columns = [sorted(column) for column in zip(*points, strict=True)]
        self.extent = tuple((column[0], column[-1]) for column in self._columns)
        self.measure = Atoms(points)

    @property
    def values(self) -> tuple[Fraction, ...]:
        """The numbers in increasing order; for points, the first coordinates."""
        return tuple(self._columns[0])

    def below(self, position: Fraction, side: Interval, axis: int = 0) -> float:
        """Return the share of coordinates below a position, interpolated between them."""
        column = self._columns[axis]
        n = bisect_left(column, position)
        if not 0 < n < len(column):
            return float(n > 0)
        low, high = column[n - 1 : n + 1]
        return float(n - 1 + (position - low) / (high - low)) / (len(column) - 1)

    def to_table(self) -> dict[str, Any]:
        """Return the number of samples."""
        return {"samples": len(self._columns[0])}


class PlaneSamples(Samples):
    """The empirical law of some points, with equal masses.

    Parameters
    ----------
    points
        ``(n, 2)`` numbers; a float is read as the decimal that it prints as.

    Examples
    --------
    >>> PlaneSamples([(0, 0), (1, 0.5)])
    PlaneSamples(2)
    """

    dimension = 2

    def __init__(self, points: Iterable[Sequence[Any]]) -> None:
        given = enumerate(listed(points, "samples", "a list of points"))
        pairs = [(f"samples[{n}]", pair_of(point, f"samples[{n}]")) for n, point in given]
        self._hold([tuple(as_fraction(x, key) for x in pair) for key, pair in pairs])


class KDE(Law):
    """A kernel estimate of a density: each sample is spread over an interval around it.

    The kernel is constant, from ``bandwidth`` below a sample to ``bandwidth`` above it, so the
    moments of cells are exact; mass beyond the interval of the problem raises an error.

    Parameters
    ----------
    samples
        Numbers.
    bandwidth
        Half the width of the kernel, > 0; default Silverman's rule, ``0.9 s n**(-1/5)`` times
        ``sqrt(3)``, for equal deviation to his normal kernel.

    Examples
    --------
    >>> KDE([1, 2], bandwidth=1).below(Fraction(1), Interval(0, 5))
    0.25
    """

    key, by_name = "samples", False

    def __init__(self, samples: Iterable[Any], bandwidth: Exact | None = None) -> None:
        values = Samples(samples).values
        if bandwidth is None:
            numbers = np.array(list(map(float, values)))
            spread = float(np.diff(np.quantile(numbers, [0.25, 0.75]))[0]) / 1.34
            sizes = [size for size in (float(numbers.std()), spread) if size > 0]
            if not sizes:
                fault = "all samples are equal: state a bandwidth"
                raise InputError("bandwidth", "a number > 0", "none", fault=fault)
            width = 0.9 * math.sqrt(3) * min(sizes) * len(numbers) ** -0.2
            bandwidth = f"{width:.4g}"
        self.bandwidth = h = as_fraction(bandwidth, "bandwidth", expected="a number > 0")
        if h <= 0:
            raise InputError("bandwidth", "a number > 0", shown(bandwidth))
        self.size, self.extent = len(values), ((values[0] - h, values[-1] + h),)
        changes = Counter(value - h for value in values)
        changes.subtract(value + h for value in values)
        edges = tuple(sorted(changes))
        held = accumulate(changes[edge] for edge in edges[:-1])
        unit = 2 * h * len(values)
        masses = tuple(n * (b - a) / unit for n, (a, b) in zip(held, pairwise(edges), strict=True))
        self.measure = kernel.Histogram(edges, masses)

    def to_table(self) -> dict[str, Any]:
        """Return the number of samples, and the bandwidth."""
        return {"kde": {"samples": self.size, "bandwidth": fraction_text(self.bandwidth)}}


class PlaneMixture(Law):
    """A mixture of laws whose coordinates are independent.

    Parameters
    ----------
    weights
        The probability of each part; they sum to 1 within 1e-6, and are normalized exactly.
    parts
        For each part a pair of laws of a number, for the first and the second coordinate.

    Examples
    --------
    >>> town, port = [NamedLaw("normal", [m, 1]) for m in (2, 8)]
    >>> PlaneMixture([0.5, 0.5], [(town, town), (port, port)]).dimension
    2
    """

    dimension = 2

    def __init__(self, weights: Iterable[Exact], parts: Iterable[Sequence[Law]]) -> None:
        self.weights = distribution(exact_numbers(weights, "weights"), "weights")
        given = enumerate(listed(parts, "parts", "pairs of laws"))
        self.parts = [_pair_of_laws(part, f"parts[{n}]") for n, part in given]
        if len(self.parts) != len(self.weights):
            expected = f"{len(self.weights)} pairs of laws, one for each weight"
            raise InputError("parts", expected, f"{len(self.parts)}")
        self.by_name = all(law.by_name for part in self.parts for law in part)
        measures = tuple(tuple(law.measure for law in part) for part in self.parts)
        self.measure = kernel.Products(self.weights, measures)

    def check(self, domain: Interval | Box) -> None:
        """Raise InputError unless each part matches the box."""
        for part in self.parts:
            for law, side in zip(part, domain.sides, strict=True):
                law.check(side)

    def below(self, position: Fraction, side: Interval, axis: int = 0) -> float:
        """Mix the parts; each is truncated separately."""
        pairs = zip(self.weights, self.parts, strict=True)
        return sum(float(w) * part[axis].below(position, side) for w, part in pairs)

    def to_table(self) -> dict[str, Any]:
        """Return the weights and the tables of the parts."""
        parts = [[law.to_table() for law in part] for part in self.parts]
        return {"parts": {"weights": list(map(fraction_text, self.weights)), "laws": parts}}

    def __repr__(self) -> str:
        weights = ", ".join(map(fraction_text, self.weights))
        return f"{type(self).__name__}([{weights}], {self.parts})"


class ProductLaw(PlaneMixture):
    """A law whose two coordinates are independent.

    Parameters
    ----------
    first, second
        Their laws.

    Examples
    --------
    >>> ProductLaw(NamedLaw("beta", [2, 3]), NamedLaw("uniform")).dimension
    2
    """

    def __init__(self, first: Law, second: Law) -> None:
        super().__init__([1], [(first, second)])


class PlaneHistogram(Law):
    """A law with a constant density on each bin of a grid.

    Parameters
    ----------
    edges
        The increasing edges of the bins of the first and of the second coordinate.
    masses
        ``(n_first, n_second)`` probabilities of the bins, which sum to 1 within 1e-6.
    """

    dimension, key = 2, "histogram.edges"

    def __init__(self, edges: Sequence[Iterable[Exact]], masses: Iterable[Iterable[Exact]]) -> None:
        sides = enumerate(pair_of(edges, "histogram.edges", "two lists of numbers"))
        self.edges = tuple(rising(side, f"histogram.edges[{n}]") for n, side in sides)
        n, m = (len(side) - 1 for side in self.edges)
        check_size("entries", n * m, "histogram.masses")
        given = enumerate(listed(masses, "histogram.masses", "rows of numbers"))
        rows = [exact_numbers(row, f"histogram.masses[{k}]") for k, row in given]
        if [len(row) for row in rows] != [m] * n:
            raise InputError("histogram.masses", f"{n} rows of {m} numbers", f"{len(rows)} rows")
        flat = distribution([mass for row in rows for mass in row], "histogram.masses")
        self.masses = tuple(flat[k : k + m] for k in range(0, len(flat), m))
        self.extent = tuple((side[0], side[-1]) for side in self.edges)
        self.measure = kernel.Rectangles(self.edges, self.masses)
        columns = tuple(zip(*self.masses, strict=True))
        along = zip(self.edges, (self.masses, columns), strict=True)
        self._coordinates = [Histogram(side, map(sum, lines)) for side, lines in along]

    def below(self, position: Fraction, side: Interval, axis: int = 0) -> float:
        """Return the probability for one coordinate."""
        return self._coordinates[axis].below(position, side)

    def to_table(self) -> dict[str, Any]:
        """Return the edges and the masses."""
        edges, masses = (
            [list(map(fraction_text, row)) for row in rows] for rows in (self.edges, self.masses)
        )
        return {"histogram": {"edges": edges, "masses": masses}}


def exact_list(given: Any, key: str) -> list[Fraction]:
    """Return a list of numbers, exact."""
    numbers = listed(given, key, "a list of numbers")
    check_size("entries", len(numbers), key)
    return [as_fraction(number, f"{key}[{n}]") for n, number in enumerate(numbers)]


def rising(given: Any, key: str) -> tuple[Fraction, ...]:
    """Return at least two exact numbers in increasing order."""
    found = exact_list(given, key)
    if len(found) < 2:
        raise InputError(key, "at least two positions", len(found))
    for low, high in pairwise(found):
        if not low < high:
            raise InputError(key, "positions that rise", f"{end_text(low)} before {end_text(high)}")
    return tuple(found)


def _pair_of_laws(given: Any, key: str) -> tuple[Law, Law]:
    pair = pair_of(given, key, "two laws")
    for law in pair:
        if not isinstance(law, Law) or law.dimension != 1:
            raise InputError(key, "laws, such as NamedLaw('normal', [0, 1])", shown_kind(law))
    return pair[0], pair[1]
