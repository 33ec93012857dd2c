"""Bounds on the ratio of two entries of a column, and their exponents.

Exponents list groups of pairs to check together, without pairs that others imply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from heapq import nsmallest
from itertools import combinations, pairwise
from math import gcd, inf, lcm
from operator import mul
from typing import Literal

from mechdesign.exact import exp_lower, sqrt_lower, sqrt_upper
from mechdesign.kernel.arithmetic import known, lattice, need, over_one_denominator
from mechdesign.kernel.generators.base import Generator, Key, ListedRow, Test
from mechdesign.kernel.schema import Kind

NEAR = 8
"""The number of inputs that may imply bounds on pairs of a matrix: more than a grid's neighbors."""

Group = tuple[list[int], Fraction, tuple[int, ...]]
"""q_x <= e**a q_z for all x of a list and all z of another but x: an x is in it if a >= 0 only."""


@dataclass(frozen=True)
class Constant(Kind):
    """One exponent for every protected x, against every z of its block.

    ``block`` numbers the block of each input (default: one block), ``protected`` lists inputs
    (default: all).
    """

    exponent: Fraction
    block: tuple[int, ...] | None = None
    protected: tuple[int, ...] | None = None

    def at(self, x: int, z: int, *, up: bool) -> Fraction | None:
        if x == z or (self.protected is not None and x not in self.guarded):
            return None
        return self.exponent if self.block is None or self.block[x] == self.block[z] else None

    @cached_property
    def guarded(self) -> frozenset[int]:
        return frozenset(self.protected or ())

    def check(self, k: int) -> None:
        need(self.block is None or len(self.block) == k, "expected a block for each input")
        need(all(x < k for x in self.protected or ()), "a protected input does not exist")

    def moved(self, factor: Fraction, by: Fraction) -> Constant:
        return replace(self, exponent=self.exponent * factor + by)

    def on(self, kept: Sequence[int]) -> Constant:
        block = None if self.block is None else tuple(self.block[x] for x in kept)
        guarded = tuple(n for n, x in enumerate(kept) if x in self.guarded)
        return Constant(self.exponent, block, None if self.protected is None else guarded)

    def size(self, k: int) -> int:
        return 2 * k if self.exponent >= 0 else k * k

    def groups(self, k: int) -> Iterator[Group]:
        """Yield a group for each block; of a negative exponent for each protected input."""
        blocks: dict[int, list[int]] = {}
        for x in range(k):
            blocks.setdefault(0 if self.block is None else self.block[x], []).append(x)
        for block in blocks.values():
            high = [x for x in block if self.protected is None or x in self.guarded]
            if self.exponent >= 0 and high:
                yield high, self.exponent, tuple(block)
            elif len(block) > 1:
                yield from (([x], self.exponent, tuple(z for z in block if z != x)) for x in high)


