"""Hypothesis testing between inputs: trade-off curves (Neyman-Pearson) and the regions of E-LDP."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Label
from mechdesign.exact import as_fraction, exp_lower
from mechdesign.notions.base import budget
from mechdesign.text import Table, Tabular

Point: TypeAlias = tuple[Fraction, Fraction]
"""A false alarm rate and a missed detection rate."""

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class ErrorRegion:
    """The error rates that two budgets allow for a test between inputs x and x'.

        missed + e**E[x,x'] alarm >= 1     and     alarm + e**E[x',x] missed >= 1

    Attributes
    ----------
    forward, back
        E[x, x'] and E[x', x] in nats; None if infinite.
    """

    forward: Fraction | None
    back: Fraction | None

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        """The lower edge of the region: rates from (0, 1) to (1, 0), as floats."""
        if self.forward == 0 or self.back == 0:
            return (0.0, 1.0), (1.0, 0.0)
        # in terms of e**-E, which is 0 for an infinite budget
        a, b = (0.0 if e is None else math.exp(-float(e)) for e in (self.forward, self.back))
        return (0.0, 1.0), (a * (1 - b) / (1 - a * b), b * (1 - a) / (1 - a * b)), (1.0, 0.0)

    def holds(self, point: Point) -> bool:
        """Return whether error rates lie in the region; exact except that e**E is rounded down."""
        alarm, missed = point
        return _above_line(missed, alarm, self.forward) and _above_line(alarm, missed, self.back)


@dataclass(frozen=True, repr=False)
class TradeOff(Tabular):
    """The trade-off curve of the best tests between two inputs.

    A test decides for x or x'. It misses x if it decides for x', and raises a false alarm at the
    input x' if it decides for x.

    Attributes
    ----------
    x, other
        The two inputs.
    points
        The exact corners of the curve, from (0, 1) to no missed detections. The curve is convex and
        linear between them, by randomized tests.
    """

    indent = "  "

    x: Label
    other: Label
    points: tuple[Point, ...]

    def missed(self, alarm: Fraction | int | str) -> Fraction:
        """Return the least missed detection rate at a false alarm rate from 0 to 1, exactly.

        Raises
        ------
        InputError
            If the rate is not from 0 to 1.
        """
        rate = as_fraction(alarm, "alarm", expected="a rate from 0 to 1", least=0, most=1)
        alarms = [point[0] for point in self.points]
        n = bisect_right(alarms, rate)
        if n == len(alarms):
            return ZERO
        (left, high), (right, low) = self.points[n - 1 : n + 1]
        return high + (low - high) * (rate - left) / (right - left)

    @property
    def total_variation(self) -> Fraction:
        """The exact total variation of the two rows: 1 minus the least sum of both errors."""
        return 1 - min(alarm + missed for alarm, missed in self.points)

    def inside(self, region: ErrorRegion) -> bool:
        """Return whether all tests lie in a region, which holds iff the corners do."""
        return all(region.holds(point) for point in self.points)

    def _head(self) -> str:
        return f"Tests between inputs {self.x!r} and {self.other!r}"

    def _table(self) -> Table:
        rows = [(f"{float(alarm):.6f}", f"{float(missed):.6f}") for alarm, missed in self.points]
        return Table(("false alarm", "missed"), rows, ">>")


def trade_off(channel: Channel, x: Any, other: Any) -> TradeOff:
    """Return the best tests between two inputs, from one report.

    By the lemma of Neyman and Pearson they decide for x at the outputs with the largest ratios
    Q(y|x) / Q(y|x').

    Parameters
    ----------
    channel
        The channel.
    x, other
        Labels of two inputs.

    Raises
    ------
    InputError
        If a label is not an input of the channel.

    Notes
    -----
    Source: Acharya et al. 2020, Theorem 1. The first and the last slope of the curve are
    -e**E[x, x'] and -e**-E[x', x] for the tightest matrix E.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> curve = trade_off(warner, "yes", "no")
    >>> curve
    Tests between inputs 'yes' and 'no'
       false alarm        missed
          0.000000      1.000000
          0.250000      0.250000
          1.000000      0.000000
    >>> curve.total_variation, curve.missed("1/8")
    (Fraction(1, 2), Fraction(5, 8))
    >>> curve.inside(error_region("1.1")), curve.inside(error_region("1.09"))
    (True, False)
    """
    a, b = as_channel(channel).inputs.index(x, "x"), channel.inputs.index(other, "other")
    whole = channel.denominator
    steps: dict[Fraction | None, list[int]] = {}
    for column in channel.columns():
        up, down = column[a], column[b]
        if up or down:
            total = steps.setdefault(Fraction(up, down) if down else None, [0, 0])
            total[0] += up
            total[1] += down
    alarm, missed = 0, whole
    points = [(ZERO, ONE)]
    for ratio in sorted(steps, key=lambda r: (r is None, r or ZERO), reverse=True):
        missed -= steps[ratio][0]
        alarm += steps[ratio][1]
        points.append((Fraction(alarm, whole), Fraction(missed, whole)))
    labels = channel.inputs.labels
    return TradeOff(labels[a], labels[b], tuple(points))


def error_region(forward: Any, back: Any = None) -> ErrorRegion:
    """Return the error rates that E-LDP allows for a test between x and x'.

    Parameters
    ----------
    forward
        E[x, x'] in nats, >= 0; may be ``inf``.
    back
        E[x', x]; default ``forward``, as under LDP.

    Raises
    ------
    InputError
        If a budget is negative or not a number.

    Notes
    -----
    Source: Acharya et al. 2020, Theorem 1 and Figure 1.

    Examples
    --------
    The corner of LDP is at 1 / (1 + e**epsilon) on either axis:

    >>> [round(rate, 6) for rate in error_region(1).corners[1]]
    [0.268941, 0.268941]
    """
    first = _budget(forward, "forward")
    return ErrorRegion(first, first if back is None else _budget(back, "back"))


def _budget(value: Any, key: str) -> Fraction | None:
    if isinstance(value, str | float) and value in ("inf", "+inf", math.inf):
        return None
    return budget(value, key)


def _above_line(first: Fraction, second: Fraction, epsilon: Fraction | None) -> bool:
    """Return whether ``first + e**epsilon second >= 1``; always true for an infinite budget."""
    return epsilon is None or first + exp_lower(epsilon) * second >= 1
