"""Rays of ratios inside blocks: those of all subsets, or one of each orbit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise, product
from math import prod

from mechdesign.kernel.arithmetic import known, need, over_one_denominator
from mechdesign.kernel.oracles.common import (
    GAINS,
    ONE,
    Ask,
    Found,
    Ray,
    Source,
    distinct,
    lift_ends,
    limited,
    parts_of,
    scales,
    spread,
    units,
)
from mechdesign.kernel.statement import Statement

Blocks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Subsets(Source):
    """Ratios inside blocks: the rays that are M_x on a subset of a block, and 1 on the rest.

    The entries of a column in a block, over their least one, are between 1 and M_x
    (`OneBudget`): a point of a box, and so a mixture of its corners. Without M_x, an entry is
    at least the least one: 1, plus a multiple of that input alone, which is a ray. So is each
    input outside of the blocks. The cone of these rays contains every private column, as M is
    rounded up. Ratios that are scaled by a prior P are plain ratios of the entries P_x q_x.

    `Classes` lists one corner for each number of raised inputs in each of its groups; without
    groups these are all corners.

    Blocks of inputs; None is a single block.
    """

    blocks: Blocks | None = None

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        return Found(corners(statement, self.blocks))

    def count(self, statement: Statement) -> int:
        return corner_count(statement, self.blocks)


def corners(statement: Statement, blocks: Blocks | None, groups: Blocks = ()) -> list[Ray]:
    """Return the corners of all blocks; for a group in a block one per number of raised inputs."""
    k, divided, scale = statement.k, parts_of(blocks, statement.k), scales(statement)
    limited(corner_count(statement, blocks, groups) - k)
    rays, bounds = units(statement, divided, scale)
    factors, _ = over_one_denominator(scale)
    for block, limits in zip(divided, bounds, strict=True):
        tops, parts = dict(zip(block, limits, strict=True)), _parts(block, groups)
        alike = all(len({(tops[x], factors[x]) for x in part}) == 1 for part in parts)
        need(alike, "the inputs of a group have two bounds")
        free = [part for part in parts if tops[part[0]] is not None]
        for raised in product(*[range(len(part) + 1) for part in free]):
            up = {x for part, n in zip(free, raised, strict=True) for x in part[:n]}
            entries = [(x in up and tops[x]) or ONE for x in block]
            rays.append(spread(block, entries, factors))
    return rays


def corner_count(statement: Statement, blocks: Blocks | None, groups: Blocks = ()) -> int:
    """Return the approximate number of rays of :func:`corners`."""
    total, known = statement.k, [part.exponents.at for part in statement.ratios]

    def is_bounded(x: int, block: Sequence[int]) -> bool:
        return all(x == z or any(at(x, z, up=True) is not None for at in known) for z in block)

    for block in parts_of(blocks, statement.k):
        parts = _parts(block, groups)
        sizes = [len(part) + 1 for part in parts if is_bounded(part[0], block)]
        total += min(prod(sizes), 1 << 60)
    return total


def _parts(block: tuple[int, ...], groups: Blocks) -> Blocks:
    """Return the groups inside a block, and each of its other inputs alone."""
    inside = tuple(group for group in groups if group and set(group) <= set(block))
    grouped = {x for group in inside for x in group}
    return (*inside, *((x,) for x in block if x not in grouped))


@dataclass(frozen=True)
class Classes(Source):
    """One ray for each number of raised inputs in each group of equivalent inputs.

    The rays of `Subsets`, or the vertices between two lifts at a uniform prior, are a set that
    is invariant under swaps of inputs of a group inside a block. If the gain and the prices are
    also invariant under swaps of neighbors in the list of a group, then they are under all its
    permutations, and (g(r) + u . r) / n . r is the same for all rays of one orbit: one is
    enough.

    The vertices of {low <= r_x <= high, Sum_x r_x = k} have all entries at an end but one:
    ``full`` at the upper end, one in between, and the others at the lower end. (r_x <= k
    anyway.)

    Groups of inputs; ``lifts`` is for lifts at the uniform prior and one group, else blocks.
    """

    groups: tuple[tuple[int, ...], ...]
    blocks: tuple[tuple[int, ...], ...] | None = None
    lifts: bool = False

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        k, ask = statement.k, known(ask, GAINS)
        distinct(self.groups, k)
        for x, z in chain.from_iterable(map(pairwise, self.groups)):
            need(ask.alike(x, z), "the gain or the prices distinguish inputs of a group")
        if self.lifts:
            one = len(self.groups) == 1 and len(self.groups[0]) == k
            need(one, "expected one group of all inputs")
            return Found([_vertex(statement)])
        return Found(corners(statement, self.blocks, self.groups))

    def count(self, statement: Statement) -> int:
        return 1 if self.lifts else corner_count(statement, self.blocks, self.groups)


def _vertex(statement: Statement) -> Ray:
    k = statement.k
    low, high = lift_ends(statement, (Fraction(1, k),) * k)
    high = k * ONE if high is None else min(high, k * ONE)
    need(low <= ONE <= high, "the bounds on the lift contradict each other")
    full = min(k - 1, k * (ONE - low) // (high - low)) if high > low else 0
    between = k * ONE - full * high - (k - 1 - full) * low
    return [high] * full + [between] + [low] * (k - 1 - full)
