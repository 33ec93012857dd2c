"""Block-structured local differential privacy: the block is public, the place in it is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mechdesign._typing import IntArray
from mechdesign.domain import Domain, Label, clean_label, whole_number
from mechdesign.errors import InputError, listed, shown
from mechdesign.exact import Exact
from mechdesign.notions.base import BudgetNotion


class BlockLDP(BudgetNotion):
    """Block-structured LDP: Q(y|x) <= e**epsilon Q(y|x') for x, x' in one block and every y.

    Parameters
    ----------
    epsilon
        The budget inside a block in nats, >= 0.
    blocks
        Lists of labels that partition the domain.
    block_rows, block_columns
        For a grid, instead of ``blocks``: the numbers of rows and columns of points in a block,
        which must divide those of the grid.

    Notes
    -----
    Source: Acharya et al. 2020, Definition 4.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> identity = Channel.from_matrix([[1, 0], [0, 1]], inputs=["here", "there"])
    >>> BlockLDP(1, blocks=[["here"], ["there"]]).holds(identity)
    True
    >>> BlockLDP(1, blocks=[["here", "there"]]).holds(identity)
    False
    """

    name = "block"
    on_interval = "regions"
    title = "block-structured LDP"
    example = """
epsilon = 1.0               # nats, inside a block
blocks = [[0, 1], [2, 3]]   # every input in exactly one; which block is public
# block_rows = 1            # on a grid, instead: the size of a block in points
# block_columns = 2
"""

    def __init__(
        self,
        epsilon: Exact,
        blocks: Iterable[Iterable[Any]] | None = None,
        block_rows: int | None = None,
        block_columns: int | None = None,
    ) -> None:
        super().__init__(epsilon)
        by_size = block_rows is not None or block_columns is not None
        if (blocks is not None) == by_size:
            expected = "either blocks, or block_rows and block_columns"
            given = "both" if by_size else "neither"
            raise InputError("blocks", expected, given, fault=f"give {expected}")
        self.blocks = None if blocks is None else _blocks(blocks)
        sizes = {"block_rows": block_rows, "block_columns": block_columns}
        self.block_rows, self.block_columns = (
            whole_number(size, key) if by_size else None for key, size in sizes.items()
        )

    @property
    def block_shape(self) -> tuple[int, int] | None:
        """The numbers of rows and columns of points in a block; None if blocks are listed."""
        rows, columns = self.block_rows, self.block_columns
        return None if rows is None or columns is None else (rows, columns)

    def membership(self, domain: Domain) -> IntArray:
        """Return the number of the block of each input, shape ``(n_inputs,)``.

        Raises
        ------
        InputError
            If the blocks do not partition the domain; the message names an input.
        """
        if self.block_shape is not None:
            return self._on_grid(domain, self.block_shape)
        member = np.full(len(domain), -1, dtype=np.intp)
        for b, block in enumerate(self.blocks or ()):
            for label in block:
                x = domain.index(label, f"blocks[{b}]")
                if member[x] >= 0:
                    expected = "blocks that do not overlap"
                    raise InputError(
                        "blocks", expected, "an overlap", fault=f"{label!r} is in two blocks"
                    )
                member[x] = b
        if (member < 0).any():
            left = domain.labels[int(np.argmin(member))]
            fault = f"{left!r} is in no block"
            raise InputError("blocks", "every input in a block", "a part", fault=fault)
        return member

    @staticmethod
    def _on_grid(domain: Domain, shape: tuple[int, int]) -> IntArray:
        if domain.grid_shape is None:
            raise InputError("block_rows", "a grid as the domain", shown(domain))
        for key, size, side in zip(
            ("block_rows", "block_columns"), shape, domain.grid_shape, strict=True
        ):
            if side % size:
                raise InputError(key, f"a divisor of the grid's {side}", size)
        rows, columns = np.divmod(np.arange(len(domain)), domain.grid_shape[1])
        across = domain.grid_shape[1] // shape[1]
        member: IntArray = rows // shape[0] * across + columns // shape[1]
        return member

    def aligned(self, domain: Domain) -> BlockLDP:
        """Return the notion, after a check that its blocks partition the domain."""
        self.membership(domain)
        return self


def _blocks(blocks: Any) -> tuple[tuple[Label, ...], ...]:
    clean = []
    for b, block in enumerate(listed(blocks, "blocks", "a list of lists of labels")):
        members = listed(block, f"blocks[{b}]", "a list of labels")
        clean.append(tuple(clean_label(label, f"blocks[{b}]") for label in members))
        if not clean[-1]:
            raise InputError(f"blocks[{b}]", "at least one label", "an empty list")
    return tuple(clean)
