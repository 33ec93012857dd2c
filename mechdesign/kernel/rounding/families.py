"""Families of laws of a number: the integrals of 1, x and x**2 below a position.

Each family is a standard law, moved and stretched: x = location + scale t. Where an integral is
rational it is exact; else it lies between two rationals, both proved in
:mod:`mechdesign.exact.enclosures`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import inf
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
from mechdesign.kernel.rounding.moments import Axis, Cells, End, Ends, Law, basis

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
        """Count the integrals below each end of a cell."""
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
        """Move and stretch."""
        start, scale = self.location, self.scale
        t = (x - start) / scale if isinstance(x, Fraction) else x
        if t <= self.support[0]:
            return NONE
        mass, first, second = self.whole if t >= self.support[1] else self.standard(Fraction(t))
        square = mass * (start * start) + first * (2 * start * scale) + second * (scale * scale)
        return mass, mass * start + first * scale, square

    def check(self) -> None:
        """Check the scale."""
        need(self.scale > 0, "the scale of a law is not above 0")


@dataclass(frozen=True)
class Normal(Family):
    """The normal law: F, -f and F - t f, of its distribution F and density f at t."""

    whole = (Fraction(1), Fraction(0), Fraction(1))

    def standard(self, t: Fraction) -> Integrals:
        """Return F, -f and F - t f."""
        mass, density = normal_below(t), normal_density(t)
        return mass, -density, mass - density * t


@dataclass(frozen=True)
class Uniform(Family):
    """The uniform law on [0, 1]."""

    support = (0, 1)
    whole = (Fraction(1), HALF, Fraction(1, 3))

    def standard(self, t: Fraction) -> Integrals:
        """Return t, t**2 / 2 and t**3 / 3."""
        return t, t * t / 2, t * t * t / 3


@dataclass(frozen=True)
class Exponential(Family):
    """The law with P(T < t) = 1 - e**-t."""

    support = (0, inf)
    whole = (Fraction(1), Fraction(1), Fraction(2))

    def standard(self, t: Fraction) -> Integrals:
        """Integrate by parts."""
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
        """The means of T**k."""
        half = self.shape * self.shape / 2
        return Fraction(1), exponential(half), exponential(4 * half)

    def check(self) -> None:
        """Check the shape too."""
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
        """Return incomplete beta integrals over the whole one."""
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
        """The moments."""
        mean = self.a / (self.a + self.b)
        return Fraction(1), mean, mean * (self.a + 1) / (self.a + self.b + 1)

    def check(self) -> None:
        """Check the shapes too."""
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
