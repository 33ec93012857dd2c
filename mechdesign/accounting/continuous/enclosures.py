"""Interval arithmetic on arrays of floats, with the exponential and the normal distribution.

An :class:`Enclosure` holds arrays ``low <= high``. IEEE arithmetic rounds a sum, a product or a
quotient to a nearest float, so the float next to it on either side bounds the exact value: every
operation here takes that next float outward. Nothing is assumed of the exponential of the machine
or of its error function; both are evaluated here by series whose remainder and rounding are
bounded below.

With u = 2**-53, the rounding unit:

* e**x = 2**k e**r with k = round(x / ln 2), |r| <= 0.35. ln 2 is split into C, of 32 bits, and a
  rest: k C is exact, x - k C is exact (Sterbenz), and the error of r is below 0.4 u. The Taylor
  polynomial of degree 14 leaves less than u / 16 of e**r, and Horner's rule, whose terms shrink by
  r / n at the step n, rounds by less than 3 u. So the relative error is below 4 u; 16 u are allowed
  (``EXP``).
* The upper tail Q(z) of the normal distribution, for z >= 2, is phi(z) / (z + 1/(z + 2/(z + ...)))
  (Laplace). All numbers in the continued fraction are positive, so an operation adds at most u to
  the relative error and never magnifies it: 60 levels give less than 130 u. Stopped after 59 and 60
  levels it lies on either side of the limit, and both are used.
* For 0 <= z < 2, Q(z) = 1/2 - phi(z) (z + z**3/3 + z**5/(3 5) + ...). The terms are positive; with
  40 of them the rest is below the last, since the ratio of terms is below 4/81. 130 u cover the
  rounding of the terms and of their sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mechdesign._typing import FloatArray
from mechdesign.exact import exp_lower, exp_upper, log_lower, log_upper

__all__ = [
    "Bounds",
    "Enclosure",
    "between",
    "exp_of",
    "exponential",
    "log_of",
    "normal_density",
    "normal_mass",
]

EXP = 16 * 2.0**-53
SERIES = 130 * 2.0**-53
LOG2 = 0.6931471805599453
LOG2_HIGH, LOG2_LOW = 2977044472 / 2.0**32, -4.200915072681084e-11
"""They sum to ln 2 but for less than 1e-26."""

FARTHEST = 700.0
"""Exponents below its negative are bounded by 0 and e**-700."""

LEVELS, TERMS = 60, 40

ROOT_LOW, ROOT_HIGH = 0.39894228040143264, 0.39894228040143275
"""Floats on either side of 1 / sqrt(2 pi) = 0.398942280401432677..."""


class Bounds(NamedTuple):
    """Bounds on a number, both proved."""

    low: float
    high: float

    @classmethod
    def largest(cls, numbers: Iterable[Bounds]) -> Bounds:
        """Return bounds on the largest of some numbers."""
        return cls(*map(max, zip(*numbers, strict=True)))


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Arrays that bound a number, entry by entry.

    Attributes
    ----------
    low, high
        Arrays of one shape, ``low <= high``.

    Examples
    --------
    >>> third = Enclosure.of(1.0) / Enclosure.of(3.0)
    >>> Fraction(float(third.low)) < Fraction(1, 3) < Fraction(float(third.high))
    True
    """

    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Enclosure:
        """Return numbers that are exact as they are."""
        array = np.asarray(values, dtype=np.float64)
        return cls(array, array)

    @classmethod
    def rational(cls, value: Fraction, most: Fraction | None = None) -> Enclosure:
        """Return the floats on either side of a fraction, or of two with a number between them.

        Examples
        --------
        >>> bool(Enclosure.rational(Fraction(1, 4)).width == 0)
        True
        """
        most = value if most is None else most
        low, high = float(value), float(most)
        low = low if Fraction(low) <= value else np.nextafter(low, -np.inf)
        high = high if Fraction(high) >= most else np.nextafter(high, np.inf)
        return cls(np.asarray(low), np.asarray(high))

    @property
    def width(self) -> FloatArray:
        """High less low."""
        gap: FloatArray = self.high - self.low
        return gap

    @property
    def ends(self) -> Bounds:
        """Both bounds of a single number, as Python floats."""
        return Bounds(float(self.low), float(self.high))

    def __getitem__(self, where: Any) -> Enclosure:
        return Enclosure(self.low[where], self.high[where])

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low)

    def __add__(self, other: Enclosure) -> Enclosure:
        return _outward(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Enclosure) -> Enclosure:
        return _outward(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Enclosure) -> Enclosure:
        ends = (
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        )
        low = np.minimum(np.minimum(ends[0], ends[1]), np.minimum(ends[2], ends[3]))
        high = np.maximum(np.maximum(ends[0], ends[1]), np.maximum(ends[2], ends[3]))
        return _outward(low, high)

    def __truediv__(self, other: Enclosure) -> Enclosure:
        """Divide by positive numbers."""
        over = self.low / np.where(self.low >= 0, other.high, other.low)
        return _outward(over, self.high / np.where(self.high >= 0, other.low, other.high))

    def square(self) -> Enclosure:
        """Return the squares, which are never negative."""
        near = np.where(
            (self.low <= 0) & (self.high >= 0),
            0.0,
            np.minimum(np.abs(self.low), np.abs(self.high)),
        )
        far = np.maximum(np.abs(self.low), np.abs(self.high))
        both = _outward(near * near, far * far)
        return Enclosure(np.maximum(both.low, 0.0), both.high)

    def root(self) -> Enclosure:
        """Return the square roots of positive numbers, which IEEE arithmetic rounds to nearest."""
        return _outward(np.sqrt(self.low), np.sqrt(self.high))

    def repeated(self, times: int) -> Enclosure:
        """Return each entry several times, one after the other."""
        return Enclosure(np.repeat(self.low, times), np.repeat(self.high, times))

    def positive(self) -> Enclosure:
        """Return max(0, v)."""
        return Enclosure(np.maximum(self.low, 0.0), np.maximum(self.high, 0.0))

    def sum(self, axis: int | None = None) -> Enclosure:
        """Add up; n terms round by at most n u times the sum of their sizes."""
        count = self.low.size if axis is None else self.low.shape[axis]
        slack = (count + 2) * 2.0**-53
        ends = [
            (part.sum(axis=axis), np.abs(part).sum(axis=axis) * slack * (1 + 2 * slack))
            for part in (self.low, self.high)
        ]
        return _outward(ends[0][0] - ends[0][1], ends[1][0] + ends[1][1])


