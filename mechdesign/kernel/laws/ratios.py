"""Laws, a few integers that determine a large channel, and those whose leakage is one ratio.

A law checks that its integers determine a channel (every row sums to 1), and returns its leakage
under a generator whose rows all have one exponent a. For most laws that is the largest ratio of two
probabilities that the generator bounds by e**a, as a rational: the generator holds if and only if
the ratio is at most e**a.

Nothing here is shared with the sampling code. A file cannot prove that reports are drawn with these
integers.

The ratios are of any two rows, or of the lift. W is 2**62.

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
by-component
    A row is that of the part of its block. Two blocks are not bounded against each other, and the
    rows of one block are those of its part: the largest ratio of a part.
high-low
    A protected row is that of the inner part, which has N reports. Any other row has u / (W N) on
    each of them and (W - u) / W on its own label, which no protected row has. So ratios that are
    bounded are those of the part, and its largest probability against u / (W N).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar, NamedTuple

from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower
from mechdesign.kernel.arithmetic import expect, need, over_one_denominator
from mechdesign.kernel.claims import Leak
from mechdesign.kernel.generators import Cone, Constant, Lift, Listed, Ratio
from mechdesign.kernel.schema import Kind, Named, Whole

WHOLE = 1 << 62
"""The probability 1 in the unit of masses."""


@dataclass(frozen=True)
class LawLeak(Leak):
    """The largest ratio of two probabilities of a law that a generator bounds by e**a."""

    ratio: Fraction

    def breaks(self, leakage: Fraction) -> str | None:
        return None if self.ratio <= exp_lower(leakage) else "a ratio is too large"


class Law(Kind, ABC):
    """The integers of a file: the fields of a frozen dataclass, or the keys of a named table."""

    @abstractmethod
    def leak(self, part: Cone, k: int) -> Leak:
        """Return the leakage of the channel under a generator on k inputs."""

    def steps(self, part: Cone, k: int) -> int:
        """Return a bound on the work of :meth:`leak` and the comparison, from sizes."""
        return 100


def check_masses(*masses: int) -> None:
    """Raise unless all masses are strictly between 0 and the whole."""
    need(all(0 < mass < WHOLE for mass in masses), "expected a mass above 0 and below 2**62")


def denominator_bits(masses: tuple[Fraction, ...]) -> int:
    """Return an upper bound on the length of the common denominator of some numbers."""
    return sum(bottom.bit_length() for bottom in {p.denominator for p in masses})


MOST_DIGITS = 62
"""Binary digits of a probability of unary encoding, as many as are drawn at once."""

MOST_FIELD, MOST_COORDINATES = 1 << 31, 62
"""The largest prime and dimension of a projective space: beyond them reports are no words."""

SINGLE = Whole(1)


class Ratios(NamedTuple):
    """``ratio``, the largest of two probabilities of a report; ``most``, the largest probability.

    The latter is times the number of reports, and 0 if unknown.
    """

    ratio: Fraction
    most: Fraction = Fraction(0)


def _two(inside: Fraction, outside: Fraction, size: int) -> Ratios:
    """Return the ratios for ``size`` reports of two probabilities, in units of 1/W."""
    most = max(inside, outside)
    return Ratios(most / min(inside, outside), most * size / WHOLE)


def constant(part: Cone) -> Constant:
    """Return the exponents of a generator with one constant."""
    if not isinstance(part, Ratio) or part.prior or not isinstance(part.exponents, Constant):
        raise CertificateError("the law does not support this notion: it needs one bound on ratios")
    return part.exponents


def randomized_response(k: int, *, own: Whole, other: Whole) -> Ratios:
    """Check own + (k - 1) other = W."""
    check_masses(own, other)
    need(own + (k - 1) * other == WHOLE, "randomized response: the rows do not sum to 1")
    return _two(Fraction(own), Fraction(other), k)


def hadamard_response(k: int, *, size: Whole, held: Whole, copies: Whole = SINGLE) -> Ratios:
    """Check that b is a power of 2 above the inputs of a block, and that masses are integers."""
    check_masses(held)
    equal = 0 < copies <= k and not size % copies
    need(equal, "Hadamard response: the size is not that of equal blocks")
    block = size // copies
    suits = not block & (block - 1) and (block - 1) * copies >= k and not held % (block // 2)
    need(suits, "Hadamard response: the size or the mass of the sets is wrong")
    # of an odd number of half blocks: each number of one has a whole mass as those of S_x have
    other, left = divmod(WHOLE - held, 2 * copies - 1)
    need(not left, "Hadamard response: the masses of the half blocks are not integers")
    return _two(Fraction(held), Fraction(other), 2 * copies)


def projective_geometry_response(k: int, *, field: Whole, dimension: Whole, held: Whole) -> Ratios:
    """Check that q is a prime, and that there are enough points."""
    check_masses(held)
    in_range = 2 <= field <= MOST_FIELD and 2 <= dimension <= MOST_COORDINATES
    need(in_range, "projective geometry: the field or the dimension is out of range")
    prime = all(field % n for n in range(2, isqrt(field) + 1))
    need(prime, "projective geometry: the size of the field is not prime")
    inside, size = (sum(field**m for m in range(d)) for d in (dimension - 1, dimension))
    need(size >= k, "projective geometry: there are fewer points than inputs")
    return _two(Fraction(held, inside), Fraction(WHOLE - held, size - inside), size)


def unary_encoding(k: int, *, digits: Whole, others: Whole, held: Whole) -> Ratios:
    """Check that p and q are probabilities of few digits; for the symmetric form q = 1 - p."""
    check_masses(held)
    unit = 1 << digits if digits <= MOST_DIGITS else 1
    need(0 < others < unit and k > 1, "unary encoding: q is not a probability")
    p, q = Fraction(held, WHOLE), Fraction(others, unit)
    odds = p * (1 - q) / (q * (1 - p))
    return Ratios(max(odds, 1 / odds))


def subset_selection(k: int, *, size: Whole, held: Whole) -> Ratios:
    """Check 0 < j < k; the masses of all sets with x and of all without sum to W."""
    check_masses(held)
    need(0 < size < k, "subset selection: the size of the sets must be between 1 and k - 1")
    return _two(Fraction(held, size), Fraction(WHOLE - held, k - size), k)


def in_clear(k: int) -> Ratios:
    """Check that there is one input."""
    need(k == 1, "a protected input is released unmasked")
    return Ratios(Fraction(1), Fraction(1))


FORMS: dict[str, Callable[..., Ratios]] = {
    "randomized-response": randomized_response,
    "hadamard-response": hadamard_response,
    "projective-geometry-response": projective_geometry_response,
    "optimized-unary-encoding": unary_encoding,
    "symmetric-unary-encoding": unary_encoding,
    "subset-selection": subset_selection,
    "in-clear": in_clear,
}


class ConstantLaw(Named, Law):
    """A law whose rows have one largest ratio."""

    tag: ClassVar[str] = "kind"

    @classmethod
    def forms(cls) -> dict[str, Callable[..., Any]]:
        return FORMS

    @property
    def kind(self) -> str:  # type: ignore[override]
        return self.name

    def ratios(self, k: int) -> Ratios:
        """Return the largest ratio on k inputs, after a check that every row sums to 1."""
        found: Ratios = self.forms()[self.name](k, **self.keys)
        return found

    def leak(self, part: Cone, k: int) -> LawLeak:
        found = constant(part)
        need(found.block is found.protected is None, f"{self.name}: all ratios must be bounded")
        need(self.name != "in-clear", "an input in clear is a part of other laws only")
        return LawLeak(self.ratios(k).ratio)

    def steps(self, part: Cone, k: int) -> int:
        return 100 + isqrt(min(self.keys.get("field", 0), MOST_FIELD))


@dataclass(frozen=True)
class LIPRandomizedResponse(Law):
    """The mass of the truth, and that of each report by a fresh draw."""

    truth: Whole
    fresh: tuple[Whole, ...]

    def leak(self, part: Cone, k: int) -> LawLeak:
        prior = self._asked(part)
        check_masses(self.truth, *self.fresh)
        sums = len(self.fresh) == k > 1 and sum(self.fresh) + self.truth == WHOLE
        need(sums, "LIP randomized response: the rows do not sum to 1")
        masses, unit = over_one_denominator(prior)
        outputs = [(f, f * unit + self.truth * p) for f, p in zip(self.fresh, masses, strict=True)]
        largest = max(Fraction((f + self.truth) * unit, total) for f, total in outputs)
        return LawLeak(max(largest, *(Fraction(y, f * unit) for f, y in outputs)))

    def steps(self, part: Cone, k: int) -> int:
        return k * (60 + (denominator_bits(self._asked(part)) // 64) ** 2)

    def _asked(self, part: Cone) -> tuple[Fraction, ...]:
        """Return the only prior at which the lift and its inverse have one bound."""
        words = f"{self.kind}: needs one bound on the lift at one prior"
        lift = expect(part, Lift, words)
        (prior, *others) = expect(lift.priors, Listed, words).priors
        need(lift.upper == lift.lower is not None and not others, words)
        return prior


@dataclass(frozen=True)
class Part:
    """A law on a subset of the inputs, and its epsilon."""

    epsilon: Fraction
    law: ConstantLaw

    def ratios(self, k: int) -> Ratios:
        """Return the ratios on k inputs, which its epsilon must bound."""
        found = self.law.ratios(k)
        keeps = self.epsilon >= 0 and found.ratio <= exp_lower(self.epsilon)
        need(keeps, "a part leaks more than its epsilon")
        return found


@dataclass(frozen=True)
class ByComponent(Law):
    """The distinct parts, and the index of the part of each block."""

    parts: tuple[Part, ...]
    part_of_block: tuple[Whole, ...]

    def leak(self, part: Cone, k: int) -> LawLeak:
        """Return the largest ratio of a part, each on the inputs of its blocks."""
        asked, own = constant(part), self.part_of_block
        need(asked.protected is None, f"{self.kind}: protected inputs are not supported")
        sizes = [size for _, size in sorted(Counter(asked.block or (0,) * k).items())]
        fits = len(own) == len(sizes) and set(own) == set(range(len(self.parts)))
        need(fits, "the parts do not match the blocks")
        used = sorted(set(zip(own, sizes, strict=True)))
        return LawLeak(max(self.parts[n].ratios(m).ratio for n, m in used))

    def steps(self, part: Cone, k: int) -> int:
        most = max((piece.law.steps(part, k) for piece in self.parts), default=0)
        return 20 * k + len(self.part_of_block) * most


@dataclass(frozen=True)
class HighLow(Law):
    """The part of protected inputs, and u."""

    inner: Part
    uniform: Whole

    def leak(self, part: Cone, k: int) -> LawLeak:
        """Return the larger of the ratio of the part, and most by u / W."""
        asked = constant(part)
        size = len(asked.guarded) if asked.protected and asked.block is None else 0
        need(size, f"{self.kind}: needs a notion with protected inputs")
        need(size < k, "an input is treated as harmless, but all are sensitive")
        check_masses(self.uniform)
        inner = self.inner.ratios(size)
        need(inner.most, "the inner part must have two probabilities")
        return LawLeak(max(inner.ratio, inner.most * WHOLE / self.uniform))

    def steps(self, part: Cone, k: int) -> int:
        return 20 * k + self.inner.law.steps(part, k)
