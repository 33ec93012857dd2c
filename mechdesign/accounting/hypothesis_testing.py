"""Two inputs compared: trade-off curves of tests, regions of E-LDP, and privacy profiles."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Label
from mechdesign.errors import listed
from mechdesign.exact import Exact, as_fraction, exp_lower, exp_upper
from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.notions.base import budget
from mechdesign.prior import Prior, prior_on
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
        """Return the least missed detection rate at a false alarm rate from 0 to 1, exactly."""
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


MOST_EXACT = 1 << 21
"""Maximum number of entries of near-largest sums that are added exactly."""

LARGEST_FACTOR = Fraction(10**300)


@dataclass(frozen=True, repr=False)
class PrivacyProfile(Tabular):
    """The least delta at some epsilons. Its repr is a table.

    Attributes
    ----------
    epsilons
        The budgets, exact, in nats.
    ldp
        For each, the least delta of approximate LDP: a rational, rounded up by 2**-149 if
        e**epsilon is irrational, and by 1e-12 if thousands of pairs are that close to the worst.
    lip
        The same for approximate LIP; None without a prior.
    """

    epsilons: tuple[Fraction, ...]
    ldp: tuple[Fraction, ...]
    lip: tuple[Fraction, ...] | None = None

    def _table(self) -> Table:
        deltas = {"delta (LDP)": self.ldp} | ({} if self.lip is None else {"delta (LIP)": self.lip})
        rows = []
        for epsilon, *least in zip(self.epsilons, *deltas.values(), strict=True):
            rows.append((f"{float(epsilon):.6g}", *(f"{float(delta):.9f}" for delta in least)))
        return Table(("epsilon", *deltas), rows, ">" * (1 + len(deltas)))


def privacy_profile(
    channel: Channel, epsilons: Iterable[Exact], prior: Prior | None = None
) -> PrivacyProfile:
    """Return the least delta with which a channel is (epsilon, delta)-private.

        LDP:  delta = max over x, x' of  Sum_y (Q[x,y] - e**epsilon Q[x',y])_+
        LIP:  delta = max over x of      Sum_y (e**-epsilon Q[x,y] - lambda_y)_+
                                   and   Sum_y (lambda_y - e**epsilon Q[x,y])_+

    Parameters
    ----------
    channel
        The channel.
    epsilons
        Budgets in nats, >= 0.
    prior
        The distribution of X, for LIP.

    Notes
    -----
    Sources: Dwork et al. 2006 (approximate LDP); Jiang et al. 2021 (TIFS), Definition 5
    (approximate LIP). Pairs are compared in floats; the sums of those within rounding of the worst
    are computed again in integers.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> privacy_profile(warner, [0, 1, 2], Prior([0.5, 0.5]))
       epsilon     delta (LDP)     delta (LIP)
             0     0.500000000     0.250000000
             1     0.070429543     0.000000000
             2     0.000000000     0.000000000
    """
    as_channel(channel)
    given = listed(epsilons, "epsilons", "a list of budgets")
    budgets = tuple(budget(epsilon, f"epsilons[{n}]") for n, epsilon in enumerate(given))
    if prior is not None:
        prior = prior_on(prior, channel.inputs)
    rows = channel.numerators.tolist()
    whole = channel.denominator
    ldp = tuple(_largest(rows, rows, exp_lower(e)) / whole for e in budgets)
    if prior is None:
        return PrivacyProfile(budgets, ldp)
    shares, unit = over_one_denominator(prior)
    outputs = [sum(map(mul, shares, column)) for column in channel.columns()]
    scaled = [[unit * q for q in row] for row in rows]
    lip = tuple(
        max(
            _largest(scaled, [outputs], exp_lower(e)) * exp_upper(-e),
            _largest([outputs], scaled, exp_lower(e)),
        )
        / (unit * whole)
        for e in budgets
    )
    return PrivacyProfile(budgets, ldp, lip)


def _largest(tops: list[list[int]], bottoms: list[list[int]], factor: Fraction) -> Fraction:
    """Return the largest Sum_y (a_y - factor b_y)_+ over the rows a of tops and b of bottoms."""
    n = len(tops[0])
    # if the factor overflows, the float sums are upper bounds only, and all of them count as near
    is_float = factor <= LARGEST_FACTOR
    sums, margin = _sums(tops, bottoms, float(min(factor, LARGEST_FACTOR)))
    best = sums.max()
    near = np.argwhere(sums >= (best - 2 * margin if is_float else 0))
    surely = near[: max(1, MOST_EXACT // n)]
    top, bottom = factor.numerator, factor.denominator
    exact = max(
        sum(max(0, bottom * a - top * b) for a, b in zip(tops[x], bottoms[z], strict=True))
        for x, z in surely.tolist()
    )
    if len(surely) == len(near):
        return Fraction(exact, bottom)
    total = sum(tops[0])
    return max(Fraction(exact, bottom), Fraction(float(best) + margin) * total)


def _sums(
    tops: list[list[int]], bottoms: list[list[int]], factor: float
) -> tuple[FloatArray, float]:
    """Return all sums as shares of the sum of a row, and a bound on their error.

    A term is at most a_y, and its error at most 4 roundings of a_y and of a term not larger.
    """
    A, B = _shares(tops), factor * _shares(bottoms)
    sums = np.stack([np.maximum(a - B, 0).sum(axis=1) for a in A])
    return sums, (A.shape[1] + 8) * 2.0**-51


def _shares(rows: list[list[int]]) -> FloatArray:
    total = sum(rows[0])
    return np.array([[entry / total for entry in row] for row in rows])
