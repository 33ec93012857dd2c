"""Noise on a torus: metric privacy of geometric and planar Laplace noise from its weights.

A grid of n_1 x n_2 points with step h (a line has one row) lies on the torus of N_i = n_i + 2 m_i
points along each side. The length |a| of a displacement a is that of its representative with the
shortest coordinates, at most N_i / 2 in size: the sum of these for walking distances, the root of
the sum of their squares for Euclidean ones. The file gives a weight G(r) to every length r that
occurs, in rising order; lengths beyond its list have its last weight. Input x draws the point z
with probability G(|z - x|) / 2**62, and reports the point of the grid nearest to z, or what a table
replaces that by.

*Rows sum to 1.* z - x runs once over all displacements, so it is enough that all weights, each as
often as its length occurs, sum to 2**62. That is checked.

*Privacy.* For neighboring lengths r < r' it is checked that max(G(r)/G(r'), G(r')/G(r)) is at most
a lower bound on e**(epsilon h (r' - r)). Multiplied up from length to length, these give
G(s) <= e**(epsilon h |s - t|) G(t) for all lengths s, t that occur. Shortest coordinates obey the
triangle inequality along each side, and both lengths are norms that rise with each coordinate; so
| |z - x| - |z - x'| | <= |x - x'|, which is at most the distance of x and x' on the grid, over h.
Hence G(|z - x|) <= e**(epsilon d(x, x')) G(|z - x'|) for every z. What is reported depends on z
only, and sums of such columns keep the inequality.

*The leakage is attained*, but for the remap: where a margin is above 0 its side has three points or
more, so that some point z of the grid is reported for itself alone, and has a neighbor x' one step
off. There Q(z|z) / Q(z|x') = G(0) / G(1): the least epsilon is at least ln(G(0) / G(1)) / h.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise, zip_longest
from math import isqrt
from operator import add
from typing import Any

from mechdesign.certify.fixed_point import BITS, product_steps
from mechdesign.certify.problem import Statement, whole_number
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower_scaled, exp_upper
from mechdesign.resources import spend

__all__ = ["WHOLE", "TorusNoise", "read_torus_noise"]

WHOLE = 1 << 62
"""The probability 1, in the units of the weights."""

MOST_DECIMALS = 20
"""The longest integers that are read, in digits of text: 2**62 has 19."""

SHARE = Fraction(999_999, 1_000_000)
"""The share of its stated leakage that noise has at least. The weight of the displacement 0 is what
all others leave, so that it may be a few units less than privacy allows."""

LINE_DISTANCES = ["absolute", "manhattan", "euclidean"]
"""The distances of numbers: all the same."""

LARGEST_STEP = 44
"""Exponents are bounded as if they were at most this: no two weights differ by a factor e**44."""


@dataclass(frozen=True)
class TorusNoise:
    """The weights of neighboring lengths, with lower bounds on how far apart the lengths are.

    Attributes
    ----------
    sides, margins
        Of the grid, and of the torus beyond it.
    remap
        What each point is replaced by before it is reported.
    sizes
        The lengths along one side by the number of steps: squares, or these numbers themselves.
    weight_of
        The weight of each sum of two of these.
    weights
        One for each length, in rising order, as far as they are listed.
    gaps
        The distance of each length to the next on the grid, over 2**160, rounded down.
    step
        The distance h of neighbors.
    """

    sides: tuple[int, int]
    margins: tuple[int, int]
    remap: Sequence[int]
    sizes: Callable[[int], int]
    weight_of: dict[int, int]
    weights: list[int]
    gaps: list[int]
    step: Fraction

    def within(self, epsilon: Fraction) -> bool:
        """Return whether the noise is proved private for this epsilon."""
        exponent = epsilon * self.step
        top, bottom = exponent.numerator, exponent.denominator
        most, steps = LARGEST_STEP << BITS, 60 + product_steps(top, bottom)
        for (a, b), gap in zip(pairwise(self.weights), self.gaps, strict=True):
            size = min(gap * top // bottom, most)
            spend(steps + 6 * (size >> BITS), "the weights of noise")
            bound = exp_lower_scaled(size, BITS)
            if max(a, b) << BITS > min(a, b) * bound:
                return False
        return True

    def reaches(self, leakage: Fraction) -> bool:
        """Return whether the noise leaks as much as this, but for a share of 1e-6 at most."""
        less = SHARE * leakage * self.step
        return leakage == 0 or (
            less <= LARGEST_STEP and Fraction(self.weights[0], self.weights[1]) > exp_upper(less)
        )

    def sums(self) -> list[list[int]]:
        """Return the weights of all displacements x - z, summed over rectangles from a corner.

        Entry ``[i][j]`` is the sum of those with fewer than ``i`` and ``j`` steps, counted from the
        least that there are between a point x of the grid and a point z of the torus.
        """
        (n, m), (margin, other) = self.sides, self.margins
        height, width = n + 2 * margin, m + 2 * other
        spend(6 * (height + n) * (width + m), "the sums of weights")
        right = [self.sizes(_folded(d, width)) for d in range(1 - m - other, m + other)]
        by_row: dict[int, list[int]] = {}
        found = [[0] * (width + m)]
        for d in range(1 - n - margin, n + margin):
            down = self.sizes(_folded(d, height))
            if down not in by_row:
                row = (self.weight_of[down + size] for size in right)
                by_row[down] = list(accumulate(row, initial=0))
            found.append(list(map(add, found[-1], by_row[down])))
        return found


def _folded(steps: int, around: int) -> int:
    """Return the fewest steps that lead as far around a side of the torus."""
    return min(steps % around, -steps % around)


def read_torus_noise(
    kind: str, statement: Statement, table: dict[str, Any], law: dict[str, Any]
) -> TorusNoise:
    """Return the noise of a law, once it is known that its rows sum to 1.

    Raises
    ------
    CertificateError
        If the inputs are no line or grid of equal steps, the distance is not that of the kind, or
        the weights do not sum to 2**62.
    """
    euclidean = kind == "planar-laplace"
    sides, step, is_line = _lattice(statement)
    names = LINE_DISTANCES if is_line else ["euclidean" if euclidean else "manhattan"]
    if table["distance"] not in names:
        raise CertificateError(f"{kind}: not for the distance {table['distance']!r:.60}")
    margins = [whole_number(text, MOST_DECIMALS) for text in law["margins"]]
    if len(margins) != 2 or any(m and n < 3 for n, m in zip(sides, margins, strict=True)):
        raise CertificateError(f"{kind}: a margin along a side of fewer than three points")
    counts = _lengths([n + 2 * m for n, m in zip(sides, margins, strict=True)], euclidean)
    sizes = sorted(counts)
    weights = [whole_number(text, MOST_DECIMALS) for text in law["weights"]]
    if not 2 <= len(weights) <= len(sizes) or min(weights) < 1:
        raise CertificateError(f"{kind}: not a weight above 0 for each length, or up to one")
    spend(10 * len(sizes), "the weights of noise")
    listed = sum(counts[size] * weight for size, weight in zip(sizes, weights, strict=False))
    beyond = sum(counts[size] for size in sizes[len(weights) :])
    if listed + beyond * weights[-1] != WHOLE:
        raise CertificateError(f"{kind}: the rows do not sum to 1")
    k = len(statement.labels)
    remap: Sequence[int] = range(k)
    if "remap" in law:
        remap = [whole_number(text, MOST_DECIMALS) for text in law["remap"]]
        if len(remap) != k or max(remap) >= k:
            raise CertificateError(f"{kind}: the remap has not one input for each")
    weight_of = dict(zip_longest(sizes, weights, fillvalue=weights[-1]))
    gaps = _gaps(sizes[: len(weights)], euclidean)
    first, second = margins
    along = _square if euclidean else _same
    return TorusNoise(sides, (first, second), remap, along, weight_of, weights, gaps, step)


def _square(steps: int) -> int:
    return steps * steps


def _same(steps: int) -> int:
    return steps


def _lattice(statement: Statement) -> tuple[tuple[int, int], Fraction, bool]:
    """Return the points along both sides, the distance of neighbors, and whether it is a line."""
    points, labels = statement.points, statement.labels
    if statement.spacing is None:
        raise CertificateError("noise needs a grid, or equally spaced numbers in rising order")
    if points is not None and len(points[0]) == 2:
        return (1 + labels[-1][0], 1 + labels[-1][1]), statement.spacing, False
    if points is not None and len(points) > 1:
        numbers = [point[0] for point in points]
        spend(20 * len(numbers), "the steps of a line")
        step = numbers[1] - numbers[0]
        if step > 0 and all(b - a == step for a, b in pairwise(numbers)):
            return (1, len(numbers)), step, True
    raise CertificateError("noise needs a grid, or equally spaced numbers in rising order")


def _lengths(torus: list[int], euclidean: bool) -> Counter[int]:
    """Return how often each length occurs on a torus: sums of steps, or of their squares."""
    spend(4 * (torus[0] // 2 + 1) * (torus[1] // 2 + 1), "the lengths on a torus")
    rows, columns = (
        [
            (_square(a) if euclidean else a, 1 if a == 0 or 2 * a == N else 2)
            for a in range(N // 2 + 1)
        ]
        for N in torus
    )
    found: Counter[int] = Counter()
    for size, times in rows:
        for other, again in columns:
            found[size + other] += times * again
    return found


def _gaps(sizes: list[int], euclidean: bool) -> list[int]:
    """Return by how much each length exceeds the one before at least, over 2**160."""
    if not euclidean:
        return [(b - a) << BITS for a, b in pairwise(sizes)]
    spend(10 * len(sizes), "the lengths on a torus")
    roots = [isqrt(size << 2 * BITS) for size in sizes]
    # the root of the shorter one is rounded down by less than 1
    return [b - a - 1 for a, b in pairwise(roots)]