@dataclass(frozen=True)
class Matrix(Kind):
    """An exponent for every pair; ``inf`` for unbounded pairs; the diagonal is ignored."""

    table: tuple[tuple[Fraction | Literal["inf"], ...], ...]

    def at(self, x: int, z: int, *, up: bool) -> Fraction | None:
        found = self.table[x][z]
        return None if x == z or isinstance(found, str) else found

    def check(self, k: int) -> None:
        square = len(self.table) == k and all(len(row) == k for row in self.table)
        need(square, f"expected a {k} x {k} matrix of exponents")

    def moved(self, factor: Fraction, by: Fraction) -> Matrix:
        moved = cache(lambda v: v * factor + by)  # many are alike
        rows = [tuple(v if isinstance(v, str) else moved(v) for v in row) for row in self.table]
        return Matrix(tuple(rows))

    def on(self, kept: Sequence[int]) -> Matrix:
        return Matrix(tuple(tuple(self.table[x][z] for z in kept) for x in kept))

    def size(self, k: int) -> int:
        return k * k

    def groups(self, k: int) -> Iterator[Group]:
        """Yield the groups of each x, without pairs that a pair of near inputs implies.

        If a_xz and a_zw are positive and add up to at most a_xw, the bounds of (x, z) and (z, w)
        imply that of (x, w). They are smaller, so that by induction all pairs are implied by those
        that are left. Only the nearest inputs z are tried.
        """
        unit = lcm(*{a.denominator for row in self.table for a in row if not isinstance(a, str)})
        rows: list[list[float]] = [
            [inf if isinstance(a, str) else a.numerator * (unit // a.denominator) for a in row]
            for row in self.table
        ]
        for x, row in enumerate(rows):
            row[x] = inf
        least = min((a for row in rows for a in row if a > 0), default=inf)
        for x, row in enumerate(rows):
            room = max((b for b in row if b < inf), default=0) - least
            short = [z for z in range(k) if 0 < row[z] <= room]
            steps = [(row[z], rows[z]) for z in nsmallest(NEAR, short, key=row.__getitem__)]
            members: dict[float, list[int]] = {}
            for w, a in enumerate(row):
                if a < inf and not any(after[w] > 0 and b + after[w] <= a for b, after in steps):
                    members.setdefault(a, []).append(w)
            for a, others in members.items():
                xs = tuple(sorted([*others, x]) if a >= 0 else others)
                yield [x], Fraction(self.table[x][others[0]]), xs


@dataclass(frozen=True)
class Distance(Kind):
    """``per_unit`` times a distance of points, plus ``offset``; roots are rounded on request."""

    per_unit: Fraction
    name: Literal["absolute", "manhattan", "euclidean"]
    points: tuple[tuple[Fraction, ...], ...]
    offset: Fraction = Fraction(0)

    def at(self, x: int, z: int, *, up: bool) -> Fraction | None:
        if x == z:
            return None
        steps = [abs(a - b) for a, b in zip(self.points[x], self.points[z], strict=True)]
        if self.is_rooted:
            square = sum((s * s for s in steps), Fraction(0))
            far = sqrt_upper(square) if up == (self.per_unit >= 0) else sqrt_lower(square)
        else:
            far = sum(steps, Fraction(0))
        return self.per_unit * far + self.offset

    @property
    def is_rooted(self) -> bool:
        """Whether distances are roots of squares; on a line they are not."""
        return self.name == "euclidean" and len(self.points[0]) > 1

    def check(self, k: int) -> None:
        need(len(self.points) == k, "expected a point for each input")
        need(len(set(map(len, self.points))) == 1, "the points differ in dimension")
        need(self.name != "absolute" or len(self.points[0]) == 1, "absolute distance of numbers")

    def moved(self, factor: Fraction, by: Fraction) -> Distance:
        return replace(self, per_unit=self.per_unit * factor, offset=self.offset * factor + by)

    def on(self, kept: Sequence[int]) -> Distance:
        return replace(self, points=tuple(self.points[x] for x in kept))

    def size(self, k: int) -> int:
        return 4 * len(sufficient_pairs(self.points, self.is_rooted, self.offset > 0)[0])

    def groups(self, k: int) -> Iterator[Group]:
        """Yield a group for each z and distance, of the pairs that imply all others."""
        pairs, points, unit = sufficient_pairs(self.points, self.is_rooted, self.offset > 0)
        root, found = self.is_rooted, dict[tuple[int, int], list[int]]()
        for x, z in pairs:
            steps = [abs(a - b) for a, b in zip(points[x], points[z], strict=True)]
            size = sum(map(mul, steps, steps)) if root else sum(steps)
            found.setdefault((size, x), []).append(z)
            found.setdefault((size, z), []).append(x)
        rounded, exponents = sqrt_lower if self.per_unit >= 0 else sqrt_upper, {}
        for size in {size for size, _ in found}:
            far = rounded(Fraction(size, unit * unit)) if root else Fraction(size, unit)
            exponents[size] = self.per_unit * far + self.offset
        return ((xs, exponents[size], (z,)) for (size, z), xs in found.items())


Lattice = Sequence[tuple[int, ...]]


@lru_cache(maxsize=8)
def sufficient_pairs(
    points: tuple[tuple[Fraction, ...], ...], rooted: bool, all_pairs: bool
) -> tuple[Sequence[tuple[int, int]], Lattice, int]:
    """Return the pairs, without duplicates, whose bounds imply those of all pairs.

    If z lies on a shortest path from x to w, the bounds of (x, z) and (z, w) multiply to that of
    (x, w), or less for a negative offset. So neighbors suffice on a line, pairs one step apart on
    the product of two lines with the Manhattan distance, and on a regular grid with the Euclidean
    distance pairs whose steps have no common factor.
    """
    places, unit = lattice(points)
    pairs = list(combinations(range(len(places)), 2)) if all_pairs else _near(places, rooted)
    return pairs, places, unit


def _near(points: Lattice, rooted: bool) -> Sequence[tuple[int, int]]:
    if len(points[0]) == 1:
        return list(pairwise(sorted(range(len(points)), key=points.__getitem__)))
    place = {point: x for x, point in enumerate(points)}
    axes = [sorted(set(axis)) for axis in zip(*points, strict=True)]
    even = all(len({b - a for a, b in pairwise(axis)}) <= 1 for axis in axes)
    whole = len(axes) == 2 and len(points) == len(place) == len(axes[0]) * len(axes[1])
    if not whole or (rooted and not even):
        return list(combinations(range(len(points)), 2))
    n, m = map(len, axes)
    at = [[place[a, b] for b in axes[1]] for a in axes[0]]
    steps = [(0, 1), (1, 0)]
    if rooted:
        ahead = ((down, right) for down in range(n) for right in range(1 - m, m))
        steps = [step for step in ahead if step > (0, 0) and gcd(*step) == 1]
    return [
        (at[row][column], at[row + down][column + right])
        for down, right in steps
        for row in range(n - down)
        for column in range(max(0, -right), min(m, m - right))
    ]


Exponents = Constant | Matrix | Distance
"""Exponents, of one of the three kinds."""


ONE = Fraction(1)


@dataclass(frozen=True)
class Ratio(Generator):
    """Bounds on the ratio of two entries of a column: q_x <= s_xz e**a_xz q_z.

    The exponents a_xz are a constant (for every protected x, against every z of its block), a
    constant times a distance of points, or a matrix in which ``inf`` means unbounded. The scale
    s_xz is 1, or P_z / P_x for a prior P (differential identifiability).

    q_x <= s_xz e**a_xz q_z. Keys are ``("", x, z)``.
    """

    exponents: Constant | Matrix | Distance
    prior: tuple[Fraction, ...] | None = None

    def scale(self, x: int, z: int) -> Fraction:
        return ONE if self.prior is None else self.prior[z] / self.prior[x]

    def row(self, key: Key, k: int, *, up: bool) -> ListedRow:
        side, x, z = key
        need(not side and x < k and z < k, "a ratio has rows of two inputs")
        words = f"no ratio of the inputs {x} and {z} is bounded"
        a = known(self.exponents.at(x, z, up=up), words)
        return ListedRow(((x, ONE),), a, ((z, self.scale(x, z)),))

    def keys(self, k: int) -> Iterable[Key]:
        for x in range(k):
            for z in range(k):
                if self.exponents.at(x, z, up=True) is not None:
                    yield "", x, z

    def test(self, k: int) -> Test:
        """Return the test: for each group all q_x, and the least q_z.

        A scale P_z / P_x is absorbed into P_x q_x.
        """
        sets, groups, lower = dict[tuple[int, ...], int](), [], cache(exp_lower)
        for xs, a, zs in self.exponents.groups(k):
            top, bottom = lower(a).as_integer_ratio()
            groups.append((xs, top, bottom, sets.setdefault(zs, len(sets))))
        listed, masses = list(sets), None
        if self.prior is not None:
            masses, _ = over_one_denominator(self.prior)

        def test(q: Sequence[int]) -> Key | None:
            if masses is not None:
                q = list(map(mul, masses, q))
            least = [min([q[z] for z in zs]) if zs[1:] else q[zs[0]] for zs in listed]
            for xs, top, bottom, place in groups:
                if bottom * max([q[x] for x in xs]) > top * least[place]:
                    for x in xs:
                        for z in listed[place]:
                            if x != z and bottom * q[x] > top * q[z]:
                                return "", x, z
            return None

        return test

    def size(self, k: int) -> int:
        return k + self.exponents.size(k)

    def moved(self, factor: Fraction, by: Fraction) -> Ratio:
        return replace(self, exponents=self.exponents.moved(factor, by))

    def on(self, kept: Sequence[int]) -> Ratio:
        prior = None if self.prior is None else tuple(self.prior[x] for x in kept)
        return Ratio(self.exponents.on(kept), prior)

    def check(self, k: int) -> None:
        self.exponents.check(k)
        if self.prior is not None:
            need(len(self.prior) == k and min(self.prior) > 0, "expected a prior without zeros")
