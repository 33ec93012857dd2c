"""Laws whose leakage is one ratio, of any two rows or of the lift. W is 2**62.

randomized-response
    own + (k - 1) other = W, and every report has one of the two: own / other.
hadamard-response
    Of B blocks of b numbers, the own one has S_x = {y : popcount(y & i) even} of b/2 numbers, as
    0 < i < b for the row i = x // B + 1. Together they have the mass h, each of the other 2B - 1
    half blocks has o, with h + (2B - 1) o = W: h / o.
projective-geometry-response
    Of the N = (q**t - 1) / (q - 1) points over the integers modulo the prime q, the points y with
    <x, y> = 0 are those of a space of one coordinate less, c = (q**(t - 1) - 1) / (q - 1). Together
    they have the mass h, the others W - h: h (N - c) / ((W - h) c).
optimized-unary-encoding, symmetric-unary-encoding
    Independent bits, so that rows sum to 1. The rows of x and z differ in the bits x and z only:
    p (1 - q) / (q (1 - p)) with p = held / W and q = others / 2**digits.
subset-selection
    Of the sets of j inputs, C(k - 1, j - 1) = C(k, j) j / k hold x and have the mass h together,
    C(k, j) (k - j) / k do not and have W - h: h (k - j) / ((W - h) j).
in-clear
    One input, whose one report reveals nothing: a part of other laws.
lip-randomized-response
    t + Sum_y f_y = W, and Q(y|x) is f_y, and t more if y = x. The probability of y is f_y + t P_y:
    its lifts lie between f_y and f_y + t over that, so the ratio is the largest
    (f_y + t) / (f_y + t P_y) or (f_y + t P_y) / f_y.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar, NamedTuple

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import need, over_one_denominator
from mechdesign.kernel.generators import Cone, Constant, Lift, Listed, Ratio
from mechdesign.kernel.laws.base import WHOLE, LargestRatio, Law, check_masses, denominator_bits
from mechdesign.kernel.schema import Whole

__all__ = ["Alone", "ConstantLaw", "InClear", "LIPRandomizedResponse", "Ratios", "constant"]

MOST_DIGITS = 62
"""Binary digits of a probability of unary encoding, as many as are drawn at once."""

MOST_FIELD, MOST_COORDINATES = 1 << 31, 62
"""The largest prime and dimension of a projective space: beyond them reports are no words."""

ONE, SINGLE = Fraction(1), Whole(1)


class Ratios(NamedTuple):
    """``ratio``, the largest of two probabilities of a report; ``most``, the largest probability.

    The latter is times the number of reports, and 0 where it is not known.
    """

    ratio: Fraction
    most: Fraction = Fraction(0)


def _two(inside: Fraction, outside: Fraction, size: int) -> Ratios:
    """Return the ratios of reports of two probabilities, in units of 1/W, of so many reports."""
    most = max(inside, outside)
    return Ratios(most / min(inside, outside), most * size / WHOLE)


def constant(part: Cone) -> Constant:
    """Return the exponents of a generator that has one constant."""
    if not isinstance(part, Ratio) or part.prior or not isinstance(part.exponents, Constant):
        raise CertificateError("the law does not support this notion: it needs one bound on ratios")
    return part.exponents


class ConstantLaw(Law):
    """A law whose rows have one largest ratio: alone, or as a part of another law."""

    @abstractmethod
    def ratios(self, k: int) -> Ratios:
        """Return the largest ratio on k inputs, once every row is known to sum to 1."""

    def leak(self, part: Cone, k: int) -> LargestRatio:
        """Return the largest ratio of two rows."""
        found = constant(part)
        need(found.block is found.protected is None, f"{self.kind}: all ratios must be bounded")
        return LargestRatio(found.exponent, self.ratios(k).ratio)


@dataclass(frozen=True)
class RandomizedResponse(ConstantLaw):
    """The masses of the truth and of each other input."""

    kind: ClassVar[str] = "randomized-response"
    own: Whole
    other: Whole

    def ratios(self, k: int) -> Ratios:
        """Check own + (k - 1) other = W."""
        check_masses(self.own, self.other)
        total = self.own + (k - 1) * self.other
        need(total == WHOLE, "randomized response: the rows do not sum to 1")
        return _two(Fraction(self.own), Fraction(self.other), k)


@dataclass(frozen=True)
class HadamardResponse(ConstantLaw):
    """B b, h, and B."""

    kind: ClassVar[str] = "hadamard-response"
    size: Whole
    held: Whole
    copies: Whole = SINGLE

    def ratios(self, k: int) -> Ratios:
        """Check that b is a power of 2 above the inputs of a block, and that masses are whole."""
        check_masses(self.held)
        equal = 0 < self.copies <= k and not self.size % self.copies
        need(equal, "Hadamard response: the size is not that of equal blocks")
        block, others = self.size // self.copies, 2 * self.copies - 1
        suits = not block & (block - 1) and (block - 1) * self.copies >= k
        suits = suits and not self.held % (block // 2)
        need(suits, "Hadamard response: the size or the mass of the sets is wrong")
        # of an odd number of half blocks: each number of one has a whole mass as those of S_x have
        other, left = divmod(WHOLE - self.held, others)
        need(not left, "Hadamard response: the masses of the half blocks are not integers")
        return _two(Fraction(self.held), Fraction(other), 2 * self.copies)


@dataclass(frozen=True)
class ProjectiveGeometryResponse(ConstantLaw):
    """q, t, and h."""

    kind: ClassVar[str] = "projective-geometry-response"
    field: Whole
    dimension: Whole
    held: Whole

    def ratios(self, k: int) -> Ratios:
        """Check that q is a prime, and that there are points enough."""
        check_masses(self.held)
        q, t = self.field, self.dimension
        in_range = 2 <= q <= MOST_FIELD and 2 <= t <= MOST_COORDINATES
        need(in_range, "projective geometry: the field or the dimension is out of range")
        prime = all(q % n for n in range(2, isqrt(q) + 1))
        need(prime, "projective geometry: the size of the field is not prime")
        inside, size = (sum(q**m for m in range(d)) for d in (t - 1, t))
        need(size >= k, "projective geometry: there are fewer points than inputs")
        return _two(Fraction(self.held, inside), Fraction(WHOLE - self.held, size - inside), size)

    def steps(self, part: Cone, k: int) -> int:
        """Return the divisions that show a prime."""
        return 100 + isqrt(min(self.field, MOST_FIELD))


@dataclass(frozen=True)
class OptimizedUnaryEncoding(ConstantLaw):
    """q as a numerator and its digits, and the mass of p."""

    kind: ClassVar[str] = "optimized-unary-encoding"
    digits: Whole
    others: Whole
    held: Whole

    def ratios(self, k: int) -> Ratios:
        """Check that p and q are probabilities of few digits."""
        check_masses(self.held)
        digits = self.digits if self.digits <= MOST_DIGITS else 0
        need(0 < self.others < 1 << digits and k > 1, "unary encoding: q is not a probability")
        p, q = Fraction(self.held, WHOLE), Fraction(self.others, 1 << digits)
        odds = p * (1 - q) / (q * (1 - p))
        return Ratios(max(odds, 1 / odds))


@dataclass(frozen=True)
class SymmetricUnaryEncoding(OptimizedUnaryEncoding):
    """The same with q = 1 - p; the check does not depend on that."""

    kind: ClassVar[str] = "symmetric-unary-encoding"


@dataclass(frozen=True)
class SubsetSelection(ConstantLaw):
    """j, and the mass of all sets that hold x."""

    kind: ClassVar[str] = "subset-selection"
    size: Whole
    held: Whole

    def ratios(self, k: int) -> Ratios:
        """Check 0 < j < k; the masses of all sets with x and of all without sum to W."""
        check_masses(self.held)
        need(
            0 < self.size < k, "subset selection: the size of the sets must be between 1 and k - 1"
        )
        return _two(Fraction(self.held, self.size), Fraction(WHOLE - self.held, k - self.size), k)


@dataclass(frozen=True)
class InClear(ConstantLaw):
    """No integers."""

    kind: ClassVar[str] = "in-clear"

    def ratios(self, k: int) -> Ratios:
        """Check that there is one input."""
        need(k == 1, "a protected input is released unmasked")
        return Ratios(ONE, ONE)


Alone = (
    RandomizedResponse
    | HadamardResponse
    | ProjectiveGeometryResponse
    | OptimizedUnaryEncoding
    | SymmetricUnaryEncoding
    | SubsetSelection
)
"""A law that is one of these, or has it as a part."""


@dataclass(frozen=True)
class LIPRandomizedResponse(Law):
    """The mass of the truth, and that of each report by a fresh draw."""

    kind: ClassVar[str] = "lip-randomized-response"
    truth: Whole
    fresh: tuple[Whole, ...]

    def leak(self, part: Cone, k: int) -> LargestRatio:
        """Return the largest lift, or inverse lift, at the prior."""
        a, prior = self._asked(part)
        check_masses(self.truth, *self.fresh)
        sums = len(self.fresh) == k > 1 and sum(self.fresh) + self.truth == WHOLE
        need(sums, "LIP randomized response: the rows do not sum to 1")
        masses, unit = over_one_denominator(prior)
        outputs = [(f, f * unit + self.truth * p) for f, p in zip(self.fresh, masses, strict=True)]
        largest = max(Fraction((f + self.truth) * unit, total) for f, total in outputs)
        return LargestRatio(a, max(largest, *(Fraction(y, f * unit) for f, y in outputs)))

    def steps(self, part: Cone, k: int) -> int:
        """Return the reductions of two rationals for each input, as long as the denominator is."""
        return k * (60 + (denominator_bits(self._asked(part)[1]) // 64) ** 2)

    def _asked(self, part: Cone) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return the bound on the lift and its inverse, and the prior."""
        listed = part.priors if isinstance(part, Lift) else None
        upper = part.upper if isinstance(part, Lift) and part.upper == part.lower else None
        if upper is None or not isinstance(listed, Listed) or len(listed.priors) != 1:
            raise CertificateError(f"{self.kind}: needs one bound on the lift at one prior")
        return upper, listed.priors[0]
