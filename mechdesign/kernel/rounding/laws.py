"""The law of the input of a rounded problem, in the form of a file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate, pairwise, product
from math import prod

from mechdesign.exact.enclosures import Enclosure
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import distribution
from mechdesign.kernel.rounding.families import NONE, AnyFamily, Integrals, NumberLaw, Uniform
from mechdesign.kernel.rounding.moments import Axis, Cells, End, Ends, Law, Moments
from mechdesign.kernel.schema import Kind


def total(weights: Iterable[Fraction], integrals: Iterable[Integrals]) -> Integrals:
    """Return integrals with weights, summed."""
    zero, one, two = NONE
    for weight, (a, b, c) in zip(weights, integrals, strict=True):
        zero, one, two = zero + a * weight, one + b * weight, two + c * weight
    return zero, one, two


def bins(edges: Sequence[Fraction]) -> list[Uniform]:
    """Return the uniform law of each bin."""
    need(all(a < b for a, b in pairwise(edges)), "the edges of bins are not increasing")
    return [Uniform(low, high - low) for low, high in pairwise(edges)]


@dataclass(frozen=True)
class Histogram(NumberLaw):
    """A constant density on each bin."""

    edges: tuple[Fraction, ...]
    masses: tuple[Fraction, ...]

    @cached_property
    def _sums(self) -> list[Integrals]:
        """The integrals below each edge."""
        parts = zip(self.masses, bins(self.edges), strict=True)
        whole = (total([mass], [part.below(part.location + part.scale)]) for mass, part in parts)
        return list(accumulate(whole, lambda a, b: total([Fraction(1)] * 2, [a, b]), initial=NONE))

    def below(self, x: End) -> Integrals:
        """Add a part of the bin at the position to the whole bins below."""
        n = max(bisect_right(self.edges, x) - 1, 0)
        if n == len(self.masses):
            return self._sums[-1]
        low, high = self.edges[n : n + 2]
        inside = Uniform(low, high - low).below(x)
        return total([Fraction(1), self.masses[n]], [self._sums[n], inside])

    def check(self) -> None:
        """Check edges and masses."""
        distribution(self.masses, len(bins(self.edges)))

    @property
    def work(self) -> int:  # type: ignore[override]
        """The bins."""
        return 50 * len(self.edges)


@dataclass(frozen=True)
class Mixture(NumberLaw):
    """A mixture of laws."""

    weights: tuple[Fraction, ...]
    parts: tuple[AnyFamily, ...]

    def below(self, x: End) -> Integrals:
        """Add up."""
        return total(self.weights, [part.below(x) for part in self.parts])

    def check(self) -> None:
        """Check weights and parts."""
        distribution(self.weights, len(self.parts))
        for part in self.parts:
            part.check()

    @property
    def work(self) -> int:  # type: ignore[override]
        """The work of the parts."""
        return sum(part.work for part in self.parts)


AxisLaw = AnyFamily | Histogram | Mixture
"""The law of a number."""


@dataclass(frozen=True)
class Products(Law):
    """A mixture of laws whose coordinates are independent, each truncated by itself."""

    weights: tuple[Fraction, ...]
    parts: tuple[tuple[AxisLaw, ...], ...]

    def means(self, axes: tuple[Axis, ...], ends: Ends) -> Cells:
        """Multiply the means along the axes, and add up."""
        distribution(self.weights, len(self.parts))
        along = cache(lambda law, n: law.means(axes[n : n + 1], ends[n : n + 1]))
        found = Cells()
        for weight, laws in zip(self.weights, self.parts, strict=True):
            need(len(laws) == len(axes), "a law must have as many coordinates as the domain")
            known = [along(law, n).items() for n, law in enumerate(laws)]
            for cell in product(*known) if weight else ():
                place = tuple(n for (n,), _ in cell)
                means = [prod(part, start=weight) for part in product(*(row for _, row in cell))]
                before = found.get(place, [Enclosure.of(0)] * len(means))
                found[place] = [a + b for a, b in zip(before, means, strict=True)]
        return found

    def steps(self, axes: tuple[Axis, ...]) -> int:
        """Count the integrals of all parts, and the cells of each."""
        cells = 40 * prod(3 * len(axis) for axis in axes) * len(self.parts)
        return cells + (2 + max(map(len, axes))) * sum(
            law.work for own in self.parts for law in own
        )


@dataclass(frozen=True)
class Rectangles(Law):
    """A constant density on each rectangle of a grid."""

    edges: tuple[tuple[Fraction, ...], ...]
    masses: tuple[tuple[Fraction, ...], ...]

    def means(self, axes: tuple[Axis, ...], ends: Ends) -> Cells:
        """Return those of a product of uniform laws for each rectangle."""
        sides = list(map(bins, self.edges))
        need(all(len(row) == len(sides[-1]) for row in self.masses), "expected a mass for each bin")
        flat = tuple(mass for row in self.masses for mass in row)
        return Products(flat, tuple(product(*sides))).means(axes, ends)

    def steps(self, axes: tuple[Axis, ...]) -> int:
        """Count the uniform laws of each axis, and the rectangles."""
        sizes, longest = list(map(len, self.edges)), 2 + max(map(len, axes))
        cells = 40 * prod(3 * len(axis) for axis in axes)
        return cells + 300 * (longest * sum(sizes) + prod(sizes))


@dataclass(frozen=True)
class Stated(Kind, kind="moments"):
    """Moments of the cells, for a law that is not in the file and has no known source.

    Attributes
    ----------
    cells
        The means of each cell, cells and means row by row.
    tails
        The integrals of 1, r and r**2 below the first node and above the last.
    error
        A bound on the error of the sum of all moments; an unchecked claim.
    source
        A description of the moments.
    """

    cells: tuple[tuple[Fraction, ...], ...]
    tails: tuple[tuple[Fraction, ...], ...] = ()
    error: Fraction = Fraction(0)
    source: str = ""

    def moments(self, axes: tuple[Axis, ...], ends: Ends) -> Moments:
        """Return them unchanged."""
        below, above = self.tails or (NONE, NONE)
        return Moments(self.cells, (below, above), self.error)

    def steps(self, axes: tuple[Axis, ...]) -> int:
        """Count the means."""
        return 20 * prod(3 * len(axis) for axis in axes)


Prior = AxisLaw | Products | Rectangles | Stated
"""The law of the input."""
