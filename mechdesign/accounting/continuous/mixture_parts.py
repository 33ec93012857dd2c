"""A mixture of normal laws between floats: its parts, and the mass of an interval."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from mechdesign.accounting.continuous.enclosures import Enclosure, normal_mass
from mechdesign.continuous.laws import GaussianMixture

__all__ = ["mass_between", "parts_of"]


def parts_of(law: GaussianMixture) -> tuple[Enclosure, Enclosure, Enclosure]:
    """Return the weights above 0, and the means and deviations of their parts, ``(n,)`` each."""
    kept = [part for part in zip(law.weights, law.means, law.deviations, strict=True) if part[0]]
    weights, means, deviations = (_enclosed(numbers) for numbers in zip(*kept, strict=True))
    return weights, means, deviations


def mass_between(law: GaussianMixture, low: float, high: float) -> Enclosure:
    """Return the probability of an interval.

    Examples
    --------
    >>> bool(mass_between(GaussianMixture.normal(0, 1), 0.0, float("inf")).low > 0.499)
    True
    """
    weights, means, deviations = parts_of(law)
    ends = ((Enclosure.of(end) - means) / deviations for end in (low, high))
    return (weights * normal_mass(*ends)).sum()


def _enclosed(numbers: Iterable[Fraction]) -> Enclosure:
    low, high = zip(*(Enclosure.rational(number).ends for number in numbers), strict=True)
    return Enclosure(Enclosure.of(low).low, Enclosure.of(high).low)
