"""One ray for each way to raise so many inputs of each group, where inputs of a group are alike.

The rays of `subsets`, or the vertices between two lifts at a uniform prior, are a set that swapping
inputs of a group inside a block leaves as it is. If the gain, the prices and the direction do not
change either when neighbors in the list of a group are swapped, then they do not under any
permutation of it, and (g(r) + u . r) / n . r is the same for all rays of one orbit: one is enough.

The vertices of {low <= r_x <= high, Sum_x r_x = k} have all entries at an end but one: ``full`` at
the upper end, one in between, and the others at the lower end. (r_x <= k anyway.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise, product
from math import prod
from typing import ClassVar

from mechdesign.kernel.arithmetic import known, need
from mechdesign.kernel.oracles.common import distinct, lift_ends, parts_of
from mechdesign.kernel.oracles.sources.base import (
    GAINS,
    ONE,
    Ask,
    Found,
    Ray,
    Source,
    bounded,
    limited,
    spread,
    units,
)
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Classes(Source):
    """Groups of inputs; ``lifts`` is for lifts at the uniform prior and one group, else blocks."""

    kind: ClassVar[str] = "classes"
    groups: tuple[tuple[int, ...], ...]
    blocks: tuple[tuple[int, ...], ...] | None = None
    lifts: bool = False

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        """Return a ray of each orbit."""
        k, ask = statement.k, known(ask, GAINS)
        distinct(self.groups, k)
        for x, z in chain.from_iterable(map(pairwise, self.groups)):
            need(
                alike(ask, x, z),
                "the gain, the prices or the direction distinguish inputs of a group",
            )
        if self.lifts:
            one = len(self.groups) == 1 and len(self.groups[0]) == k
            need(one, "expected one group of all inputs")
            return Found([_vertex(statement)])
        blocks = parts_of(self.blocks, k)
        alone, bounds = units(statement, blocks)
        rays = [
            ray
            for block, found in zip(blocks, bounds, strict=True)
            for ray in self._of_block(k, block, dict(zip(block, found, strict=True)))
        ]
        return Found([*alone, *rays])

    def _of_block(
        self, k: int, block: tuple[int, ...], bounds: dict[int, int | None]
    ) -> Iterable[Ray]:
        inside = [group for group in self.groups if bounds.keys() >= set(group)]
        grouped = {x for group in inside for x in group}
        for group in inside:
            need(len({bounds[x] for x in group}) == 1, "the inputs of a group have two bounds")
        parts = [*inside, *((x,) for x in block if x not in grouped)]
        parts = [part for part in parts if bounds[part[0]] is not None]
        limited(prod(len(part) + 1 for part in parts))
        for raised in product(*[range(len(part) + 1) for part in parts]):
            up = {x for part, n in zip(parts, raised, strict=True) for x in part[:n]}
            yield spread(k, block, [bounds[x] or ONE if x in up else ONE for x in block])

    def count(self, statement: Statement) -> int:
        """Return the product of the sizes of groups, and two for each other bounded input."""
        if self.lifts:
            return 1
        rays, grouped = 1, {x for group in self.groups for x in group}
        blocks = parts_of(self.blocks, statement.k)
        others = [x for block in blocks for x in bounded(statement, block) if x not in grouped]
        for size in [*map(len, self.groups), *(1 for _ in others)]:
            rays = min(rays * (size + 1), 1 << 60)
        return rays + statement.k


def alike(ask: Ask, x: int, z: int) -> bool:
    """Return whether the gain, the prices and the direction stay when two inputs are swapped."""
    same = ask.prices[x] == ask.prices[z] and ask.direction[x] == ask.direction[z]
    return same and ask.gain.alike(x, z)


def _vertex(statement: Statement) -> Ray:
    k = statement.k
    low, high = lift_ends(statement, (Fraction(1, k),) * k)
    high = k * ONE if high is None else min(high, k * ONE)
    need(low <= ONE <= high, "the bounds on the lift contradict each other")
    full = min(k - 1, k * (ONE - low) // (high - low)) if high > low else 0
    between = k * ONE - full * high - (k - 1 - full) * low
    return [high] * full + [between] + [low] * (k - 1 - full)
