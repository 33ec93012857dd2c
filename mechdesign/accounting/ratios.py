"""Largest ratios of entries, exactly, their logarithms rounded up, and the tightest matrix E."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.channel import Channel, as_channel
from mechdesign.exact import log_upper

Ratio: TypeAlias = Fraction | None
"""A ratio of probabilities; None if infinite."""


def log_above(factor: Ratio) -> float:
    """Return the least float >= ln(factor), both as binary and as its decimal text; None is inf."""
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
    """Return the largest ratio of every pair of rows, entry by entry."""
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


ABOVE = 1 + 2.0**-49
"""Covers six roundings of a logarithm, and the conversion of a float to its decimal text."""

BLOCK = 1 << 16
"""Number of entries compared at a time, to fit the processor's cache."""


def tightest_matrix(channel: Channel) -> FloatArray:
    """Return the least E with which a channel is E-LDP.

        E[x, x'] = max over y of ln(Q[x, y] / Q[x', y])

    A channel is E'-LDP iff E' >= E entrywise. This E satisfies the triangle inequality.

    Returns
    -------
    numpy.ndarray
        ``(n_inputs, n_inputs)`` floats in [0, inf], in nats, rounded up by a relative amount of at
        most 2**-48; 0 iff two rows are equal, inf iff some output is possible at x but not at x'.

    Notes
    -----
    Source: Acharya et al. 2020, Definition 2.

    Examples
    --------
    Mangat's design hides "yes" among others who answer "yes", but does not hide "no".

    >>> mangat = Channel.from_matrix([["1", "0"], ["1/2", "1/2"]])
    >>> tightest_matrix(mangat).round(6).tolist()
    [[0.0, 0.693147], [inf, 0.0]]
    """
    return matrix_of(as_channel(channel).numerators)


def matrix_of(table: AnyArray) -> FloatArray:
    """Return the tightest matrix of a table of integers."""
    if table.dtype == object:  # integers beyond 64 bits
        return np.array([list(map(log_above, row)) for row in pair_ratios(table.tolist())])
    numerators = np.ascontiguousarray(table)
    k, m = numerators.shape
    with np.errstate(divide="ignore"):
        inverse = 1 / numerators.astype(np.float64)
    inverse[numerators == 0] = 0  # ratios with a denominator of 0 are set to inf below
    step = max(1, BLOCK // m)
    excess = np.empty((k, k))
    for first in range(0, k, step):
        part = slice(first, first + step)
        for x in range(k):
            # the ratio minus 1, from an exact difference, to keep precision near 1
            ratios = (numerators[x] - numerators[part]).astype(np.float64) * inverse[part]
            excess[x, part] = ratios.max(axis=1)
    matrix: FloatArray = np.log1p(np.maximum(excess, 0)) * ABOVE
    positive = (numerators > 0).astype(np.float32)
    matrix[positive @ (1 - positive).T > 0] = math.inf
    return matrix