def between(low: npt.ArrayLike, high: npt.ArrayLike) -> Enclosure:
    """Return the enclosure with these ends."""
    return Enclosure(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))


def exp_of(exponent: Fraction) -> Enclosure:
    """Return e to the power of a fraction.

    Examples
    --------
    >>> exp_of(Fraction(1)).ends == (2.718281828459045, 2.7182818284590455)
    True
    """
    return Enclosure.rational(exp_lower(exponent), exp_upper(exponent))


def exponential(exponent: Enclosure) -> Enclosure:
    """Return e**v for v <= 700.

    Examples
    --------
    >>> low, high = exponential(Enclosure.of(1.0)).ends
    >>> low < np.e < high < low + 1e-14
    True
    """
    low = _exp(np.maximum(exponent.low, -FARTHEST)) * (1 - EXP)
    high = _exp(np.maximum(exponent.high, -FARTHEST)) * (1 + EXP)
    return Enclosure(np.where(exponent.low < -FARTHEST, 0.0, low), high)


def log_of(value: Enclosure) -> Bounds:
    """Return bounds on the logarithm of a positive number.

    Examples
    --------
    >>> log_of(Enclosure.of(2.0))
    Bounds(low=0.693147180559945..., high=0.693147180559945...)
    """
    low, high = map(Fraction, value.ends)
    return Enclosure.rational(log_lower(low), log_upper(high)).ends


