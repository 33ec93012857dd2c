"""Rational enclosures of real numbers, and enclosures of special functions.

All arithmetic uses the integers of :mod:`mechdesign.exact`; sums of series are rounded outward,
with a bound on the remainder. Rationals with short denominators stay exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter
from typing import Any, NamedTuple, Self

from mechdesign.exact.rationals import (
    PI,
    exp_lower,
    exp_upper,
    log_lower,
    log_upper,
    shortened,
    sqrt_lower,
    sqrt_upper,
)

BITS = 200
"""Significant bits of products, which are rounded outward."""

MOST_REST, SMALL = 1 << 10, 1 << 64
"""The remainder allowed in a series, in units of its last bit, and the largest term after which it
is compared, which is slow."""

FAR = 16
"""Beyond this many deviations the normal tail is enclosed by 0 and density / distance."""


class Bounds(NamedTuple):
    """Proved float bounds on a number."""

    low: float
    high: float

    @classmethod
    def largest(cls, numbers: Iterable[Bounds]) -> Bounds:
        """Return bounds on the largest of some numbers."""
        return cls(*map(max, zip(*numbers, strict=True)))


@dataclass(frozen=True)
class Enclosure:
    """A number between two rationals.

    A subclass with ends of another type overrides :meth:`of`, :meth:`hull` and :meth:`outward`; the
    arithmetic is the same.

    Examples
    --------
    >>> third = Enclosure.of(1) / 3
    >>> third.low <= Fraction(1, 3) <= third.high, float((third * third).high)
    (True, 0.1111111111111111)
    """

    low: Any
    high: Any

    @classmethod
    def of(cls, number: Any) -> Self:
        """Return a rational as an enclosure of itself."""
        return number if isinstance(number, cls) else cls(Fraction(number), Fraction(number))

    @staticmethod
    def hull(*numbers: Any) -> tuple[Any, Any]:
        """Return the minimum and the maximum of some ends."""
        return min(numbers), max(numbers)

    @classmethod
    def outward(cls, low: Any, high: Any) -> Self:
        """Return an enclosure with short denominators."""
        return cls(_shortened(low, up=False), _shortened(high, up=True))

    @property
    def middle(self) -> Fraction:
        """The midpoint."""
        return Fraction((self.low + self.high) / 2)

    @property
    def ends(self) -> Bounds:
        """The nearest floats outward.

        Examples
        --------
        >>> Enclosure.of(Fraction(1, 4)).ends
        Bounds(low=0.25, high=0.25)
        """
        low, high = float(self.low), float(self.high)
        return Bounds(
            low if Fraction(low) <= self.low else nextafter(low, -inf),
            high if Fraction(high) >= self.high else nextafter(high, inf),
        )

    def positive(self) -> Self:
        """Return the enclosure of max(0, v)."""
        zero = type(self).of(0).low
        return type(self)(self.hull(self.low, zero)[1], self.hull(self.high, zero)[1])

    def square(self) -> Self:
        """Return the enclosure of v**2, which is never negative."""
        return (self * self).positive()

    def __neg__(self) -> Self:
        return type(self)(-self.high, -self.low)

    def __add__(self, other: Any) -> Self:
        other = self.of(other)
        return type(self)(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        return self + -self.of(other)

    def __rsub__(self, other: Any) -> Self:
        return self.of(other) - self

    def __mul__(self, other: Any) -> Self:
        other = self.of(other)
        return self.outward(
            *self.hull(*(a * b for a in (self.low, self.high) for b in (other.low, other.high)))
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Self:
        """Divide by a number whose enclosure does not contain 0."""
        other = self.of(other)
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError("an enclosure that holds 0")
        return self.outward(
            *self.hull(*(a / b for a in (self.low, self.high) for b in (other.low, other.high)))
        )

    def __rtruediv__(self, other: Any) -> Self:
        return self.of(other) / self


def _shortened(number: Fraction, *, up: bool) -> Fraction:
    """Return a number rounded down or up to about 200 significant bits, if it has more."""
    return shortened(number, up, BITS) if number.denominator.bit_length() > BITS else number


def exponential(exponent: Enclosure | Fraction) -> Enclosure:
    """Return e**exponent."""
    inside = Enclosure.of(exponent)
    return Enclosure(exp_lower(inside.low), exp_upper(inside.high))


def logarithm(value: Enclosure | Fraction) -> Enclosure:
    """Return ln(value), value > 0."""
    inside = Enclosure.of(value)
    return Enclosure(log_lower(inside.low), log_upper(inside.high))


def normal_density(z: Fraction) -> Enclosure:
    """Return the density of the standard normal law: e**(-z**2 / 2) / sqrt(2 pi)."""
    root = Enclosure(sqrt_lower(2 * PI[0]), sqrt_upper(2 * PI[1]))
    return exponential(-z * z / 2) / root


def _series(ratio: Callable[[int], tuple[int, int]], limit: Fraction, bits: int) -> Enclosure:
    """Return 1 + r_0 + r_0 r_1 + ... for ratios r_n >= 0 that tend to a limit monotonically.

    The remainder after a term is at most the term times r / (1 - r), with r the larger of the next
    ratio and the limit.
    """
    one, n = 1 << bits, 0
    down = up = low = high = one
    while True:
        top, bottom = ratio(n)
        if up < SMALL:
            most = max(Fraction(top, bottom), limit)
            if up * most < MOST_REST * (1 - most):
                return Enclosure(Fraction(low, one), Fraction(high + MOST_REST, one))
        down = down * top // bottom
        up = -((-up * top) // bottom)
        low, high, n = low + down, high + up, n + 1


@lru_cache(maxsize=16384)
def normal_below(z: Fraction) -> Enclosure:
    """Return the probability that a standard normal variable is below z.

    For z >= 0 it is 1/2 + density(z) (z + z**3/3 + z**5/(3 5) + ...) with positive terms; once the
    ratio of successive terms, z**2 / (2 n + 1), is below 1/2, the remainder is below the last term.

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
    # the sum is at most e**(z**2 / 2), which cancels with the density
    top, bottom = (z * z).as_integer_ratio()
    total = z * _series(lambda n: (top, (2 * n + 3) * bottom), Fraction(0), 2 * BITS)
    found = Enclosure.of(Fraction(1, 2)) + normal_density(z) * total
    return Enclosure(found.low, min(found.high, Fraction(1)))


@lru_cache(maxsize=16384)
def beta_below(x: Fraction, a: Fraction, b: Fraction) -> Enclosure:
    """Return the integral of t**(a-1) (1-t)**(b-1) from 0 to x, for 0 <= x <= about a/(a+b).

    It is x**a (1-x)**b / a times the series 1 + (a+b)/(a+1) x + (a+b)(a+b+1)/((a+1)(a+2)) x**2 ...,
    with positive terms. The ratio of successive terms is x (a+b+n)/(a+1+n), which tends to x, so
    the remainder is below the last term times r/(1-r), with r the largest ratio from there on.
    """
    if x <= 0:
        return Enclosure.of(0)
    total = _series(lambda n: (x * (a + b + n) / (a + 1 + n)).as_integer_ratio(), x, BITS)
    power = exponential(logarithm(x) * a + logarithm(1 - x) * b)
    return power * total / a
