"""The base class of laws: a few integers that determine a large channel and its leakage.

A law checks that its integers determine a channel (every row sums to 1), and returns its leakage
under a generator whose rows all have one exponent a. For most laws that is the largest ratio of two
probabilities that the generator bounds by e**a, as a rational: the generator holds if and only if
the ratio is at most e**a.

Nothing here is shared with the sampling code. A file cannot prove that reports are drawn with these
integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import Cone

__all__ = ["WHOLE", "LargestRatio", "Law", "Leak", "check_masses", "denominator_bits"]

WHOLE = 1 << 62
"""The probability 1 in the unit of masses."""

TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True)
class Leak(ABC):
    """The leakage of a law under a generator; ``stated`` is the exponent of its rows."""

    stated: Fraction

    @abstractmethod
    def within(self, a: Fraction) -> bool:
        """Return whether the generator is proved to hold with another exponent."""

    @abstractmethod
    def reaches(self, a: Fraction) -> bool:
        """Return whether the leakage is at least this, up to a small relative error."""


@dataclass(frozen=True)
class LargestRatio(Leak):
    """The largest ratio of two probabilities with the bound e**a."""

    ratio: Fraction

    def within(self, a: Fraction) -> bool:
        """Return whether the ratio is at most e**a, rounded down."""
        return self.ratio <= exp_lower(a)

    def reaches(self, a: Fraction) -> bool:
        """Return whether the ratio, which is >= 1, exceeds e**a, up to a share of a or of 1."""
        return self.ratio > exp_lower(a - (1 + a) * TOLERANCE)


class Law(ABC):
    """The integers of a file: the fields of a frozen dataclass, or the keys of a named table."""

    kind: ClassVar[str]

    @abstractmethod
    def leak(self, part: Cone, k: int) -> Leak:
        """Return the leakage of the channel under a generator on k inputs.

        Raises
        ------
        CertificateError
            If a row does not sum to 1, or the generator does not suit the law.
        """

    def steps(self, part: Cone, k: int) -> int:
        """Return a bound on the work of :meth:`leak` and the comparison, from sizes."""
        return 100


def check_masses(*masses: int) -> None:
    """Raise unless all masses are strictly between 0 and the whole."""
    need(all(0 < mass < WHOLE for mass in masses), "expected a mass above 0 and below 2**62")


def denominator_bits(masses: tuple[Fraction, ...]) -> int:
    """Return an upper bound on the length of the common denominator of some numbers."""
    return sum(bottom.bit_length() for bottom in {p.denominator for p in masses})
