"""One ray for each number of raised inputs in each group of equivalent inputs.

The rays of `subsets`, or the vertices between two lifts at a uniform prior, are a set that is
invariant under swaps of inputs of a group inside a block. If the gain and the prices are
also invariant under swaps of neighbors in the list of a group, then they are under all its
permutations, and (g(r) + u . r) / n . r is the same for all rays of one orbit: one is enough.

The vertices of {low <= r_x <= high, Sum_x r_x = k} have all entries at an end but one: ``full`` at
the upper end, one in between, and the others at the lower end. (r_x <= k anyway.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise

from mechdesign.kernel.arithmetic import known, need
from mechdesign.kernel.oracles.common import distinct, lift_ends
from mechdesign.kernel.oracles.sources.base import GAINS, ONE, Ask, Found, Ray, Source
from mechdesign.kernel.oracles.sources.subsets import corner_count, corners
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Classes(Source):
    """Groups of inputs; ``lifts`` is for lifts at the uniform prior and one group, else blocks."""

    groups: tuple[tuple[int, ...], ...]
    blocks: tuple[tuple[int, ...], ...] | None = None
    lifts: bool = False

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        """Return a ray of each orbit."""
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
        """Return the product of the sizes of groups, and two for each other bounded input."""
        return 1 if self.lifts else corner_count(statement, self.blocks, self.groups)


def _vertex(statement: Statement) -> Ray:
    k = statement.k
    low, high = lift_ends(statement, (Fraction(1, k),) * k)
    high = k * ONE if high is None else min(high, k * ONE)
    need(low <= ONE <= high, "the bounds on the lift contradict each other")
    full = min(k - 1, k * (ONE - low) // (high - low)) if high > low else 0
    between = k * ONE - full * high - (k - 1 - full) * low
    return [high] * full + [between] + [low] * (k - 1 - full)
