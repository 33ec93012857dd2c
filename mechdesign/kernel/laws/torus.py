"""Noise on a torus: metric privacy of geometric and planar Laplace noise from its weights.

A grid of n_1 x n_2 points with step h (a line has one row) lies on the torus of N_i = n_i + 2 m_i
points along each side. The length |a| of a displacement a is that of its representative with the
shortest coordinates, at most N_i / 2 in size: their sum for Manhattan distances, the root of the
sum of their squares for Euclidean ones. The file gives a weight G(r) to every length r that occurs,
in increasing order; lengths beyond its list have its last weight. Input x draws the point z with
probability G(|z - x|) / 2**62, and reports the point of the grid nearest to z, or its replacement
in a table.

*Rows sum to 1.* z - x runs once over all displacements, so it suffices that all weights, each times
the multiplicity of its length, sum to 2**62. This is checked.

*Privacy.* For neighboring lengths r < r' it is checked that max(G(r)/G(r'), G(r')/G(r)) is at most
a lower bound on e**(epsilon h (r' - r)). Multiplied from length to length, these give G(s) <=
e**(epsilon h |s - t|) G(t) for all lengths s, t that occur. Shortest coordinates satisfy the
triangle inequality along each side, and both lengths are norms that increase with each coordinate;
so | |z - x| - |z - x'| | <= |x - x'|, which is at most the distance of x and x' on the grid, over
h. Hence G(|z - x|) <= e**(epsilon d(x, x')) G(|z - x'|) for every z. The report depends on z only,
and sums of such columns keep the inequality.

*The leakage is attained*, except for the remap: if a margin is above 0 its side has three points or
more, so some point z of the grid is reported for itself alone, and has a neighbor x' one step away.
There Q(z|z) / Q(z|x') = G(0) / G(1): the least epsilon is at least ln(G(0) / G(1)) / h.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, pairwise, product, repeat, zip_longest
from math import isqrt
from operator import add, mul
from typing import ClassVar

from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower_scaled, exp_upper
from mechdesign.kernel.arithmetic import BITS, grid_axes, known, need
from mechdesign.kernel.claims import Leak
from mechdesign.kernel.generators import Cone, Distance, Ratio
from mechdesign.kernel.laws.ratios import WHOLE, Law
from mechdesign.kernel.schema import Whole

SHARE = Fraction(999_999, 1_000_000)
"""The least share of its stated leakage that noise has. The weight of the displacement 0 is the
remainder of all others, so it may be a few units less than privacy allows."""

LARGEST_STEP = 44
"""Exponents are bounded as if they were at most this: no two weights differ by a factor e**44."""


@dataclass(frozen=True)
class Torus(Leak):
    """The weights of all lengths on a torus.

    ``law``: the integers of the file.
    ``sides``: the sides of the grid.
    ``step``: the distance h between neighbors.
    ``counts``: the multiplicity of each length, by its square if it is a root, in increasing order.
    ``remap``: the replacement of each point before it is reported.
    """

    law: TorusNoise
    sides: tuple[int, int]
    step: Fraction
    counts: dict[int, int]
    remap: Sequence[int]

    @cached_property
    def gaps(self) -> list[int]:
        """Lower bounds on the differences of successive lengths, over 2**BITS."""
        lengths = list(self.counts)[: len(self.law.weights)]
        if self.law.power == 1:
            return [(b - a) << BITS for a, b in pairwise(lengths)]
        # rounding lowers the root of the shorter one by less than 1
        return [b - a - 1 for a, b in pairwise(isqrt(size << 2 * BITS) for size in lengths)]

    def breaks(self, leakage: Fraction) -> str | None:
        top, bottom = (leakage * self.step).as_integer_ratio()
        for (w, v), gap in zip(pairwise(self.law.weights), self.gaps, strict=True):
            bound = exp_lower_scaled(min(gap * top // bottom, LARGEST_STEP << BITS), BITS)
            if max(w, v) << BITS > min(w, v) * bound:
                return "a ratio is too large"
        return None

    def reaches(self, leakage: Fraction) -> bool:
        """Return whether the leakage is at least this, up to a relative error of 1e-6.

        An output with the lengths 0 and h from two inputs shows it; by the sum of steps along both
        sides, there is one for any two successive lengths.
        """
        less, weights = SHARE * leakage * self.step, self.law.weights
        if not leakage or less > LARGEST_STEP:
            return not leakage
        bound = exp_upper(less)
        steps = pairwise(weights if self.law.power == 1 else weights[:2])
        return any(w > bound * v for w, v in steps)

    def sums(self) -> list[list[int]]:
        """Return the weights of all displacements x - z, summed over rectangles from a corner.

        Entry ``[i][j]`` is the sum of those with fewer than ``i`` and ``j`` steps, counted from the
        least displacement between a point x of the grid and a point z of the torus.
        """
        weights = self.law.weights
        weight_of = dict(zip_longest(self.counts, weights, fillvalue=weights[-1]))
        down, across = (
            [min(d % N, -d % N) ** self.law.power for d in range(1 - n - m, n + m)]
            for n, m in zip(self.sides, self.law.margins, strict=True)
            for N in [n + 2 * m]
        )
        by_row: dict[int, list[int]] = {}
        found = [[0, *(0 for _ in across)]]
        for size in down:
            if size not in by_row:
                row = (weight_of[size + other] for other in across)
                by_row[size] = list(accumulate(row, initial=0))
            found.append(list(map(add, found[-1], by_row[size])))
        return found


@dataclass(frozen=True)
class TorusNoise(Law):
    """Margins along both sides, weights by length, and the replacement of each point."""

    power: ClassVar[int]
    margins: tuple[Whole, ...]
    weights: tuple[Whole, ...]
    remap: tuple[Whole, ...] | None = None

    def leak(self, part: Cone, k: int) -> Torus:
        """Return the noise, after a check that its rows sum to 1."""
        sides, step, _ = self._grid(part)
        small = any(m and n < 3 for n, m in zip(sides, self.margins, strict=True))
        need(not small, f"{self.kind}: a side with a margin needs at least three points")
        counts, weights = self._counts(sides), self.weights
        listed = 2 <= len(weights) <= len(counts) and min(weights) > 0
        need(listed, f"{self.kind}: the weights do not match the lengths")
        total = sum(map(mul, counts.values(), chain(weights, repeat(weights[-1]))))
        need(total == WHOLE, f"{self.kind}: the rows do not sum to 1")
        remap = range(k) if self.remap is None else self.remap
        need(
            len(remap) == k > max(remap),
            f"{self.kind}: the remap must have one input for each point",
        )
        return Torus(self, sides, step, counts, remap)

    def steps(self, part: Cone, k: int) -> int:
        """Return the work on the lengths, and twice on roots and exponentials of weighted ones."""
        sides, step, a = self._grid(part)
        height, width = (n + 2 * m for n, m in zip(sides, self.margins, strict=True))
        terms = min(LARGEST_STEP * len(self.weights), int(abs(a) * step * (height + width)))
        lengths = 7 * (height // 2 + 1) * (width // 2 + 1) + 2 * (height + width)
        return lengths + 180 * len(self.weights) + 12 * terms

    def _grid(self, part: Cone) -> tuple[tuple[int, int], Fraction, Fraction]:
        """Return the points along both sides (a line is a row), the step, and the exponent."""
        exponents = part.exponents if isinstance(part, Ratio) and not part.prior else None
        if not isinstance(exponents, Distance) or exponents.offset:
            raise CertificateError(f"{self.kind}: unsupported distance of this notion")
        points, d = exponents.points, len(exponents.points[0])
        suits = d == 1 or exponents.is_rooted == (self.power == 2)
        need(suits, f"{self.kind}: unsupported distance {exponents.name!r}")
        need(len(self.margins) == 2, f"{self.kind}: expected a margin for each side")
        step = sum(points[min(1, len(points) - 1)], -sum(points[0], Fraction(0)))
        words = "noise needs a grid, or equally spaced numbers in rising order"
        down, across = known(grid_axes(points), words)
        even = all(b - a == step for axis in (down, across) for a, b in pairwise(axis))
        need(even and step > 0, words)
        return (len(down), len(across)), step, exponents.per_unit

    def _counts(self, sides: tuple[int, int]) -> dict[int, int]:
        """Return the multiplicity of each length: Manhattan, or squared Euclidean, increasing."""
        around = (n + 2 * m for n, m in zip(sides, self.margins, strict=True))
        down, across = (Counter(min(d, N - d) ** self.power for d in range(N)) for N in around)
        found: Counter[int] = Counter()
        for (a, times), (b, again) in product(down.items(), across.items()):
            found[a + b] += times * again
        return dict(sorted(found.items()))


@dataclass(frozen=True)
class GeometricNoise(TorusNoise):
    """For Manhattan distances, and for those of numbers."""

    power: ClassVar[int] = 1


@dataclass(frozen=True)
class PlanarLaplace(TorusNoise):
    """For Euclidean distances."""

    power: ClassVar[int] = 2
