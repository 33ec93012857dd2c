"""The law of the input of a rounded problem: families, bins, mixtures, products, stated moments.

Of a law of a number there are the integrals of 1, x and x**2 below a position. Each family is a
standard law, moved and stretched: x = location + scale t. Where an integral is rational it is
exact; else it lies between two rationals, both proved in :mod:`mechdesign.exact.enclosures`.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate, pairwise, product
from math import inf, prod
from typing import Any, ClassVar

from mechdesign.exact.enclosures import (
    Enclosure,
    beta_below,
    exponential,
    logarithm,
    normal_below,
    normal_density,
)
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import distribution
from mechdesign.kernel.rounding.moments import Axis, Cells, End, Ends, Law, Moments, basis
from mechdesign.kernel.schema import Kind

Integrals = tuple[Any, Any, Any]
"""The integrals of 1, x and x**2: rationals, or enclosures of irrational values."""

NONE = (Fraction(0),) * 3
HALF = Fraction(1, 2)

LEAST_MASS = Fraction(1, 10**12)
"""The least mass of a law inside the domain; the rest is cut off."""

SHORT = 1 << 128
"""Arguments of the normal distribution function are rounded outward to multiples of its inverse."""


class NumberLaw(Law):
    """The law of a number."""

    work: int = 4000
    """Steps of the integrals below a position."""

    @abstractmethod
    def below(self, x: End) -> Integrals:
        """Return the integrals of 1, x and x**2 from minus infinity to a position."""

    @abstractmethod
    def check(self) -> None:
        """Raise CertificateError unless its parameters are those of a law."""

    def means(self, axes: tuple[Axis, ...], ends: Ends) -> Cells:
        """Return differences of integrals below positions, over the mass inside the ends."""
        self.check()
        (axis,), ((low, high),) = axes, ends
        need(len(axes) == 1, "a law must have as many coordinates as the domain")
        edges = [low] * (low == -inf) + [*axis] + [high] * (high == inf)
        below = [self.below(x) for x in edges]
        whole, found = Enclosure.of(below[-1][0] - below[0][0]), Cells()
        need(whole.low > LEAST_MASS, "the law has a mass of less than 1e-12 on the interval")
        for n, (start, stop) in enumerate(pairwise(below), -(low == -inf)):
            inside = [Enclosure.of(b - a) for a, b in zip(start, stop, strict=True)]
            if inside[0].high:
                found[n,] = [(part / whole).positive() for part in basis(n, axis, inside)]
        return found

    def steps(self, axes: tuple[Axis, ...]) -> int:
        return (2 + max(map(len, axes))) * self.work + 120 * len(axes[0])


@dataclass(frozen=True)
class Family(NumberLaw):
    """A standard law on its support, moved and stretched."""

    support: ClassVar[tuple[float, float]] = (-inf, inf)
    whole: ClassVar[Any]
    """The integrals over the support."""

    location: Fraction = Fraction(0)
    scale: Fraction = Fraction(1)

    @abstractmethod
    def standard(self, t: Fraction) -> Integrals:
        """Return the integrals below a position inside the support of the standard law."""

    def below(self, x: End) -> Integrals:
        start, scale = self.location, self.scale
        t = (x - start) / scale if isinstance(x, Fraction) else x
        if t <= self.support[0]:
            return NONE
        mass, first, second = self.whole if t >= self.support[1] else self.standard(Fraction(t))
        square = mass * (start * start) + first * (2 * start * scale) + second * (scale * scale)
        return mass, mass * start + first * scale, square

    def check(self) -> None:
        need(self.scale > 0, "the scale of a law is not above 0")


@dataclass(frozen=True)
class Normal(Family):
    """The normal law: F, -f and F - t f, of its distribution F and density f at t."""

    whole = (Fraction(1), Fraction(0), Fraction(1))

    def standard(self, t: Fraction) -> Integrals:
        mass, density = normal_below(t), normal_density(t)
        return mass, -density, mass - density * t


@dataclass(frozen=True)
class Uniform(Family):
    """The uniform law on [0, 1]."""

    support = (0, 1)
    whole = (Fraction(1), HALF, Fraction(1, 3))

    def standard(self, t: Fraction) -> Integrals:
        return t, t * t / 2, t * t * t / 3


@dataclass(frozen=True)
class Exponential(Family):
    """The law with P(T < t) = 1 - e**-t."""

    support = (0, inf)
    whole = (Fraction(1), Fraction(1), Fraction(2))

    def standard(self, t: Fraction) -> Integrals:
        tail = exponential(-t)
        return 1 - tail, 1 - tail * (1 + t), 2 - tail * (2 + 2 * t + t * t)


@dataclass(frozen=True)
class Laplace(Family):
    """The law with the density e**-|t| / 2."""

    whole = (Fraction(1), Fraction(0), Fraction(2))

    def standard(self, t: Fraction) -> Integrals:
        """Integrate by parts: with s = |t| and e = e**-s / 2, the mean beyond t is (s + 1) e."""
        s = abs(t)
        e = exponential(-s) * HALF
        first, second = -(e * (s + 1)), e * (s * s + 2 * s + 2)
        return (e, first, second) if t < 0 else (1 - e, first, 2 - second)


@dataclass(frozen=True)
class Lognormal(Family):
    """The law of e**(shape Z), with a standard normal Z.

    Under the density of T**k, Z is shifted by k shape; the whole is e**(k**2 shape**2 / 2).
    """

    support = (0, inf)
    shape: Fraction = Fraction(1)

    def standard(self, t: Fraction) -> Integrals:
        """Return the whole of T**k times the normal distribution function, shifted."""
        log = logarithm(t)

        def shifted(k: int) -> Enclosure:
            low, high = ((end / self.shape - k * self.shape) * SHORT for end in (log.low, log.high))
            below, above = Fraction(low // 1, SHORT), Fraction(-(-high // 1), SHORT)
            return Enclosure(normal_below(below).low, normal_below(above).high)

        zero, one, two = (mean * shifted(k) for k, mean in enumerate(self.whole))
        return zero, one, two

    @cached_property
    def whole(self) -> Integrals:
        half = self.shape * self.shape / 2
        return Fraction(1), exponential(half), exponential(4 * half)

    def check(self) -> None:
        super().check()
        need(0 < self.shape <= 16, "the shape of a lognormal law is not above 0, or above 16")


@dataclass(frozen=True)
class Beta(Family):
    """The law with a density proportional to t**(a-1) (1-t)**(b-1) on [0, 1].

    By parts, (a + b) B(a + 1, b) = a B(a, b) - t**a (1 - t)**b for the integrals up to t.
    """

    support = (0, 1)
    a: Fraction = Fraction(1)
    b: Fraction = Fraction(1)

    def standard(self, t: Fraction) -> Integrals:
        a, b = self.a, self.b
        found, edge = [self._integral(t)], exponential(logarithm(t) * a + logarithm(1 - t) * b)
        for k in range(2):
            found.append((found[-1] * (a + k) - edge) / (a + k + b))
            edge = edge * t
        zero, one, two = (part / self._integral(Fraction(1)) for part in found)
        return zero, one, two

    def _integral(self, t: Fraction) -> Enclosure:
        """Return the integral up to t, from the nearer end."""
        a, b = self.a, self.b
        middle = a / (a + b)
        if t <= middle:
            return beta_below(t, a, b)
        whole = beta_below(middle, a, b) + beta_below(1 - middle, b, a)
        return whole - beta_below(1 - t, b, a)

    @property
    def whole(self) -> Integrals:
        mean = self.a / (self.a + self.b)
        return Fraction(1), mean, mean * (self.a + 1) / (self.a + self.b + 1)

    def check(self) -> None:
        super().check()
        need(min(self.a, self.b) > 0, "a shape of a beta law is not above 0")

    @property
    def work(self) -> int:  # type: ignore[override]
        """Terms of the series: some 200 over the distance of the mean from an end."""
        total = self.a + self.b
        return 4000 + int(400 * total / min(self.a, self.b) + 20 * total)


AnyFamily = Normal | Uniform | Exponential | Laplace | Lognormal | Beta

FAMILIES: dict[str, type[Family]] = {
    family.kind: family for family in (Normal, Uniform, Exponential, Laplace, Lognormal, Beta)
}
"""Every family by its name."""


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
        distribution(self.masses, len(bins(self.edges)))

    @property
    def work(self) -> int:  # type: ignore[override]
        return 50 * len(self.edges)


@dataclass(frozen=True)
class Mixture(NumberLaw):
    """A mixture of laws."""

    weights: tuple[Fraction, ...]
    parts: tuple[AnyFamily, ...]

    def below(self, x: End) -> Integrals:
        return total(self.weights, [part.below(x) for part in self.parts])

    def check(self) -> None:
        distribution(self.weights, len(self.parts))
        for part in self.parts:
            part.check()

    @property
    def work(self) -> int:  # type: ignore[override]
        return sum(part.work for part in self.parts)


AxisLaw = AnyFamily | Histogram | Mixture
"""The law of a number."""


@dataclass(frozen=True)
class Products(Law):
    """A mixture of laws whose coordinates are independent, each truncated by itself."""

    weights: tuple[Fraction, ...]
    parts: tuple[tuple[AxisLaw, ...], ...]

    def means(self, axes: tuple[Axis, ...], ends: Ends) -> Cells:
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
        sides = list(map(bins, self.edges))
        need(all(len(row) == len(sides[-1]) for row in self.masses), "expected a mass for each bin")
        flat = tuple(mass for row in self.masses for mass in row)
        return Products(flat, tuple(product(*sides))).means(axes, ends)

    def steps(self, axes: tuple[Axis, ...]) -> int:
        sizes, longest = list(map(len, self.edges)), 2 + max(map(len, axes))
        cells = 40 * prod(3 * len(axis) for axis in axes)
        return cells + 300 * (longest * sum(sizes) + prod(sizes))


@dataclass(frozen=True)
class Stated(Kind, kind="moments"):
    """Moments of the cells, for a law that is not in the file and has no known source.

    ``cells``: the means of each cell, cells and means row by row.
    ``tails``: the integrals of 1, r and r**2 below the first node and above the last.
    ``error``: A bound on the error of the sum of all moments; an unchecked claim.
    ``source``: A description of the moments.
    """

    cells: tuple[tuple[Fraction, ...], ...]
    tails: tuple[tuple[Fraction, ...], ...] = ()
    error: Fraction = Fraction(0)
    source: str = ""

    def moments(self, axes: tuple[Axis, ...], ends: Ends) -> Moments:
        below, above = self.tails or (NONE, NONE)
        return Moments(self.cells, (below, above), self.error)

    def steps(self, axes: tuple[Axis, ...]) -> int:
        return 20 * prod(3 * len(axis) for axis in axes)


Prior = AxisLaw | Products | Rectangles | Stated
"""The law of the input."""
