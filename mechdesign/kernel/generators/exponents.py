"""Exponents a_xz of bounds on ratios: a constant on blocks, a matrix, a multiple of a distance.

Each lists groups of pairs to check together, without pairs that others imply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from math import gcd
from operator import mul
from typing import Literal

from mechdesign.exact import sqrt_lower, sqrt_upper
from mechdesign.kernel.arithmetic import lattice, need
from mechdesign.kernel.schema import Kind

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
        """Return the exponent of a pair, None if it is unbounded."""
        if x == z or (self.protected is not None and x not in self.guarded):
            return None
        return self.exponent if self.block is None or self.block[x] == self.block[z] else None

    @cached_property
    def guarded(self) -> frozenset[int]:
        """The protected inputs, if they are listed."""
        return frozenset(self.protected or ())

    def check(self, k: int) -> None:
        """Raise unless it fits k inputs."""
        need(self.block is None or len(self.block) == k, "expected a block for each input")
        need(all(x < k for x in self.protected or ()), "a protected input does not exist")

    def moved(self, factor: Fraction, by: Fraction) -> Constant:
        """Return factor times the exponents, plus a number."""
        return replace(self, exponent=self.exponent * factor + by)

    def on(self, kept: Sequence[int]) -> Constant:
        """Return the exponents of the kept inputs."""
        block = None if self.block is None else tuple(self.block[x] for x in kept)
        guarded = tuple(n for n, x in enumerate(kept) if x in self.guarded)
        return Constant(self.exponent, block, None if self.protected is None else guarded)

    def size(self, k: int) -> int:
        """Return the number of inputs in the groups."""
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
        """Return the exponent of a pair, None if it is unbounded."""
        found = self.table[x][z]
        return None if x == z or isinstance(found, str) else found

    def check(self, k: int) -> None:
        """Raise unless it fits k inputs."""
        square = len(self.table) == k and all(len(row) == k for row in self.table)
        need(square, f"expected a {k} x {k} matrix of exponents")

    def moved(self, factor: Fraction, by: Fraction) -> Matrix:
        """Return factor times the exponents, plus a number."""
        rows = [tuple(v if isinstance(v, str) else v * factor + by for v in r) for r in self.table]
        return Matrix(tuple(rows))

    def on(self, kept: Sequence[int]) -> Matrix:
        """Return the exponents of the kept inputs."""
        return Matrix(tuple(tuple(self.table[x][z] for z in kept) for x in kept))

    def size(self, k: int) -> int:
        """Return the largest number of inputs in the groups."""
        return k * k

    def groups(self, k: int) -> Iterator[Group]:
        """Yield a group for each x and exponent."""
        for x, row in enumerate(self.table):
            members: dict[Fraction, list[int]] = {}
            for z, a in enumerate(row):
                if z != x and not isinstance(a, str):
                    members.setdefault(a, []).append(z)
            for a, others in members.items():
                yield [x], a, tuple(sorted([*others, x]) if a >= 0 else others)


@dataclass(frozen=True)
class Distance(Kind):
    """``per_unit`` times a distance of points, plus ``offset``; roots are rounded on request."""

    per_unit: Fraction
    name: Literal["absolute", "manhattan", "euclidean"]
    points: tuple[tuple[Fraction, ...], ...]
    offset: Fraction = Fraction(0)

    def at(self, x: int, z: int, *, up: bool) -> Fraction | None:
        """Return the exponent of a pair, rounded."""
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
        """Raise unless there are k points of one dimension."""
        need(len(self.points) == k, "expected a point for each input")
        need(len(set(map(len, self.points))) == 1, "the points differ in dimension")
        need(self.name != "absolute" or len(self.points[0]) == 1, "absolute distance of numbers")

    def moved(self, factor: Fraction, by: Fraction) -> Distance:
        """Return factor times the exponents, plus a number."""
        return replace(self, per_unit=self.per_unit * factor, offset=self.offset * factor + by)

    def on(self, kept: Sequence[int]) -> Distance:
        """Return the exponents of the kept inputs."""
        return replace(self, points=tuple(self.points[x] for x in kept))

    def size(self, k: int) -> int:
        """Return the largest number of inputs in the groups."""
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
