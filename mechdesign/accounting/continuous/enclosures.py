"""Interval arithmetic on arrays of floats, with the exponential and the normal distribution.

A :class:`FloatEnclosure` holds arrays ``low <= high``. IEEE arithmetic rounds a sum, a product or a
quotient to a nearest float, so the adjacent floats bound the exact value: every operation here
rounds outward to them. The exponential and the error function of the machine are not used; both are
evaluated here by series, with the following bounds on remainder and rounding.

With u = 2**-53, the rounding unit:

* e**x = 2**k e**r with k = round(x / ln 2), |r| <= 0.35. ln 2 is split into C, of 32 bits, and a
  rest: k C is exact, x - k C is exact (Sterbenz), and the error of r is below 0.4 u. The Taylor
  polynomial of degree 14 has a remainder below u / 16 of e**r, and Horner's rule, whose terms
  shrink by r / n at step n, rounds by less than 3 u. So the relative error is below 4 u; ``EXP``
  allows 16 u.
* The upper tail Q(z) of the normal distribution, for z >= 2, is phi(z) / (z + 1/(z + 2/(z + ...)))
  (Laplace). All terms of the continued fraction are positive, so an operation adds at most u to
  the relative error and never magnifies it: 60 levels give less than 130 u. The convergents after
  59 and 60 levels lie on either side of the limit and serve as bounds.
* For 0 <= z < 2, Q(z) = 1/2 - phi(z) (z + z**3/3 + z**5/(3 5) + ...). The terms are positive; with
  40 of them the rest is below the last, since the ratio of terms is below 4/81. 130 u cover the
  rounding of the terms and of their sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mechdesign._typing import FloatArray
from mechdesign.exact.enclosures import Bounds, Enclosure

EXP = 16 * 2.0**-53
SERIES = 130 * 2.0**-53
LOG2 = 0.6931471805599453
LOG2_HIGH, LOG2_LOW = 2977044472 / 2.0**32, -4.200915072681084e-11
"""Their sum is ln 2 to within 1e-26."""

FARTHEST = 700.0
"""Exponentials of v < -700 are bounded by 0 and e**-700."""

LEVELS, TERMS = 60, 40

ROOT_LOW, ROOT_HIGH = 0.39894228040143264, 0.39894228040143275
"""Floats on either side of 1 / sqrt(2 pi) = 0.398942280401432677..."""


@dataclass(frozen=True, eq=False)
class FloatEnclosure(Enclosure):
    """Arrays of floats ``low <= high`` of one shape that bound numbers, entry by entry.

    Examples
    --------
    >>> third = FloatEnclosure.of(1.0) / 3
    >>> Fraction(float(third.low)) < Fraction(1, 3) < Fraction(float(third.high))
    True
    """

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return floats as exact values, or the floats on either side of rationals."""
        if isinstance(values, cls):
            return values
        if isinstance(values, Fraction | Enclosure):
            low, high = Enclosure.of(values).ends
            return cls(np.asarray(low), np.asarray(high))
        array = np.asarray(values, dtype=np.float64)
        return cls(array, array)

    @classmethod
    def row(cls, numbers: Iterable[Fraction]) -> Self:
        """Return the floats on either side of each number."""
        low, high = zip(*(Enclosure.of(number).ends for number in numbers), strict=True)
        return cls(np.array(low), np.array(high))

    @staticmethod
    def hull(*numbers: Any) -> tuple[Any, Any]:
        """Return the least and the largest of some ends, entry by entry."""
        return reduce(np.minimum, numbers), reduce(np.maximum, numbers)

    @classmethod
    def outward(cls, low: Any, high: Any) -> Self:
        """Return the next floats outward."""
        return cls(np.nextafter(low, -np.inf), np.nextafter(high, np.inf))

    @property
    def ends(self) -> Bounds:
        """Both bounds of a single number, as Python floats."""
        return Bounds(float(self.low), float(self.high))

    def __getitem__(self, where: Any) -> Self:
        return type(self)(self.low[where], self.high[where])

    def __add__(self, other: Any) -> Self:
        exact = super().__add__(other)
        return self.outward(exact.low, exact.high)

    __radd__ = __add__

    def __truediv__(self, other: Any) -> Self:
        """Divide by positive numbers."""
        other = self.of(other)
        low = self.low / np.where(self.low >= 0, other.high, other.low)
        return self.outward(low, self.high / np.where(self.high >= 0, other.low, other.high))

    def root(self) -> Self:
        """Return the square roots of positive numbers; IEEE arithmetic rounds them to nearest."""
        return self.outward(np.sqrt(self.low), np.sqrt(self.high))

    def sum(self, axis: int | None = None) -> Self:
        """Return the sum; n terms have a rounding error of at most n u times the sum of sizes."""
        count = self.low.size if axis is None else self.low.shape[axis]
        slack = (count + 2) * 2.0**-53
        ends = [
            (part.sum(axis=axis), np.abs(part).sum(axis=axis) * slack * (1 + 2 * slack))
            for part in (self.low, self.high)
        ]
        return self.outward(ends[0][0] - ends[0][1], ends[1][0] + ends[1][1])


