"""Numbers as doubles, and their rounding to nodes, deterministic or by an exact coin."""

from __future__ import annotations

import math
import numbers as kinds
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.continuous.domain import End, Interval, end_text, labels_between, read_end
from mechdesign.domain import Domain
from mechdesign.errors import InputError, choose, listed, shown, shown_kind
from mechdesign.exact import as_fraction
from mechdesign.sampling import Source, rational_coin

WORD = 64

OUTSIDE = ("refuse", "clip")
"""The options for numbers outside the interval."""


class Axis:
    """Nodes of an interval: x is rounded to node i with exact probability w_i(x)."""

    def __init__(self, points: Sequence[End], ends: tuple[float, float] | None = None) -> None:
        self.points = tuple(points)
        self._doubles = np.array([float(point) for point in self.points])
        self.ends = ends or (float(self._doubles[0]), float(self._doubles[-1]))


class Cells(Axis):
    """Deterministic cells: a number is rounded to its cell [a, b), the last one closed.

    The points are the edges of the cells; the outer ones may be infinite. A double that is the
    nearest one to an edge counts as that edge: 0.3 is in the cell that begins at 3/10, although the
    double is slightly less.

    Examples
    --------
    >>> cells = Cells([Fraction(0), Fraction(3, 10), Fraction(1)])
    >>> cells.weights(Fraction(1, 2)), cells.exact(0.3), cells.labels.labels
    ({1: Fraction(1, 1)}, Fraction(3, 10), ('[0, 0.3)', '[0.3, 1]'))
    """

    kind = "cells"
    description = "{} cells"

    def __init__(self, points: Sequence[End], ends: tuple[float, float] | None = None) -> None:
        super().__init__(points, ends)
        self.size = len(self.points) - 1
        self._edges = dict(zip(self._doubles.tolist(), self.points, strict=True))

    @property
    def labels(self) -> Domain:
        """The cells as text: ``"[0, 10)"``."""
        return Domain(labels_between(self.points))

    def exact(self, number: float) -> Fraction:
        """Return the edge whose nearest double this is, or the exact value."""
        edge = self._edges.get(number)
        return Fraction(number) if edge is None or math.isinf(edge) else Fraction(edge)

    def weights(self, x: Fraction) -> dict[int, Fraction]:
        """Return 1 for the cell of a number."""
        return {bisect_right(self.points[1:-1], x): Fraction(1)}

    def shares(self, numbers: FloatArray) -> FloatArray:
        """Return the weights of many numbers, ``(n_numbers, n_nodes)``: a 1 in each row."""
        return np.asarray(np.eye(self.size)[self._places(numbers)])

    @property
    def supports(self) -> FloatArray:
        """The ends of each cell."""
        return np.stack([self._doubles[:-1], self._doubles[1:]], axis=1)

    @property
    def positions(self) -> FloatArray:
        """The middles of the cells; the finite ends of half-lines."""
        low, high = self.supports.T
        ends = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        return np.where(np.isfinite(high - low), low / 2 + high / 2, ends)

    def draw(self, numbers: FloatArray, source: Source) -> Int64Array:
        """Return the index of the cell of each double; no randomness is used."""
        return self._places(numbers)

    def _places(self, numbers: FloatArray) -> Int64Array:
        # rounding to doubles is monotone: from the double nearest to an edge on, and only from
        # there, doubles are beyond the edge or count as it
        return np.searchsorted(self._doubles[1:-1], numbers, side="right").astype(np.int64)


