"""One linear inequality on a column, its bound, and multipliers on such rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.exact import exp_lower
from mechdesign.kernel.generators import ListedRow
from mechdesign.notions.rows.least import least_float
from mechdesign.prior_sets import Weights


class Row(NamedTuple):
    """One named row, ``left . q <= e**exponent (right . q)``, exact and sparse.

    Attributes
    ----------
    name
        Its name in reports.
    left, right
        Coefficients >= 0: by label in the rows of a :class:`LinearNotion`, by the number of the
        input in a compiled family.
    exponent
        The logarithm of the bound, in nats.
    slope
        The rate of the exponent in the epsilon of the notion; 0 if it does not depend on it.
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
        The side of the rows, as in the kernel: ``"upper"`` or ``"lower"`` for bounds on the lift
        (of ``x`` at the prior number ``other`` of ``priors``), else ``""``: for ratios (of ``x``
        against the input ``other``), listed rows (number ``x``), and parts of limits (number ``x``
        of the limit number ``other``). On a latent variable ``x`` numbers its values.
    output, x, other
        Integer arrays of one length.
    weight
        Float array: the multiplier of each row ``e**-a (left . q) <= right . q``.
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
