"""Cones of one budget, whose extreme rays are known: LDP, high-low and block-structured LDP.

They bound q_x <= e**eps q_z for the protected inputs x of a block and every z in it. On an extreme
ray every protected input of one block is at the least entry or e**eps times it, and the block's
other inputs are at it; or the ray is a single unprotected input.

Source: Kairouz, Oh and Viswanath 2016 (staircase mechanisms, for LDP).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.notions import Cone
from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT
from mechdesign.notions.rows.pair_rows import FREE


@dataclass(frozen=True)
class OneBudgetCone:
    """The blocks of such a cone.

    Attributes
    ----------
    blocks
        For each block: its inputs, and the protected ones among them.
    alone
        The unprotected inputs.
    low
        e**-eps: the entry of a ray at inputs that are not raised; raised inputs have 1.
    size
        The number of inputs.
    """

    blocks: tuple[tuple[IntArray, IntArray], ...]
    alone: IntArray
    low: float
    size: int

    @classmethod
    def of(cls, cone: Cone) -> Self | None:
        """Return the blocks of a cone; None for another form."""
        (only, *more) = cone.families
        family = only.ratio_rows()
        if more or family is None:
            return None
        bounded = family.index != FREE
        guarded = bounded.any(axis=1)
        used = family.index[bounded]
        if not len(used) or used.min() < used.max() or family.scales[used[0]] != 1:
            return None
        k = family.size
        members: dict[bytes, list[int]] = {}  # keyed by the inputs that bound them
        np.fill_diagonal(bounded, True)
        for x in np.flatnonzero(guarded).tolist():
            members.setdefault(bounded[x].tobytes(), []).append(x)
        blocks = [np.frombuffer(block, dtype=bool) for block in members]
        if np.sum(blocks, axis=0).max() > 1:
            return None
        exponent = float(family.exponents[used[0]])
        return cls(
            tuple(
                (np.flatnonzero(block), np.array(inputs))
                for block, inputs in zip(blocks, members.values(), strict=True)
            ),
            np.flatnonzero(~guarded),
            math.exp(-min(exponent, LARGEST_EXPONENT)),
            k,
        )

    @property
    def block_groups(self) -> tuple[tuple[int, ...], ...] | None:
        """The blocks in the kernel's form; None for a single block of all inputs."""
        found = tuple(tuple(block.tolist()) for block, _ in self.blocks)
        return None if len(found) == 1 and len(found[0]) == self.size else found

    def subset_rays(self, most: int) -> FloatArray | None:
        """Return all rays, largest entry 1, ``(n_inputs, n_rays)``; None if there are too many.

        A block with all inputs raised is, up to scale, one with none raised.
        """
        if sum(1 << len(inputs) for _, inputs in self.blocks) > most:
            return None
        found = [np.eye(self.size)[:, self.alone]]
        for block, inputs in self.blocks:
            s = len(inputs)
            raised = (np.arange(1, 1 << s) >> np.arange(s)[:, None]) & 1
            rays = np.zeros((self.size, raised.shape[1]))
            rays[block] = self.low
            rays[inputs] = np.where(raised, 1.0, self.low)
            found.append(rays)
        return np.hstack(found)
