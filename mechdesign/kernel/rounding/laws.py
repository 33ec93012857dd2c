"""Laws of a number: those of a family, bins, and mixtures."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import distribution
from mechdesign.kernel.rounding.families import End, Integrals, Law, exactly
from mechdesign.kernel.rounding.shaped import AnyFamily

__all__ = ["AxisLaw", "Histogram", "Mixture"]


@dataclass(frozen=True)
class Histogram(Law):
    """A constant density on each bin."""

    kind: ClassVar[str] = "histogram"
    edges: tuple[Fraction, ...]
    masses: tuple[Fraction, ...]

    def below(self, x: End) -> Integrals:
        """Integrate the density, exactly."""
        whole, total = bisect_left(self.edges, x), [Fraction(0)] * 3
        ends = [*self.edges[: whole + 1]]
        for (low, high), mass in zip(pairwise(ends), self.masses, strict=False):
            top = high if high <= x else Fraction(x)
            for k in (1, 2, 3):
                total[k - 1] += mass * (top**k - low**k) / (k * (high - low))
        return exactly(*total)

    def check(self) -> None:
        """Check edges and masses."""
        need(all(a < b for a, b in pairwise(self.edges)), "the edges of bins are not increasing")
        distribution(self.masses, len(self.edges) - 1)

    def steps(self) -> int:
        """Count the bins."""
        return 50 * len(self.edges)


@dataclass(frozen=True)
class Mixture(Law):
    """A mixture of laws."""

    kind: ClassVar[str] = "mixture"
    weights: tuple[Fraction, ...]
    parts: tuple[AnyFamily, ...]

    def below(self, x: End) -> Integrals:
        """Add up."""
        zero, one, two = exactly(0, 0, 0)
        for weight, part in zip(self.weights, self.parts, strict=True):
            a, b, c = part.below(x)
            zero, one, two = zero + a * weight, one + b * weight, two + c * weight
        return zero, one, two

    def check(self) -> None:
        """Check weights and parts."""
        distribution(self.weights, len(self.parts))
        for part in self.parts:
            part.check()

    def steps(self) -> int:
        """Count the parts."""
        return sum(part.steps() for part in self.parts)


AxisLaw = AnyFamily | Histogram | Mixture
"""The law of a number."""