class Linear(Axis):
    """Linear weights: x between two nodes t < t' goes to t' with probability (x - t)/(t' - t).

    So the node has the mean x, and each probability of the kernel is linear between nodes. On an
    infinite interval, numbers beyond the nodes go to the last one there.

    Notes
    -----
    No float decides: the coin is U < w for 64 random bits of U and the rational weight w of the
    rational x. Floating point only encloses w. If the bits fall into the enclosure, which has
    probability about 2**-48 unless the nodes are much closer to each other than to 0, w is computed
    exactly, and more bits are read if even the 64 do not decide.

    Examples
    --------
    >>> Linear([Fraction(0), Fraction(1), Fraction(3)]).weights(Fraction(5, 2))
    {1: Fraction(1, 4), 2: Fraction(3, 4)}
    """

    kind = "linear"
    description = "linear rounding to {} nodes"

    def __init__(self, points: Sequence[End], ends: tuple[float, float] | None = None) -> None:
        super().__init__(points, ends)
        self._nodes = nodes = [Fraction(point) for point in self.points]
        self.size = len(nodes)
        self._from = np.array(list(map(_ceiling, nodes)))
        self._scales, self._margins = np.zeros(len(nodes) - 1), np.full(len(nodes) - 1, np.inf)
        for n, (low, high) in enumerate(pairwise(nodes)):
            width = high - low
            if width > TINY:
                # With u = 2**-53: the double of t is within u|t|, the difference x - t and each of
                # the two operations after it within a share u, the 64 bits as a double within u/2,
                # and an x beyond an end within u|t|. All of it is below 2u|t|/width + 5u.
                self._scales[n] = float(1 / width)
                self._margins[n] = 2.0**-50 * (1 + float(max(abs(low), abs(high)) / width))

    @property
    def labels(self) -> Domain:
        """The nodes as numbers."""
        whole = all(node.denominator == 1 for node in self._nodes)
        return Domain([int(node) if whole else float(node) for node in self._nodes])

    def exact(self, number: float) -> Fraction:
        """Return the end that a double is beyond, or its exact value."""
        return min(max(Fraction(number), self._nodes[0]), self._nodes[-1])

    def weights(self, x: Fraction) -> dict[int, Fraction]:
        """Return the weights of the two nodes beside a number, or 1 for a node itself."""
        n = min(bisect_right(self._nodes, x), len(self._nodes) - 1) - 1
        up = (x - self._nodes[n]) / (self._nodes[n + 1] - self._nodes[n])
        return {i: weight for i, weight in ((n, 1 - up), (n + 1, up)) if weight}

    def shares(self, numbers: FloatArray) -> FloatArray:
        """Return the weights of many numbers as floats, at most two in each row."""
        numbers, low = self._beside(numbers)
        width = self._doubles[low + 1] - self._doubles[low]
        up = np.clip((numbers - self._doubles[low]) / width, 0.0, 1.0)
        found, rows = np.zeros((len(numbers), len(self._nodes))), np.arange(len(numbers))
        found[rows, low], found[rows, low + 1] = 1 - up, up
        return found

    def _beside(self, numbers: FloatArray) -> tuple[FloatArray, Int64Array]:
        """Return numbers clipped to the nodes, and the node below each."""
        inside = np.clip(numbers, self._doubles[0], self._doubles[-1])
        places = np.searchsorted(self._from, inside, side="right").astype(np.int64) - 1
        return inside, np.clip(places, 0, len(self._nodes) - 2)

    @property
    def supports(self) -> FloatArray:
        """The neighbors of each node; the ends of the interval for the outer ones."""
        ends = np.concatenate([self.ends[:1], self._doubles, self.ends[1:]])
        return np.stack([ends[:-2], ends[2:]], axis=1)

    @property
    def positions(self) -> FloatArray:
        """The nodes."""
        return self._doubles.copy()

    def draw(self, numbers: FloatArray, source: Source) -> Int64Array:
        """Return one of the two nodes beside each double."""
        numbers, places = self._beside(numbers)
        words = source.words(len(numbers))
        weights = (numbers - self._doubles[places]) * self._scales[places]
        excess = words.astype(np.float64) * 2.0**-WORD - weights
        up = excess < 0
        for n in np.flatnonzero(np.abs(excess) <= self._margins[places]).tolist():
            weight = self.weights(self.exact(float(numbers[n]))).get(int(places[n]) + 1, ZERO)
            up[n] = _bernoulli(int(words[n]), weight, source.of(slice(n, n + 1)))
        return np.asarray(places + up)


