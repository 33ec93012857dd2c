"""Ratios inside blocks: the rays that are M_x on a subset of a block, and 1 on the rest.

The entries of a column in a block, over their least one, are between 1 and M_x (`one_budget`): a
point of a box, and so a mixture of its corners. Where there is no M_x, an entry is at least the
least one: 1, and more of that input alone, which is a ray. So is each input of no block. The cone
of these rays holds every private column, as M is rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

from mechdesign.kernel.oracles.common import parts_of
from mechdesign.kernel.oracles.sources.base import (
    ONE,
    Ask,
    Found,
    Source,
    bounded,
    limited,
    spread,
    units,
)
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Subsets(Source):
    """Blocks of inputs; None is one of all."""

    kind: ClassVar[str] = "subsets"
    blocks: tuple[tuple[int, ...], ...] | None = None

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        """Return the rays."""
        k, blocks = statement.k, parts_of(self.blocks, statement.k)
        alone, bounds = units(statement, blocks)
        limited(sum(2 ** sum(m is not None for m in limits) for limits in bounds))
        corners = (
            spread(k, block, corner)
            for block, limits in zip(blocks, bounds, strict=True)
            for corner in product(*[(ONE,) if m is None else (ONE, m) for m in limits])
        )
        return Found([*alone, *corners])

    def count(self, statement: Statement) -> int:
        """Return two for each bounded input of a block, multiplied."""
        blocks = parts_of(self.blocks, statement.k)
        sizes = (len(bounded(statement, block)) for block in blocks)
        return statement.k + sum(1 << min(size, 60) for size in sizes)