def between(low: npt.ArrayLike, high: npt.ArrayLike) -> FloatEnclosure:
    """Return the enclosure with these ends."""
    return FloatEnclosure(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))


def exponential(exponent: FloatEnclosure) -> FloatEnclosure:
    """Return e**v for v <= 700."""
    low = _exp(np.maximum(exponent.low, -FARTHEST)) * (1 - EXP)
    high = _exp(np.maximum(exponent.high, -FARTHEST)) * (1 + EXP)
    return FloatEnclosure(np.where(exponent.low < -FARTHEST, 0.0, low), high)


def normal_density(z: FloatEnclosure) -> FloatEnclosure:
    """Return the density phi(v) of the normal distribution, over the whole interval."""
    return exponential(-(z.square() * 0.5)) * between(ROOT_LOW, ROOT_HIGH)


def normal_mass(start: FloatEnclosure, end: FloatEnclosure) -> FloatEnclosure:
    """Return the normal probability of [a, b] for a <= b.

    It decreases in a and increases in b, so two pairs of ends give both bounds. If the enclosures
    of the ends overlap, the lower bound is that of an empty interval, 0.
    """
    inner, outer = _mass(start.high, end.low), _mass(start.low, end.high)
    low = np.where(start.high < end.low, inner.low, 0.0)
    return FloatEnclosure(low, outer.high).positive()


def _exp(x: FloatArray) -> FloatArray:
    """Return e**x for |x| <= 700, with a relative error of 4 u at most."""
    k = np.rint(x / LOG2)
    r = (x - k * LOG2_HIGH) - k * LOG2_LOW
    total = np.ones_like(r)
    for n in range(14, 0, -1):
        total = 1 + r * total / n
    return np.asarray(np.ldexp(total, k.astype(np.int64)))


def _mass(a: FloatArray, b: FloatArray) -> FloatEnclosure:
    """Return the normal probability of [a, b], without cancellation in either tail."""
    a, b = np.broadcast_arrays(a, np.maximum(a, b))
    left, right = _tail(np.abs(a)), _tail(np.abs(b))
    apart = 1.0 - (left + right)
    above, below = left - right, right - left
    return FloatEnclosure(
        np.where(a >= 0, above.low, np.where(b <= 0, below.low, apart.low)),
        np.where(a >= 0, above.high, np.where(b <= 0, below.high, apart.high)),
    )


def _tail(z: FloatArray) -> FloatEnclosure:
    """Return Q(z) for z >= 0, which may be infinite."""
    low, high = np.empty_like(z), np.empty_like(z)
    for where, tail in ((z < 2, _near_tail), (z >= 2, _far_tail)):
        part = tail(z[where])
        low[where], high[where] = part.low, part.high
    return FloatEnclosure(low, high)


def _near_tail(z: FloatArray) -> FloatEnclosure:
    """Return Q(z) for 0 <= z < 2, by the series."""
    term, total = z, z
    for n in range(1, TERMS):
        term = term * z * z / (2 * n + 1)
        total = total + term
    inner = between(total * (1 - SERIES), (total + term) * (1 + SERIES))
    return 0.5 - normal_density(FloatEnclosure.of(z)) * inner


def _far_tail(z: FloatArray) -> FloatEnclosure:
    """Return Q(z) for z >= 2, by the continued fraction; beyond 50 bounded by 0 and Q(50)."""
    finite = np.minimum(z, 50.0)
    ends = [1 / _fraction(finite, levels) for levels in (LEVELS - 1, LEVELS)]
    low, high = np.minimum(*ends) * (1 - SERIES), np.maximum(*ends) * (1 + SERIES)
    tail = (normal_density(FloatEnclosure.of(finite)) * between(low, high)).positive()
    return FloatEnclosure(np.where(z > 50, 0.0, tail.low), tail.high)


def _fraction(z: FloatArray, levels: int) -> FloatArray:
    """Return z + 1/(z + 2/(z + ...)) down to the given level."""
    total = z.copy()
    for n in range(levels, 0, -1):
        total = z + n / total
    return total
