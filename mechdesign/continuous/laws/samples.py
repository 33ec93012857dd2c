"""The exact laws of samples: a mass at each, or spread evenly around it."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import prod
from operator import add
from typing import Any

import numpy as np

from mechdesign.continuous.domain import Interval, pair_of
from mechdesign.continuous.laws.base import Law
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.arithmetic import lattice
from mechdesign.kernel.rounding import laws as kernel, moments
from mechdesign.resources import check_size


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

    Raises
    ------
    InputError
        If a value is not a finite number, or there are none.

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

    Raises
    ------
    InputError
        If a point is not a pair of finite numbers, or there are none.

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

    Raises
    ------
    InputError
        If a sample is not a finite number, or the bandwidth is not above 0.

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
