"""Exact maximum ratios of entries of a channel's columns, from which every leakage follows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mechdesign.channel import Channel
from mechdesign.exact import log_upper
from mechdesign.prior import Prior

__all__ = [
    "ColumnExtremes",
    "JointExtremes",
    "MaxRatio",
    "Ratio",
    "float_above",
    "inverse",
    "largest",
    "log_above",
    "max_ratio",
]

Ratio: TypeAlias = Fraction | None
"""A ratio of probabilities; None where it is infinite."""

IndexedValues: TypeAlias = tuple[list[int], list[int]]
"""An integer for each column, and the index of the input at which it is found."""

CHUNK = 1 << 20
"""Entries that are converted to Python integers at a time."""


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
    """Return the least float >= ``value``, both as binary and as its decimal text.

    It is inf above 1e308.

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
    """Return 1 / value: None, for infinity, where the value is 0."""
    return 1 / value if value else None


def largest(ratios: Iterable[Iterable[Ratio]]) -> Ratio:
    """Return the largest ratio of a matrix; None where one is infinite."""
    flat = [ratio for row in ratios for ratio in row]
    return None if None in flat else max(ratio for ratio in flat if ratio is not None)


@dataclass(frozen=True)
class MaxRatio:
    """The largest of some ratios, and the index of the column where it is attained.

    ``factor`` is None where the ratio is infinite. Without any ratio it is 1, and ``column`` None.
    """

    factor: Ratio
    column: int | None


def max_ratio(
    tops: Sequence[int | Fraction],
    bottoms: Sequence[int | Fraction],
    scale: Fraction = Fraction(1),
) -> MaxRatio:
    """Return the largest ``scale * top / bottom``, exactly; pairs with a top of 0 are left out.

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
    return MaxRatio(scale * Fraction(top, bottom) if best is not None else Fraction(1), best)


@dataclass(frozen=True)
class JointExtremes:
    """The extreme entries of the columns of the joint distribution P_x Q[x, y], as integers.

    Attributes
    ----------
    unit
        The common denominator of the prior. All integers here are over ``unit`` times the
        denominator of the channel.
    outputs
        The sum of each column: the probability of the output.
    most, least
        The extreme entries of each column, and their inputs.
    """

    unit: int
    outputs: list[int]
    most: IndexedValues
    least: IndexedValues


class ColumnExtremes:
    """The extreme entries of every column of a channel, alone and weighted by a prior."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    @cached_property
    def most(self) -> IndexedValues:
        """The largest numerator of each column, and its input."""
        return _extreme(self.channel.numerators, largest=True)

    @cached_property
    def least(self) -> IndexedValues:
        """The least numerator of each column, and its input."""
        return _extreme(self.channel.numerators, largest=False)

    def weighted(self, prior: Prior) -> JointExtremes:
        """Return the extreme entries of the columns of P_x Q[x, y]."""
        unit = math.lcm(*(p.denominator for p in prior))
        masses = np.array([int(p * unit) for p in prior], dtype=object)[:, None]
        outputs: list[int] = []
        most: IndexedValues = ([], [])
        least: IndexedValues = ([], [])
        for block in self._blocks():
            joint = block.astype(object) * masses
            outputs += [int(total) for total in joint.sum(axis=0)]
            for found, largest in ((most, True), (least, False)):
                values, places = _extreme(joint, largest=largest)
                found[0].extend(values)
                found[1].extend(places)
        return JointExtremes(unit, outputs, most, least)

    def _blocks(self) -> Iterator[npt.NDArray[Any]]:
        n_inputs, n_outputs = self.channel.shape
        step = max(1, CHUNK // n_inputs)
        for first in range(0, n_outputs, step):
            yield self.channel.numerators[:, first : first + step]


def _extreme(table: npt.NDArray[Any], *, largest: bool) -> IndexedValues:
    """Return the extreme entry of each column and the first row that it is in."""
    place = table.argmax(axis=0) if largest else table.argmin(axis=0)
    values = table[place, np.arange(table.shape[1])]
    return values.tolist(), place.tolist()
