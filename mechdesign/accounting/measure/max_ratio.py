"""The extreme entries of every column of a channel, exactly: what leakages are read from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mechdesign.channel import Channel
from mechdesign.exact import log_upper
from mechdesign.prior import Prior

__all__ = ["Extremes", "Integers", "MaxRatio", "Weighted", "float_above", "log_above", "max_ratio"]

Integers: TypeAlias = list[int]
Labelled: TypeAlias = tuple[Integers, Integers]
"""A whole number for each column, and the number of the input that it is found at."""

CHUNK = 1 << 20
"""Entries that are turned to Python's whole numbers at a time."""


def log_above(factor: Fraction | None) -> float:
    """Return the least float at least ln(factor), whether read in binary or as it prints.

    None stands for infinity.

    Examples
    --------
    >>> log_above(Fraction(1)), round(log_above(Fraction(3)), 6), log_above(None)
    (0.0, 1.098612, inf)
    """
    if factor is None:
        return math.inf
    return float_above(log_upper(factor))


def float_above(value: Fraction) -> float:
    """Return the least float at least ``value``, whether read in binary or as it prints.

    Examples
    --------
    >>> float_above(Fraction(1, 10)), float_above(Fraction(1, 3)) > 1 / 3
    (0.1, True)
    """
    near = float(value)
    while Fraction(near) < value or Fraction(repr(near)) < value:
        near = math.nextafter(near, math.inf)
    return near


@dataclass(frozen=True)
class MaxRatio:
    """The largest of some ratios, and the number of the column that it is found in.

    ``factor`` is None where the ratio is infinite, and 1 in no column where there is none.
    """

    factor: Fraction | None
    column: int | None


def max_ratio(
    tops: Sequence[int], bottoms: Sequence[int], scale: Fraction = Fraction(1)
) -> MaxRatio:
    """Return the largest ``scale * top / bottom``, exactly; a top of 0 does not count.

    Examples
    --------
    >>> max_ratio([2, 3, 0], [2, 1, 0])
    MaxRatio(factor=Fraction(3, 1), column=1)
    """
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
class Weighted:
    """The columns of P_x Q[x, y], over one denominator: the joint law of input and output.

    Attributes
    ----------
    unit
        What makes the prior whole numbers.
    laws
        The sum of each column: the law of the output, over ``unit`` and the channel's denominator.
    most, least
        The extreme entries of each column, over the same, and their inputs.
    """

    unit: int
    laws: Integers
    most: Labelled
    least: Labelled


class Extremes:
    """The extreme entries of every column, alone and weighted by a prior.

    Parameters
    ----------
    channel
        Whose columns.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    @cached_property
    def most(self) -> Labelled:
        """The largest entry of each column, as a whole number, and its input."""
        return _extreme(self.channel.numerators, largest=True)

    @cached_property
    def least(self) -> Labelled:
        """The least entry of each column, as a whole number, and its input."""
        return _extreme(self.channel.numerators, largest=False)

    def weighted(self, prior: Prior) -> Weighted:
        """Return the same of P_x Q[x, y]."""
        unit = math.lcm(*(p.denominator for p in prior))
        shares = np.array([int(p * unit) for p in prior], dtype=object)[:, None]
        laws: Integers = []
        most: Labelled = ([], [])
        least: Labelled = ([], [])
        for part in self._parts():
            joint = part.astype(object) * shares
            laws += [int(law) for law in joint.sum(axis=0)]
            for found, largest in ((most, True), (least, False)):
                values, places = _extreme(joint, largest=largest)
                found[0].extend(values)
                found[1].extend(places)
        return Weighted(unit, laws, most, least)

    def _parts(self) -> Iterator[npt.NDArray[Any]]:
        n_inputs, n_outputs = self.channel.shape
        step = max(1, CHUNK // n_inputs)
        for first in range(0, n_outputs, step):
            yield self.channel.numerators[:, first : first + step]


def _extreme(table: npt.NDArray[Any], *, largest: bool) -> Labelled:
    """Return the extreme entry of each column and the first row that it is in."""
    place = table.argmax(axis=0) if largest else table.argmin(axis=0)
    values = table[place, np.arange(table.shape[1])]
    return values.tolist(), place.tolist()
