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

from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.claims import Leak
from mechdesign.kernel.generators import Cone
from mechdesign.kernel.schema import Kind

WHOLE = 1 << 62
"""The probability 1 in the unit of masses."""


@dataclass(frozen=True)
class LawLeak(Leak):
    """The largest ratio of two probabilities of a law that a generator bounds by e**a."""

    ratio: Fraction

    def breaks(self, leakage: Fraction) -> str | None:
        """Compare the ratio with e**leakage, rounded down."""
        return None if self.ratio <= exp_lower(leakage) else "a ratio is too large"


class Law(Kind, ABC):
    """The integers of a file: the fields of a frozen dataclass, or the keys of a named table."""

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
