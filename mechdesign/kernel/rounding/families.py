"""Families of laws of a number: enclosures of the integrals of 1, x and x**2 below a position.

Each family is a standard law, moved and stretched: x = location + scale t. Where an integral is
rational it is exact; else it lies between two rationals, both proved in
:mod:`mechdesign.exact.enclosures`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import ClassVar

from mechdesign.exact.enclosures import Enclosure, exponential, normal_below, normal_density
from mechdesign.kernel.arithmetic import need

__all__ = [
    "End",
    "Exponential",
    "Family",
    "Integrals",
    "Laplace",
    "Law",
    "Normal",
    "Uniform",
    "exactly",
]

End = Fraction | float
"""A position: an exact rational; a float only where it is infinite."""

Integrals = tuple[Enclosure, Enclosure, Enclosure]
"""Those of 1, x and x**2."""

ZERO, ONE = Fraction(0), Fraction(1)
HALF = Fraction(1, 2)

STEPS = 4000
"""Steps of the integrals below a position."""


def exactly(*numbers: Fraction | int) -> Integrals:
    """Return integrals that are rational."""
    zero, one, two = map(Enclosure.of, numbers)
    return zero, one, two


class Law(ABC):
    """The law of a number."""

    @abstractmethod
    def below(self, x: End) -> Integrals:
        """Return the integrals of 1, x and x**2 from minus infinity to a position."""

    @abstractmethod
    def check(self) -> None:
        """Raise CertificateError unless its parameters are those of a law."""

    def steps(self) -> int:
        """Return how much work the integrals below a position are."""
        return STEPS


@dataclass(frozen=True)
class Family(Law):
    """A standard law, moved and stretched."""

    location: Fraction = ZERO
    scale: Fraction = ONE

    @abstractmethod
    def standard(self, t: Fraction) -> Integrals:
        """Return the integrals below a position of the standard law."""

    @abstractmethod
    def whole(self) -> Integrals:
        """Return those of the whole standard law."""

    def below(self, x: End) -> Integrals:
        """Move and stretch."""
        start, scale = self.location, self.scale
        if x == -inf:
            return exactly(0, 0, 0)
        if isinstance(x, Fraction):
            mass, first, second = self.standard((x - start) / scale)
        else:
            mass, first, second = self.whole()
        square = mass * (start * start) + first * (2 * start * scale) + second * (scale * scale)
        return mass, mass * start + first * scale, square

    def check(self) -> None:
        """Check the scale."""
        need(self.scale > 0, "the scale of a law is not above 0")


@dataclass(frozen=True)
class Normal(Family):
    """The normal law: F, -f and F - t f, of its distribution F and density f at t."""

    kind: ClassVar[str] = "normal"

    def standard(self, t: Fraction) -> Integrals:
        """Return F, -f and F - t f."""
        mass, density = normal_below(t), normal_density(t)
        return mass, -density, mass - density * t

    def whole(self) -> Integrals:
        """Return mean 0 and variance 1."""
        return exactly(1, 0, 1)


@dataclass(frozen=True)
class Uniform(Family):
    """The uniform law on [0, 1]."""

    kind: ClassVar[str] = "uniform"

    def standard(self, t: Fraction) -> Integrals:
        """Return t, t**2 / 2 and t**3 / 3."""
        t = min(max(t, ZERO), ONE)
        return exactly(t, t * t / 2, t * t * t / 3)

    def whole(self) -> Integrals:
        """Return those up to 1."""
        return self.standard(ONE)


@dataclass(frozen=True)
class Exponential(Family):
    """The law with P(T < t) = 1 - e**-t."""

    kind: ClassVar[str] = "exponential"

    def standard(self, t: Fraction) -> Integrals:
        """Integrate by parts."""
        if t <= 0:
            return exactly(0, 0, 0)
        tail, (one, mean, square) = exponential(-t), self.whole()
        return one - tail, mean - tail * (1 + t), square - tail * (2 + 2 * t + t * t)

    def whole(self) -> Integrals:
        """Return mean 1 and second moment 2."""
        return exactly(1, 1, 2)


@dataclass(frozen=True)
class Laplace(Family):
    """The law with the density e**-|t| / 2."""

    kind: ClassVar[str] = "laplace"

    def standard(self, t: Fraction) -> Integrals:
        """Integrate by parts: with s = |t| and e = e**-s / 2, the mean beyond t is (s + 1) e."""
        s = abs(t)
        e = exponential(-s) * HALF
        first, second = -(e * (s + 1)), e * (s * s + 2 * s + 2)
        return (e, first, second) if t < 0 else (-e + 1, first, -second + 2)

    def whole(self) -> Integrals:
        """Return mean 0 and second moment 2."""
        return exactly(1, 0, 2)
