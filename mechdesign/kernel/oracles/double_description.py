"""All extreme rays of the cone, by double description (Fukuda and Prodon 1996, Proposition 7).

Start with the orthant. Each row g . q <= 0 keeps the rays within, and joins each ray across it to
each adjacent one strictly within, at g . q = 0. Two rays are adjacent if no third one is tight in
all their common tight rows, of which there are at least k - 2. Rows are weakened by rounding: the
cone grows. A superfluous ray does no harm, as it lies in the cone of the rows so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, gcd

from mechdesign.kernel.arithmetic import over_one_denominator
from mechdesign.kernel.generators import Latent
from mechdesign.kernel.oracles.common import Ask, Found, Source, limited
from mechdesign.kernel.statement import Statement
from mechdesign.resources import current

PAIRS = 400
"""Pairs of rays that all rows together may join, for each ray that the reader allows."""


@dataclass(frozen=True)
class DoubleDescription(Source):
    """All rows of the cone."""

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        k = statement.k
        full = (1 << k) - 1
        rays = {tuple([int(x == z) for z in range(k)]): full & ~(1 << x) for x in range(k)}
        pairs = 0
        for size, row in enumerate(statement.rows(), k):
            whole = _whole(row)
            sides = {r: sum([a * r[x] for x, a in whole]) for r in rays}
            beyond = sum(side > 0 for side in sides.values())
            pairs += beyond * sum(side < 0 for side in sides.values())
            limited(pairs // PAIRS)
            if beyond:
                rays = _cut(rays, sides, size, k)
                limited(len(rays))
        return Found(list(rays))

    def count(self, statement: Statement) -> int:
        """Return the number of rays for ratios; others are counted while they are listed.

        At a ray k - 1 independent rows and bounds q_x >= 0 are tight. Rows on s numbers w = B q of
        a latent variable, B >= 0, are not all independent at w: j < s of m such rows leave at most
        j + 1 positive entries, which they determine. If w = 0, the ray has one positive entry.
        """
        k, most = statement.k, min(1 << min(statement.k, 60), current().rays)
        if len(statement.cone) != 1 or not isinstance(part := statement.cone[0], Latent):
            return most
        m, s = sum(1 for _ in part.keys(k)), len(part.matrix)
        return min(most, sum(comb(m, j) * comb(k, j + 1) for j in range(s)))


Rays = dict[tuple[int, ...], int]
"""Rays, with their tight rows as bits."""


def _cut(rays: Rays, sides: dict[tuple[int, ...], int], size: int, k: int) -> Rays:
    """Return the rays of the cone cut by another row, with index ``size``; ``sides`` of it."""
    within = [(r, t, -sides[r]) for r, t in rays.items() if sides[r] < 0]
    beyond = [(r, t, sides[r]) for r, t in rays.items() if sides[r] > 0]
    kept = {r: t | (not sides[r]) << size for r, t in rays.items() if sides[r] <= 0}
    tight, everywhere = _tight_in(rays.values(), size), (1 << len(rays)) - 1
    for bad, mine, over in beyond:
        for good, theirs, under in within:
            both = mine & theirs
            if both.bit_count() >= k - 2 and not _third(tight, both, everywhere):
                new = [over * a + under * b for a, b in zip(good, bad, strict=True)]
                shared = gcd(*new)
                kept[tuple([v // shared for v in new])] = both | 1 << size
    return kept


def _tight_in(sets: Iterable[int], size: int) -> list[int]:
    """Return for each row the rays that are tight in it, as bits."""
    found = [0] * size
    for place, tight in enumerate(sets):
        rest = tight
        while rest:
            found[(rest & -rest).bit_length() - 1] |= 1 << place
            rest &= rest - 1
    return found


def _third(tight_in: list[int], both: int, common: int) -> bool:
    while both:
        common &= tight_in[(both & -both).bit_length() - 1]
        both &= both - 1
    return common.bit_count() > 2


def _whole(row: Sequence[Fraction]) -> list[tuple[int, int]]:
    """Return the nonzero entries, as integers without a common factor."""
    whole, _ = over_one_denominator(row)
    shared = gcd(*whole) or 1
    return [(x, v // shared) for x, v in enumerate(whole) if v]