def normal_density(z: Enclosure) -> Enclosure:
    """Return the density phi(v) of the normal distribution, over the whole interval.

    Examples
    --------
    >>> normal_density(between(-1.0, 2.0)).ends
    Bounds(low=0.0539909665..., high=0.3989422804...)
    """
    power = -(z.square() * Enclosure.of(0.5))
    return exponential(power) * between(ROOT_LOW, ROOT_HIGH)


def normal_mass(start: Enclosure, end: Enclosure) -> Enclosure:
    """Return the normal probability of [a, b] for a <= b, at least that of the ends as given.

    It falls with a and rises with b, so two pairs of ends give both bounds. Where an end is known
    to an interval only, the lower bound may stand for an empty interval, and is 0.

    Examples
    --------
    >>> normal_mass(Enclosure.of(-1.0), Enclosure.of(1.0)).ends
    Bounds(low=0.68268949213..., high=0.68268949213...)
    """
    inner, outer = _mass(start.high, end.low), _mass(start.low, end.high)
    return Enclosure(np.where(start.high < end.low, inner.low, 0.0), outer.high).positive()


def _outward(low: FloatArray, high: FloatArray) -> Enclosure:
    return Enclosure(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))


def _exp(x: FloatArray) -> FloatArray:
    """Return e**x for |x| <= 700, with a relative error of 4 u at most."""
    k = np.rint(x / LOG2)
    r = (x - k * LOG2_HIGH) - k * LOG2_LOW
    found = np.ones_like(r)
    for n in range(14, 0, -1):
        found = 1 + r * found / n
    scaled: FloatArray = np.ldexp(found, k.astype(np.int64))
    return scaled


def _mass(a: FloatArray, b: FloatArray) -> Enclosure:
    """Return the normal probability of [a, b], without cancellation in either tail."""
    a, b = np.broadcast_arrays(a, np.maximum(a, b))
    left, right = _tail(np.abs(a)), _tail(np.abs(b))
    apart = Enclosure.of(1.0) - (left + right)
    above, below = left - right, right - left
    low = np.where(a >= 0, above.low, np.where(b <= 0, below.low, apart.low))
    high = np.where(a >= 0, above.high, np.where(b <= 0, below.high, apart.high))
    return Enclosure(low, high)


def _tail(z: FloatArray) -> Enclosure:
    """Return Q(z) for z >= 0, which may be infinite."""
    found = Enclosure(np.empty_like(z), np.empty_like(z))
    for where, tail in ((z < 2, _near_tail), (z >= 2, _far_tail)):
        part = tail(z[where])
        found.low[where], found.high[where] = part.low, part.high
    return found


def _near_tail(z: FloatArray) -> Enclosure:
    """Return Q(z) for 0 <= z < 2, by the series."""
    term, total = z, z
    for n in range(1, TERMS):
        term = term * z * z / (2 * n + 1)
        total = total + term
    inner = between(total * (1 - SERIES), (total + term) * (1 + SERIES))
    return Enclosure.of(0.5) - normal_density(Enclosure.of(z)) * inner


def _far_tail(z: FloatArray) -> Enclosure:
    """Return Q(z) for z >= 2, by the continued fraction; beyond 50 bounded by 0 and Q(50)."""
    finite = np.minimum(z, 50.0)
    ends = [1 / _fraction(finite, levels) for levels in (LEVELS - 1, LEVELS)]
    low, high = np.minimum(*ends) * (1 - SERIES), np.maximum(*ends) * (1 + SERIES)
    found = normal_density(Enclosure.of(finite)) * between(low, high)
    return Enclosure(np.where(z > 50, 0.0, np.maximum(found.low, 0.0)), found.high)


def _fraction(z: FloatArray, levels: int) -> FloatArray:
    """Return z + 1/(z + 2/(z + ...)) down to the given level."""
    found = z.copy()
    for n in range(levels, 0, -1):
        found = z + n / found
    return found
