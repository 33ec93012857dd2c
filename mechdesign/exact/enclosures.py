"""Enclosures: pairs of rationals with a true number in between, and the functions that laws need.

All is integer arithmetic on :mod:`mechdesign.exact`; sums of series are rounded outward, with a
bound on what is left out. Rationals with short denominators stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mechdesign.exact.rationals import (
    PI,
    exp_lower,
    exp_upper,
    log_lower,
    log_upper,
    sqrt_lower,
    sqrt_upper,
)

__all__ = ["Enclosure", "beta_below", "exponential", "logarithm", "normal_below", "normal_density"]

BITS = 200
"""Significant bits that products are rounded outward to."""

MOST_REST = 1 << 10
"""The remainder allowed in a series, in units of 2**-200."""

FAR = 16
"""Deviations from which on the normal tail is enclosed by 0 and the density over the distance."""


@dataclass(frozen=True)
class Enclosure:
    """A number that is known to lie between two rationals.

    Examples
    --------
    >>> third = Enclosure.of(1) / 3
    >>> third.low <= Fraction(1, 3) <= third.high, float((third * third).high)
    (True, 0.1111111111111111)
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, number: Enclosure | Fraction | int) -> Enclosure:
        """Return a rational as an enclosure of itself."""
        if isinstance(number, Enclosure):
            return number
        return cls(Fraction(number), Fraction(number))

    @property
    def middle(self) -> Fraction:
        """The number half-way."""
        return (self.low + self.high) / 2

    def positive(self) -> Enclosure:
        """Return the enclosure of a number that is known to be >= 0."""
        return Enclosure(max(self.low, Fraction(0)), max(self.high, Fraction(0)))

    def __add__(self, other: Enclosure | Fraction | int) -> Enclosure:
        other = Enclosure.of(other)
        return Enclosure(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low)

    def __sub__(self, other: Enclosure | Fraction | int) -> Enclosure:
        return self + -Enclosure.of(other)

    def __mul__(self, other: Enclosure | Fraction | int) -> Enclosure:
        other = Enclosure.of(other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return _outward(min(ends), max(ends))

    def __truediv__(self, other: Enclosure | Fraction | int) -> Enclosure:
        """Divide by a number whose enclosure does not hold 0."""
        other = Enclosure.of(other)
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError("an enclosure that holds 0")
        ends = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        return _outward(min(ends), max(ends))


def _outward(low: Fraction, high: Fraction) -> Enclosure:
    """Return an enclosure with short denominators."""
    return Enclosure(_shortened(low, up=False), _shortened(high, up=True))


def _shortened(number: Fraction, *, up: bool) -> Fraction:
    """Return a number with some 200 significant bits, rounded down or up, if it has more."""
    top, bottom = number.numerator, number.denominator
    if bottom.bit_length() <= BITS:
        return number
    shift = max(0, BITS + bottom.bit_length() - abs(top).bit_length())
    found = -((-top << shift) // bottom) if up else (top << shift) // bottom
    return Fraction(found, 1 << shift)


def exponential(exponent: Enclosure | Fraction) -> Enclosure:
    """Return e**exponent."""
    inside = Enclosure.of(exponent)
    return Enclosure(exp_lower(inside.low), exp_upper(inside.high))


def logarithm(value: Fraction) -> Enclosure:
    """Return ln(value), value > 0."""
    return Enclosure(log_lower(value), log_upper(value))


def normal_density(z: Fraction) -> Enclosure:
    """Return the density of the standard normal law: e**(-z**2 / 2) / sqrt(2 pi)."""
    root = Enclosure(sqrt_lower(2 * PI[0]), sqrt_upper(2 * PI[1]))
    return exponential(-z * z / 2) / root


@lru_cache(maxsize=16384)
def normal_below(z: Fraction) -> Enclosure:
    """Return the probability that a standard normal number is below z.

    For z >= 0 it is 1/2 + density(z) (z + z**3/3 + z**5/(3 5) + ...), whose terms are positive;
    from the place on where the ratio of two terms, z**2 / (2 n + 1), is below 1/2, the rest is
    below the last term.

    Examples
    --------
    >>> round(float(normal_below(Fraction(196, 100)).middle), 6)
    0.975002
    """
    if z < 0:
        return Enclosure.of(1) - normal_below(-z)
    if z > FAR:
        tail = (normal_density(z) / z).high
        return Enclosure(1 - tail, Fraction(1))
    bits = 2 * BITS  # the sum is at most e**(z**2 / 2), which the density takes off again
    square_down = (z.numerator**2 << bits) // z.denominator**2
    down, up = (z.numerator << bits) // z.denominator, -((-z.numerator << bits) // z.denominator)
    low, high, n = down, up, 1
    while up > 1 or 2 * square_down > (n << bits):
        n += 2
        down = down * square_down // (n << bits)
        up = -((-up * (square_down + 1)) // (n << bits))
        low, high = low + down, high + up
    total = Enclosure(Fraction(low, 1 << bits), Fraction(high + up, 1 << bits))
    found = Enclosure.of(Fraction(1, 2)) + normal_density(z) * total
    return Enclosure(found.low, min(found.high, Fraction(1)))


@lru_cache(maxsize=16384)
def beta_below(x: Fraction, a: Fraction, b: Fraction) -> Enclosure:
    """Return the integral of t**(a-1) (1-t)**(b-1) from 0 to x, for 0 <= x <= a/(a+b) or nearly.

    It is x**a (1-x)**b / a times the series 1 + (a+b)/(a+1) x + (a+b)(a+b+1)/((a+1)(a+2)) x**2 ...,
    whose terms are positive. The ratio of two terms goes to x; it is x (a+b+n)/(a+1+n), so that
    the rest is below the last term times r/(1-r), with r the largest ratio from there on.
    """
    if x <= 0:
        return Enclosure.of(0)
    one, n = 1 << BITS, 0
    down = up = low = high = one
    while True:
        ratio = x * (a + b + n) / (a + 1 + n)
        bound = max(ratio, x)
        if bound < 1 and up * bound < MOST_REST * (1 - bound):
            break
        down = down * ratio.numerator // ratio.denominator
        up = -((-up * ratio.numerator) // ratio.denominator)
        low, high, n = low + down, high + up, n + 1
    total = Enclosure(Fraction(low, one), Fraction(high + MOST_REST, one))
    power = exponential(logarithm(x) * a + logarithm(1 - x) * b)
    return power * total / a
