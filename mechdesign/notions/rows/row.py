"""One linear inequality on a column, its least epsilon, and multipliers on such rows."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.exact import exp_lower
from mechdesign.kernel.generators import ListedRow
from mechdesign.prior_sets import Weights

LARGEST, SMALLEST = 1e100, 1e-300
"""The range of floats that are read back as numbers; the largest stands for infinity."""

LOWEST = -LARGEST

CLOSE = 2.0**-50
"""Relative difference to a budget within which a leakage counts as the budget."""


def least_float(holds: Callable[[Fraction], bool], near: float) -> float:
    """Return the least float at which the monotone ``holds`` is true; inf if there is none.

    Floats are numbered in order, and the search bisects these numbers: steps from ``near`` double
    until they bracket the answer.

    Examples
    --------
    >>> least_float(lambda t: t >= Fraction(1, 3), near=0.3)
    0.33333333333333337
    """
    last = _number(LARGEST)
    low = high = max(-last, min(_number(near), last))
    step = 1
    if holds(decimal(_float(high))):
        while low > -last and holds(decimal(_float(low))):
            low, high, step = max(-last, low - step), low, 2 * step
    else:
        while not holds(decimal(_float(high))):
            if high == last:
                return math.inf
            low, high, step = high, min(last, high + step), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(decimal(_float(middle))) else (middle, high)
    found = _float(high)
    is_number = not found or abs(found) >= SMALLEST
    return found if is_number else max(0.0, math.copysign(SMALLEST, found))


def decimal(value: float) -> Fraction:
    """Return the decimal repr of a float as a rational: 1/10 for 0.1."""
    return Fraction(repr(value))


def reported(found: float, asked: Fraction) -> float:
    """Return a leakage, or the requested budget if the leakage is the next float above it."""
    wanted = float(asked)
    return wanted if found <= wanted <= found + CLOSE * (wanted or 1.0) else found


def _number(value: float) -> int:
    """Return the number of a float in the order of all floats."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(value)))
    return int(math.copysign(1, value)) * int(bits)


def _float(number: int) -> float:
    (found,) = struct.unpack("<d", struct.pack("<q", abs(number)))
    return math.copysign(found, number)


class Row(NamedTuple):
    """One named row, ``left . q <= e**exponent (right . q)``, exact and sparse.

    Coefficients >= 0 are by label in the rows of a :class:`LinearNotion`, by the number of the
    input in a compiled family. ``slope`` is the rate of the exponent, which is in nats, in the
    epsilon of the notion; 0 if it does not depend on it.
    """

    name: str
    left: Mapping[Any, Any]
    exponent: Any
    right: Mapping[Any, Any]
    slope: Any = Fraction(0)

    @property
    def listed(self) -> ListedRow:
        """The row as the kernel states it."""
        return ListedRow(tuple(self.left.items()), self.exponent, tuple(self.right.items()))

    def sums(self, column: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Return left . q and right . q."""
        left, right = (
            sum((v * column[x] for x, v in side.items()), Fraction(0))
            for side in (self.left, self.right)
        )
        return left, right

    def holds(self, column: Sequence[int]) -> bool:
        """Return whether the row holds, exactly."""
        left, right = self.sums(column)
        return left <= exp_lower(self.exponent) * right

    def least_epsilon(self, column: Sequence[int], epsilon: Fraction) -> float:
        """Return the least float that satisfies the row in place of a violating epsilon."""
        left, right = self.sums(column)
        if not right or not self.slope:
            return math.inf
        base, ratio = self.exponent - self.slope * epsilon, left / right
        near = (_log(ratio) - float(base)) / float(self.slope)
        return least_float(lambda e: left <= exp_lower(base + self.slope * e) * right, near)


@dataclass(frozen=True)
class Multipliers:
    """Dual variables on the rows of one side of a notion, nonzero ones only.

    Attributes
    ----------
    side
        As in the kernel: ``"upper"`` or ``"lower"`` for bounds on the lift (of ``x`` at the prior
        number ``other`` of ``priors``), else ``""``: for ratios (of ``x`` against the input
        ``other``), listed rows (number ``x``), and parts of limits (number ``x`` of the limit
        number ``other``). On a latent variable ``x`` numbers its values.
    output, x, other, weight
        Arrays of one length; weights are of rows ``e**-a (left . q) <= right . q``.
    priors
        Those that rows on lifts refer to: none are the vertices of the set.
    notion
        The place of the notion among those of the problem.
    """

    side: str
    output: IntArray
    x: IntArray
    other: IntArray
    weight: FloatArray
    priors: tuple[Weights, ...] = ()
    notion: int = 0

    def scaled(self, factor: float) -> Multipliers:
        """Return the multipliers for costs that are ``factor`` times as large."""
        return replace(self, weight=factor * self.weight)

    def chosen(self, kept: BoolArray | IntArray) -> Multipliers:
        """Return some of the multipliers."""
        keys = ("output", "x", "other", "weight")
        return replace(self, **{key: getattr(self, key)[kept] for key in keys})

    def with_used_priors(self) -> Multipliers:
        """Return the multipliers without the priors that they do not refer to."""
        if not self.priors:
            return self
        used, place = np.unique(self.other, return_inverse=True)
        return replace(self, other=place, priors=tuple(self.priors[n] for n in used))


def _log(ratio: Fraction) -> float:
    """Return the logarithm of a ratio > 0, with all digits if it is near 1."""
    rise = ratio - 1
    if 2 * abs(rise) < 1:
        return math.log1p(rise)
    return math.log(ratio.numerator) - math.log(ratio.denominator)
