"""A mixture of normal laws, as the prior of a continuous input."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.accounting.continuous.arguments import finite, positive
from mechdesign.accounting.continuous.enclosures import Enclosure, normal_mass
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import as_fraction

__all__ = ["NormalMixture"]

ROUNDED = Fraction(1, 10**9)
"""How far from 1 the sum of weights may be that were rounded."""


@dataclass(frozen=True)
class NormalMixture:
    """The law Sum_i w_i N(m_i, s_i**2).

    Parameters
    ----------
    weights
        ``(n,)`` positive numbers that sum to 1, but for 1e-9; they are divided by their sum.
    means
        ``(n,)``.
    deviations
        ``(n,)`` standard deviations, positive.

    Raises
    ------
    InputError
        If there are none, not equally many, or one is out of its range.

    Examples
    --------
    >>> NormalMixture([0.4, 0.6], [30000, 60000], [9000, 15000])
    NormalMixture(0.4 N(30000, 9000²) + 0.6 N(60000, 15000²))
    """

    weights: tuple[Fraction, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]

    def __init__(
        self, weights: Iterable[Any], means: Iterable[Any], deviations: Iterable[Any]
    ) -> None:
        shares = [
            as_fraction(w, f"weights[{n}]")
            for n, w in enumerate(listed(weights, "weights", "a list of numbers"))
        ]
        centers = [
            finite(m, f"means[{n}]")
            for n, m in enumerate(listed(means, "means", "a list of numbers"))
        ]
        widths = [
            positive(s, f"deviations[{n}]")
            for n, s in enumerate(listed(deviations, "deviations", "a list of numbers"))
        ]
        if not len(shares) == len(centers) == len(widths) or not shares:
            given = f"{len(shares)} weights, {len(centers)} means, {len(widths)} deviations"
            raise InputError("mixture", "as many weights as means and deviations", given)
        total = sum(shares, Fraction(0))
        if min(shares) <= 0 or abs(total - 1) > ROUNDED:
            expected = "positive numbers that sum to 1"
            raise InputError("weights", expected, shown([float(w) for w in shares]))
        object.__setattr__(self, "weights", tuple(w / total for w in shares))
        object.__setattr__(self, "means", tuple(centers))
        object.__setattr__(self, "deviations", tuple(widths))

    @classmethod
    def normal(cls, mean: float, deviation: float) -> NormalMixture:
        """Return a single normal law."""
        return cls([1], [mean], [deviation])

    @property
    def parts(self) -> tuple[Enclosure, Enclosure, Enclosure]:
        """Weights, means and deviations, ``(n,)`` each."""
        ends = [Enclosure.rational(w).ends for w in self.weights]
        low, high = zip(*ends, strict=True)
        weights = Enclosure(Enclosure.of(low).low, Enclosure.of(high).low)
        return weights, Enclosure.of(self.means), Enclosure.of(self.deviations)

    def mass(self, low: float, high: float) -> Enclosure:
        """Return the probability of an interval."""
        weights, means, deviations = self.parts
        ends = ((Enclosure.of(end) - means) / deviations for end in (low, high))
        return (weights * normal_mass(*ends)).sum()

    def __repr__(self) -> str:
        parts = zip(self.weights, self.means, self.deviations, strict=True)
        terms = (f"{float(w):.6g} N({m:.6g}, {s:.6g}²)" for w, m, s in parts)
        return f"NormalMixture({' + '.join(terms)})"