ZERO = Fraction(0)

TINY = Fraction(1, 2**900)
"""Smaller distances of nodes are not computed in floating point, because of underflow."""


def _bernoulli(word: int, weight: Fraction, source: Source) -> bool:
    """Return whether U < weight, where U is uniform and ``word`` is its first 64 binary digits."""
    scaled = weight * (1 << WORD)
    whole = math.floor(scaled)
    return word < whole or (word == whole and rational_coin(source, scaled - whole))


def _ceiling(number: Fraction) -> float:
    """Return the least double that is at least a number."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


Rounding = Cells | Linear
"""A rounding, of one of the two kinds."""

ROUNDINGS: dict[str, type[Rounding]] = {kind.kind: kind for kind in (Cells, Linear)}
"""All roundings by name."""


def rounding_of(kind: Any, points: Sequence[Any], interval: Interval) -> Rounding:
    """Return the rounding of an interval from its kind and its points."""
    made, given = choose(ROUNDINGS, kind, "kind"), listed(points, "points", "a list of numbers")
    if len(given) < 2:
        raise InputError("points", "at least two", len(given))
    read = read_end if made is Cells else as_fraction
    found = [read(point, f"points[{n}]") for n, point in enumerate(given)]
    for n, (low, high) in enumerate(pairwise(found)):
        if float(low) >= float(high):
            expected = "points that rise, as doubles too"
            raise InputError(f"points[{n + 1}]", expected, f"{end_text(low)}, {end_text(high)}")
    ends = (interval.low, interval.high)
    for point, end in zip((found[0], found[-1]), ends, strict=True):
        if point != end and (made is Cells or isinstance(end, Fraction)):
            expected = f"points from end to end of {interval!r}"
            raise InputError("points", expected, f"{end_text(found[0])} to {end_text(found[-1])}")
    return made(found, (float(ends[0]), float(ends[1])))


def doubles_of(values: Any, key: str) -> FloatArray:
    """Return numbers as doubles, rounded to the nearest one.

    Examples
    --------
    >>> from fractions import Fraction
    >>> doubles_of([1, Fraction(1, 2), 1e-310], "values").tolist()
    [1.0, 0.5, 1e-310]
    """
    array = np.asanyarray(values) if hasattr(values, "__array__") else np.empty(0, dtype=object)
    if array.ndim == 1 and array.dtype.kind in "iuf":
        with np.errstate(over="ignore"):  # a long double may become infinite
            return np.ma.filled(array.astype(np.float64, copy=False), math.nan)
    if isinstance(values, set | frozenset):
        raise InputError(key, "a list, in the order of the records", "a set")
    entries = listed(values, key, "a list of numbers", quoted=False)
    return np.array([_double(value, f"{key}[{n}]") for n, value in enumerate(entries)], dtype=float)


def _double(value: Any, key: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, kinds.Real | Decimal):
        raise InputError(key, "a number", shown_kind(type(value)))
    try:
        return float(value)
    except OverflowError:
        return math.inf if value == abs(value) else -math.inf
    except ValueError:  # a signaling NaN
        return math.nan


def within(
    values: FloatArray, ends: tuple[float, float], outside: Any, key: str, numbers: str
) -> FloatArray:
    """Return doubles that lie in an interval."""
    if outside not in OUTSIDE:
        raise InputError("outside", "'refuse' or 'clip'", shown(outside))
    low, high = ends
    clips = outside == "clip"
    bad = np.isnan(values) if clips else ~((values >= low) & (values <= high) & np.isfinite(values))
    if bad.any():
        n = int(np.argmax(bad))
        given, hint = "a number outside", 'outside="clip" takes the nearer end instead'
        given, hint = ("nan", "") if np.isnan(values[n]) else (given, hint)
        raise InputError(f"{key}[{n}]", f"numbers of {numbers}", given, hint)
    return np.clip(values, low, high) if clips else values
