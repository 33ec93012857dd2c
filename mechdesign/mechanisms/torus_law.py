"""The law of noise on a torus: integer weights that depend on the length of a displacement only.

A grid of n_1 x n_2 points is embedded in the torus Z_N1 x Z_N2, with N_i = n_i + 2 m_i and margins
m_i. The length |a| of a displacement a is that of its shortest representative, so lengths satisfy
the triangle inequality, and that of z - x is at most the distance of z and x on the grid. With
weights G(|a|) that sum to 2**62, the noise sends x to z with probability G(|z - x|) / 2**62: rows
sum to 1 by translation invariance, without normalization. If G(r) <= e**(eps (r' - r)) G(r') and
vice versa for neighboring lengths r < r', then for all z, x and x'

    G(|z - x|) <= e**(eps | |z - x| - |z - x'| |) G(|z - x'|) <= e**(eps |x - x'|) G(|z - x'|),

so the noise is private for the distance, exactly. Points off the grid are then reported as the
nearest point of it (a remap, which preserves privacy).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, exp, isqrt, prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.fft

from mechdesign._typing import FloatArray, Int64Array, WordArray
from mechdesign.channel import BITS
from mechdesign.errors import UnsupportedError
from mechdesign.exact import exp_lower_scaled, fraction_text

Coordinates: TypeAlias = tuple[Any, Any]
"""Coordinates along both sides: integers, or arrays of integers."""

WHOLE = 1 << BITS

SCALE_BITS = 160
"""Fractional bits of the bounds on exponentials."""

MARGIN_NATS, FLOOR_NATS = 20, 30
"""Decrease of the log probability up to the end of a margin, and up to the floor of the weights."""

MOST_CELLS = 1 << 20
"""The largest number of points of a torus, or four times those of the grid if that is more."""


@dataclass(frozen=True)
class TorusLaw:
    """Integer weights on the displacements of a torus.

    Attributes
    ----------
    sides
        n_1 and n_2, the numbers of points along the sides of the grid.
    margins
        m_1 and m_2; 0 along sides of fewer than three points, where every point is an end.
    euclidean
        Whether lengths are Euclidean; else Manhattan.
    weights
        The weight of each length, in increasing order of length; lengths beyond the list have the
        last weight.
    """

    sides: tuple[int, int]
    margins: tuple[int, int]
    euclidean: bool
    weights: tuple[int, ...]

    @classmethod
    def of_budget(cls, sides: tuple[int, int], exponent: Fraction, euclidean: bool) -> TorusLaw:
        """Return the private law with weights near C e**(-exponent |a|), exponent per step."""
        margins = _margins(sides, float(exponent))
        lengths = _Lengths(sides, margins, euclidean)
        return cls(sides, margins, euclidean, tuple(_weights(lengths, exponent)))

    @property
    def torus(self) -> tuple[int, int]:
        """N_1 and N_2."""
        (n, m), (margin, other) = self.sides, self.margins
        return n + 2 * margin, m + 2 * other

    @cached_property
    def table(self) -> Int64Array:
        """``(N_1, N_2)`` weights of all displacements."""
        lengths = _Lengths(self.sides, self.margins, self.euclidean)
        place = np.minimum(lengths.place, len(self.weights) - 1)
        quadrant = np.array(self.weights, dtype=np.int64)[place]
        folded = [np.minimum(np.arange(N), N - np.arange(N)) for N in self.torus]
        return quadrant[np.ix_(*folded)]

    @cached_property
    def cumulative(self) -> Int64Array:
        """``(N_1 N_2,)`` sums of the table, row by row: the last is 2**62."""
        return np.cumsum(self.table.ravel())

    @cached_property
    def _sums(self) -> WordArray:
        """Sums of the table, extended by one period, over all rectangles from its corner.

        They overflow, but their differences do not: integers modulo 2**64, below 2**64.
        """
        (N, M), (n, m), (margin, other) = self.torus, self.sides, self.margins
        rows, columns = np.arange(N + n - 1), np.arange(M + m - 1)
        unrolled = self.table[
            np.ix_((rows - margin - n + 1) % N, (columns - other - m + 1) % M)
        ].view(np.uint64)
        found = np.zeros((len(rows) + 1, len(columns) + 1), dtype=np.uint64)
        np.cumsum(np.cumsum(unrolled, axis=0), axis=1, out=found[1:, 1:])
        return found

    def masses(
        self, inputs: Coordinates, firsts: Coordinates, lasts: Coordinates | None = None
    ) -> Int64Array:
        """Return the masses of rectangles of reports, in units of 2**-62.

        Coordinates are listed along each side: of inputs, and of the first and the last points of
        rectangles on the grid, by default single points. There is a mass for each pair of them.
        """
        lows, highs = [], []
        asked = zip(inputs, firsts, lasts or firsts, self.sides, self.margins, strict=True)
        for x, low, high, n, margin in asked:
            # the displacements to the points reported in it, counted from the least one
            first = np.where(low == 0, -margin, low)
            last = np.where(high == n - 1, n - 1 + margin, high)
            lows.append(np.atleast_1d(first - x + margin + n - 1))
            highs.append(np.atleast_1d(last - x + margin + n))
        S = self._sums
        found = S[np.ix_(*highs)] - S[np.ix_(lows[0], highs[1])]
        found += S[np.ix_(*lows)] - S[np.ix_(highs[0], lows[1])]
        return np.asarray(found.view(np.int64))

    @cached_property
    def _spectrum(self) -> npt.NDArray[np.complex128]:
        """The transform of the probabilities of displacements, which are symmetric."""
        return np.asarray(scipy.fft.rfft2(np.ldexp(self.table.astype(np.float64), -BITS)))

    def spread(self, p: FloatArray) -> FloatArray:
        """Return the probabilities of reports if the inputs have the law ``(n_inputs,)`` p."""
        placed = np.zeros(self.torus)
        placed[self._grid] = p.reshape(self.sides)
        found = self._convolved(placed)
        for axis, (n, margin) in enumerate(zip(self.sides, self.margins, strict=True)):
            firsts = np.arange(margin, margin + n)
            firsts[0] = 0  # the ends of a side are reported for all points beyond them
            found = np.add.reduceat(found, firsts, axis=axis)
        # every probability is at least one unit: anything smaller is a rounding error
        return np.asarray(np.maximum(found.ravel(), 2.0**-BITS * p.sum()))

    def gathered(self, r: FloatArray) -> FloatArray:
        """Return for each input the mean of ``(n_inputs,)`` r over its reports."""
        places = (
            np.clip(np.arange(N) - margin, 0, n - 1)
            for N, n, margin in zip(self.torus, self.sides, self.margins, strict=True)
        )
        extended = r.reshape(self.sides)[np.ix_(*places)]
        return np.asarray(self._convolved(extended)[self._grid].ravel())

    @property
    def _grid(self) -> tuple[slice, slice]:
        (n, m), (margin, other) = self.sides, self.margins
        return slice(margin, margin + n), slice(other, other + m)

    def _convolved(self, values: FloatArray) -> FloatArray:
        spectrum = scipy.fft.rfft2(values) * self._spectrum
        return np.asarray(scipy.fft.irfft2(spectrum, self.torus))


class _Lengths:
    """The lengths of the displacements of one quadrant of a torus.

    ``sizes`` are squares of Euclidean lengths, or Manhattan lengths, in increasing order; ``place``
    is the index of the length of each displacement, and ``counts`` the number of displacements of
    each length.
    """

    def __init__(self, sides: tuple[int, int], margins: tuple[int, int], euclidean: bool) -> None:
        self.euclidean = euclidean
        along, times = [], []
        for n, margin in zip(sides, margins, strict=True):
            N = n + 2 * margin
            steps = np.arange(N // 2 + 1)
            along.append(steps * steps if euclidean else steps)
            times.append(np.where((steps == 0) | (2 * steps == N), 1, 2))
        size = along[0][:, None] + along[1]
        self.sizes, place = np.unique(size, return_inverse=True)
        self.place = place.reshape(size.shape)
        counts = np.bincount(self.place.ravel(), weights=np.outer(*times).ravel())
        self.counts = counts.astype(np.int64)

    def lengths(self) -> FloatArray:
        """Return the lengths."""
        sizes = self.sizes.astype(np.float64)
        return np.sqrt(sizes) if self.euclidean else sizes

    def bounds(self, exponent: Fraction) -> list[int]:
        """Return lower bounds on e**(exponent (r' - r)) for neighboring lengths, times 2**160."""
        if self.euclidean:
            roots = [isqrt(size << 2 * SCALE_BITS) for size in self.sizes.tolist()]
            # rounding down lowers the root of the shorter one by less than 1
            steps = [after - before - 1 for before, after in pairwise(roots)]
        else:
            steps = [step << SCALE_BITS for step in np.diff(self.sizes).tolist()]
        top, bottom = exponent.numerator, exponent.denominator
        return [exp_lower_scaled(step * top // bottom, SCALE_BITS) for step in steps]


def _margins(sides: tuple[int, int], exponent: float) -> tuple[int, int]:
    """Return margins that the noise rarely leaves, within the largest size of a torus."""
    wanted = [ceil(MARGIN_NATS / exponent) if n > 2 else 0 for n in sides]
    most_cells = max(MOST_CELLS, 4 * sides[0] * sides[1])

    def cells(most: int) -> int:
        return prod(n + 2 * min(most, w) for n, w in zip(sides, wanted, strict=True))

    low = bisect_right(range(1, max(wanted) + 1), most_cells, key=cells)
    first, second = (min(low, most) for most in wanted)
    return first, second


def _weights(lengths: _Lengths, exponent: Fraction) -> list[int]:
    """Return weights of the lengths that sum to 2**62 and decrease no faster than privacy allows.

    From the weight of the shortest nonzero displacement on, each weight is the least integer that
    is private next to the previous one, down to a floor. Then the same number q is added to all of
    them, and one more from some length on, so that the displacement 0 has its largest private
    weight, up to as many units as displacements have one length, or the floor. Neither step
    increases the ratio of neighboring weights beyond its bound, as weights are at least 1 /
    (e**(eps (r' - r)) - 1).
    """
    bounds, counts = lengths.bounds(exponent), lengths.counts.tolist()
    one, cells = 1 << SCALE_BITS, sum(counts)
    shape = np.exp(-np.minimum(float(exponent) * lengths.lengths(), FLOOR_NATS))
    top = WHOLE / float(shape @ lengths.counts)
    least = max(1 + one // (bound - one) for bound in bounds)
    first = float(shape[1]) * top
    while 1 <= first < WHOLE:
        weights = _falling(int(first), bounds[1:], max(least, int(top * exp(-FLOOR_NATS))))
        times = [*counts[1 : len(weights)], sum(counts[len(weights) :])]
        rest = sum(n * w for n, w in zip(times, weights, strict=True))
        # 2**62 - rest - (cells - 1) q <= bounds[0] (weights[0] + q), for the least q
        over = ((WHOLE - rest) << SCALE_BITS) - bounds[0] * weights[0]
        q = -(-over // (((cells - 1) << SCALE_BITS) + bounds[0]))
        if q >= 1:
            break
        first *= (1 - 2.0**-30) * (1 + min(0.0, over / one / WHOLE))
    else:
        raise _too_small(exponent)
    weights = [w + q - 1 for w in weights]
    center = WHOLE - rest - (cells - 1) * (q - 1)
    excess = center - (bounds[0] * weights[0] >> SCALE_BITS)
    tail, j = 0, len(weights)
    while j and tail < excess:
        j -= 1
        tail += times[j]
    found = [center - tail, *(w + (n >= j) for n, w in enumerate(weights))]
    pairs = zip(found, found[1:], bounds, strict=False)
    if any(max(a, b) << SCALE_BITS > min(a, b) * bound for a, b, bound in pairs):
        raise _too_small(exponent)
    return found


def _falling(first: int, bounds: list[int], least: int) -> list[int]:
    """Return weights that fall as fast as privacy allows, rounded up, down to ``least``."""
    found = [max(first, least)]
    for bound in bounds:
        if found[-1] == least:
            break
        found.append(max(least, -(-(found[-1] << SCALE_BITS) // bound)))
    return found


def _too_small(exponent: Fraction) -> UnsupportedError:
    return UnsupportedError(
        "epsilon",
        "a budget for which neighboring displacements differ by a unit of 2**-62 at least",
        f"{fraction_text(exponent)} for one step of the grid",
    )
