"""Laws from data: samples, histograms, kernel estimates. All are exact."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from mechdesign.continuous.interval import End, Interval, check_rising, end_text
from mechdesign.continuous.laws.base import Axis, AxisRows, NumberLaw
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.rounding import laws as kernel
from mechdesign.kernel.rounding.moments import basis
from mechdesign.prior import SUM_TOLERANCE, exact_numbers
from mechdesign.resources import check_size

__all__ = ["KDE", "Histogram", "Samples"]


class SampleLaw(NumberLaw):
    """A law that is made of samples: a file has its moments."""

    @abstractmethod
    def below(self, position: End) -> list[Fraction]:
        """Return the integrals of 1, x and x**2 up to a position, exactly."""

    def along(self, axis: Axis, side: Interval) -> AxisRows:
        """Return the means of each cell, exactly; a value at an edge is in the cell above it."""
        low, high = -math.inf, math.inf
        ends: list[End] = [low, *axis[:-1], high]
        sums = list(map(self.below, ends))
        if side.high > axis[-1]:
            sums.insert(-1, self.below(axis[-1]))
        if side.low == axis[0]:
            del sums[1]
        first = 0 if side.low == axis[0] else -1
        rows: AxisRows = {}
        for n, (start, stop) in enumerate(pairwise(sums), first):
            means = basis(n, axis, [b - a for a, b in zip(start, stop, strict=True)])
            if means[0] or means[2]:
                rows[n] = list(map(Enclosure.of, means))
        return rows


class Samples(SampleLaw):
    """The empirical law of some numbers, with equal masses.

    Parameters
    ----------
    values
        Numbers; a float stands for the decimal that it prints as.

    Raises
    ------
    InputError
        If one is no finite number, or there are none.

    Examples
    --------
    >>> Samples([1, 1, 4]).below(Fraction(2))
    [Fraction(2, 3), Fraction(2, 3), Fraction(2, 3)]
    """

    name = "samples"

    def __init__(self, values: Iterable[Any]) -> None:
        given = listed(values, "samples", "a list of numbers")
        check_size("entries", len(given), "samples")
        found = [as_fraction(value, f"samples[{n}]") for n, value in enumerate(given)]
        if not found:
            raise InputError("samples", "numbers", "none", fault="there are no samples")
        self.values = tuple(sorted(found))
        # sums of all values below, of their squares and so on, as integers over powers of a unit
        self._unit = math.lcm(*(value.denominator for value in self.values))
        whole = [int(value * self._unit) for value in self.values]
        self._sums = [
            [0, *accumulate(value**power for value in whole)] for power in range(MOST_POWER + 1)
        ]

    def check(self, interval: Interval) -> None:
        """Raise InputError unless all values lie in the interval."""
        for value in (self.values[0], self.values[-1]):
            if value not in interval:
                raise InputError("samples", f"numbers in {interval!r}", fraction_text(value))

    def power_sum(self, power: int, start: int, stop: int) -> Fraction:
        """Return the sum of a power of the values from one place to another, in rising order."""
        sums = self._sums[power]
        return Fraction(sums[stop] - sums[start], self._unit**power)

    def below(self, position: End) -> list[Fraction]:
        """Count the values below a position."""
        place = bisect_left(self.values, position)
        return [self.power_sum(k, 0, place) / len(self.values) for k in range(3)]

    def quantiles(
        self, side: Interval, probabilities: Sequence[float], axis: int = 0
    ) -> list[float]:
        """Return quantiles of the values."""
        found: list[float] = np.quantile(list(map(float, self.values)), probabilities).tolist()
        return found

    def to_table(self) -> dict[str, Any]:
        """Return the number of values."""
        return {"samples": len(self.values)}


MOST_POWER = 3
"""The highest power of values whose sums a kernel estimate needs."""


class Histogram(NumberLaw):
    """A law with a constant density on each bin.

    Parameters
    ----------
    edges
        Rising numbers, one more than there are bins.
    masses
        The probability of each bin; they sum to 1 within 1e-6, and are normalized exactly.

    Raises
    ------
    InputError
        If the edges do not rise, or the masses do not fit.

    Examples
    --------
    >>> Histogram([0, 1, 3], [0.5, 0.5]).masses
    (Fraction(1, 2), Fraction(1, 2))
    """

    name = "histogram"

    def __init__(self, edges: Iterable[Exact], masses: Iterable[Exact]) -> None:
        given = listed(edges, "histogram.edges", "a list of numbers")
        check_size("entries", len(given), "histogram.edges")
        self.edges = tuple(as_fraction(e, f"histogram.edges[{n}]") for n, e in enumerate(given))
        check_rising(self.edges, "histogram.edges")
        found = exact_numbers(masses, "histogram.masses")
        if len(found) != len(self.edges) - 1:
            expected = f"{len(self.edges) - 1} numbers, one for each bin"
            raise InputError("histogram.masses", expected, f"{len(found)} numbers")
        total = sum(found, Fraction(0))
        if abs(total - 1) > SUM_TOLERANCE:
            given_sum = f"sum {float(total):.12g}"
            raise InputError("histogram.masses", "masses that sum to 1", given_sum)
        self.masses = tuple(mass / total for mass in found)
        self.known = kernel.Histogram(self.edges, self.masses)

    def check(self, interval: Interval) -> None:
        """Raise InputError unless all bins lie in the interval."""
        for edge in (self.edges[0], self.edges[-1]):
            if edge not in interval:
                raise InputError("histogram.edges", f"numbers in {interval!r}", shown(str(edge)))

    def quantiles(
        self, side: Interval, probabilities: Sequence[float], axis: int = 0
    ) -> list[float]:
        """Interpolate the distribution function."""
        below = np.cumsum([0.0, *map(float, self.masses)])
        found: list[float] = np.interp(probabilities, below, list(map(float, self.edges))).tolist()
        return found

    def to_table(self) -> dict[str, Any]:
        """Return the edges and the masses."""
        edges = [end_text(edge) for edge in self.edges]
        return {"histogram": {"edges": edges, "masses": list(map(fraction_text, self.masses))}}


class KDE(SampleLaw):
    """A kernel estimate of a density: each sample is spread over an interval around it.

    The kernel is constant, from ``bandwidth`` below a sample to ``bandwidth`` above it, so that
    the moments of cells are exact; what is spread beyond the interval of the problem is refused.

    Parameters
    ----------
    samples
        Numbers.
    bandwidth
        Half the width of the kernel, > 0; default Silverman's rule, ``0.9 s n**(-1/5)`` times
        ``sqrt(3)``, which has the deviation of his normal kernel.

    Raises
    ------
    InputError
        If a sample is no finite number, or the bandwidth is not above 0.

    Examples
    --------
    >>> KDE([1, 2], bandwidth=1).below(Fraction(1))[0]
    Fraction(1, 4)
    """

    name = "kde"

    def __init__(self, samples: Iterable[Any], bandwidth: Exact | None = None) -> None:
        self.samples = Samples(samples)
        if bandwidth is None:
            values = np.array(list(map(float, self.samples.values)))
            spread = float(np.diff(np.quantile(values, [0.25, 0.75]))[0]) / 1.34
            sizes = [size for size in (float(values.std()), spread) if size > 0]
            if not sizes:
                fault = "all samples are equal: state a bandwidth"
                raise InputError("bandwidth", "a number > 0", "none", fault=fault)
            width = 0.9 * math.sqrt(3) * min(sizes) * len(values) ** -0.2
            bandwidth = f"{width:.4g}"
        self.bandwidth = as_fraction(bandwidth, "bandwidth", expected="a number > 0")
        if self.bandwidth <= 0:
            raise InputError("bandwidth", "a number > 0", shown(bandwidth))

    def check(self, interval: Interval) -> None:
        """Raise InputError unless all kernels lie in the interval."""
        values = self.samples.values
        for end in (values[0] - self.bandwidth, values[-1] + self.bandwidth):
            if end not in interval:
                expected = f"samples at least {fraction_text(self.bandwidth)} inside {interval!r}"
                raise InputError("samples", expected, f"mass at {float(end):.6g}")

    def below(self, position: End) -> list[Fraction]:
        """Return the integrals of 1, x and x**2 up to a position.

        A sample s that is spread up to there whole adds 1, s and s**2 + h**2 / 3; one that is cut
        adds the integral of x**k / 2 h from s - h to there.
        """
        samples, h = self.samples, self.bandwidth
        values, n = samples.values, len(samples.values)
        whole = n if position == math.inf else bisect_left(values, position - h)
        cut = n if position == math.inf else bisect_left(values, position + h)
        totals = [samples.power_sum(k, 0, whole) for k in range(3)]
        totals[2] += whole * h * h / 3
        if cut > whole:
            end = Fraction(position)
            count, first, second, third = (samples.power_sum(k, whole, cut) for k in range(4))
            starts = (
                first - h * count,
                second - 2 * h * first + h * h * count,
                third - 3 * h * second + 3 * h * h * first - h**3 * count,
            )
            for k in range(3):
                totals[k] += (count * end ** (k + 1) - starts[k]) / (2 * h * (k + 1))
        return [total / n for total in totals]

    def quantiles(
        self, side: Interval, probabilities: Sequence[float], axis: int = 0
    ) -> list[float]:
        """Return quantiles of the samples."""
        return self.samples.quantiles(side, probabilities)

    def to_table(self) -> dict[str, Any]:
        """Return how many samples there are, and the bandwidth."""
        bandwidth = fraction_text(self.bandwidth)
        return {"kde": {"samples": len(self.samples.values), "bandwidth": bandwidth}}
