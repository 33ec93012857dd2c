"""Families of laws that have a shape beside location and scale; and all families by name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mechdesign.exact.enclosures import (
    Enclosure,
    beta_below,
    exponential,
    logarithm,
    normal_below,
)
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.rounding.families import (
    ONE,
    STEPS,
    Exponential,
    Family,
    Integrals,
    Laplace,
    Normal,
    Uniform,
    exactly,
)

__all__ = ["FAMILIES", "AnyFamily", "Beta", "Lognormal"]

SHORT = 1 << 128
"""Arguments of the normal distribution function are rounded outward to multiples of its inverse."""


@dataclass(frozen=True)
class Lognormal(Family):
    """The law of e**(shape Z), with a standard normal Z.

    Under the density of T**k, Z is shifted by k shape; the whole is e**(k**2 shape**2 / 2).
    """

    kind: ClassVar[str] = "lognormal"
    shape: Fraction = ONE

    def standard(self, t: Fraction) -> Integrals:
        """Return the whole of T**k times the normal distribution function, shifted."""
        if t <= 0:
            return exactly(0, 0, 0)
        log = logarithm(t)

        def shifted(k: int) -> Enclosure:
            low, high = ((end / self.shape - k * self.shape) * SHORT for end in (log.low, log.high))
            below, above = Fraction(low // 1, SHORT), Fraction(-(-high // 1), SHORT)
            return Enclosure(normal_below(below).low, normal_below(above).high)

        zero, one, two = (mean * shifted(k) for k, mean in enumerate(self.whole()))
        return zero, one, two

    def whole(self) -> Integrals:
        """Return the means of T**k."""
        half = self.shape * self.shape / 2
        return Enclosure.of(1), exponential(half), exponential(4 * half)

    def check(self) -> None:
        """Check the shape too."""
        super().check()
        need(0 < self.shape <= 16, "the shape of a lognormal law is not above 0, or above 16")


@dataclass(frozen=True)
class Beta(Family):
    """The law with a density proportional to t**(a-1) (1-t)**(b-1) on [0, 1].

    By parts, (a + b) B(a + 1, b) = a B(a, b) - t**a (1 - t)**b for the integrals up to t.
    """

    kind: ClassVar[str] = "beta"
    a: Fraction = ONE
    b: Fraction = ONE

    def standard(self, t: Fraction) -> Integrals:
        """Return incomplete beta integrals over the whole one."""
        if t <= 0 or t >= 1:
            return exactly(0, 0, 0) if t <= 0 else self.whole()
        a, b = self.a, self.b
        found = [self._integral(t)]
        edge = exponential(logarithm(t) * a + logarithm(1 - t) * b)
        for k in range(2):
            found.append((found[-1] * (a + k) - edge) / (a + k + b))
            edge = edge * t
        zero, one, two = (part / self._integral(ONE) for part in found)
        return zero, one, two

    def _integral(self, t: Fraction) -> Enclosure:
        """Return the integral up to t, from the nearer end."""
        a, b = self.a, self.b
        middle = a / (a + b)
        if t <= middle:
            return beta_below(t, a, b)
        whole = beta_below(middle, a, b) + beta_below(1 - middle, b, a)
        return whole - beta_below(1 - t, b, a)

    def whole(self) -> Integrals:
        """Return the moments."""
        a, b = self.a, self.b
        mean = a / (a + b)
        return exactly(1, mean, mean * (a + 1) / (a + b + 1))

    def check(self) -> None:
        """Check the shapes too."""
        super().check()
        need(min(self.a, self.b) > 0, "a shape of a beta law is not above 0")

    def steps(self) -> int:
        """Count terms of the series: some 200 over the distance of the mean from an end."""
        total = self.a + self.b
        return STEPS + int(400 * total / min(self.a, self.b) + 20 * total)


FAMILIES: dict[str, type[Family]] = {
    family.kind: family for family in (Normal, Uniform, Exponential, Laplace, Lognormal, Beta)
}
"""Every family by its name."""

AnyFamily = Normal | Uniform | Exponential | Laplace | Lognormal | Beta
