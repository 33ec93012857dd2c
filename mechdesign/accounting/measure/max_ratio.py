"""The largest ratio of two entries, exactly, and its logarithm rounded up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from mechdesign.exact import log_upper

Ratio: TypeAlias = Fraction | None
"""A ratio of probabilities; None if infinite."""


def log_above(factor: Ratio) -> float:
    """Return the least float >= ln(factor), both as binary and as its decimal text; None is inf.

    Examples
    --------
    >>> log_above(Fraction(1)), round(log_above(Fraction(3)), 6), log_above(None)
    (0.0, 1.098612, inf)
    """
    if factor is None:
        return math.inf
    return float_above(log_upper(factor))


def float_above(value: Fraction) -> float:
    """Return the least float >= ``value``, both as binary and as its decimal text; inf above 1e308.

    Examples
    --------
    >>> float_above(Fraction(1, 10)), float_above(Fraction(1, 3)) > 1 / 3
    (0.1, True)
    >>> float_above(Fraction(10**400))
    inf
    """
    if value > 10**308:
        return math.inf
    near = float(value)
    while Fraction(near) < value or Fraction(repr(near)) < value:
        near = math.nextafter(near, math.inf)
    return near


def inverse(value: Fraction) -> Ratio:
    """Return 1 / value; None (infinity) for 0."""
    return 1 / value if value else None


def largest(ratios: Iterable[Iterable[Ratio]]) -> Ratio:
    """Return the largest ratio of a matrix; None if one is infinite."""
    flat = [ratio for row in ratios for ratio in row]
    return None if None in flat else max(ratio for ratio in flat if ratio is not None)


def pair_ratios(rows: Iterable[Sequence[int | Fraction]]) -> tuple[tuple[Ratio, ...], ...]:
    """Return the largest ratio of every pair of rows, entry by entry.

    Examples
    --------
    >>> pair_ratios([(3, 1), (2, 2)])
    ((Fraction(1, 1), Fraction(3, 2)), (Fraction(2, 1), Fraction(1, 1)))
    """
    listed = list(rows)
    return tuple(tuple(max_ratio(row, other).factor for other in listed) for row in listed)


class MaxRatio(NamedTuple):
    """The largest of some ratios, and the index of the column that attains it.

    ``factor`` is None if the ratio is infinite. Without any ratio it is 1, and ``column`` None.
    """

    factor: Ratio
    column: int | None


def max_ratio(tops: Sequence[int | Fraction], bottoms: Sequence[int | Fraction]) -> MaxRatio:
    """Return the largest ``top / bottom``, exactly; pairs with a top of 0 are left out.

    Examples
    --------
    >>> max_ratio([2, 3, 0], [2, 1, 0])
    MaxRatio(factor=Fraction(3, 1), column=1)
    """
    top: int | Fraction
    bottom: int | Fraction
    best, top, bottom = None, 0, 1
    for y, (a, b) in enumerate(zip(tops, bottoms, strict=True)):
        if a == 0:
            continue
        if b == 0:
            return MaxRatio(None, y)
        if a * bottom > top * b:
            best, top, bottom = y, a, b
    return MaxRatio(Fraction(top, bottom) if best is not None else Fraction(1), best)
