"""Cones that one budget makes: LDP, high-low, block-structured LDP, and what amounts to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.certify.fixed_point import scaled_down
from mechdesign.certify.privacy.check import blocks_of, places_of, ratio_limits
from mechdesign.certify.problem import Statement, nonnegative
from mechdesign.exact import exp_lower
from mechdesign.resources import spend

__all__ = ["BITS", "OneBudget", "one_budget"]

BITS = 80
"""Bits beyond the point that e**-eps is rounded down to. Fewer keep the integers of rays short."""


@dataclass(frozen=True)
class OneBudget:
    """One budget that protects some inputs against all others of their block.

    Attributes
    ----------
    size
        The number of inputs.
    blocks
        Sets of inputs that do not overlap.
    protected
        In each block, the inputs x with q_x <= e**eps q_z for every z of the block.
    exponent
        The budget eps.
    """

    size: int
    blocks: list[tuple[int, ...]]
    protected: list[list[int]]
    exponent: Fraction

    @property
    def low(self) -> int:
        """e**-eps rounded down, over ``2**BITS``."""
        return scaled_down(exp_lower(-self.exponent), BITS)

    @property
    def unbounded(self) -> list[int]:
        """The inputs that are protected nowhere."""
        guarded = {x for inputs in self.protected for x in inputs}
        return [x for x in range(self.size) if x not in guarded]


def one_budget(statement: Statement) -> OneBudget | None:
    """Return the structure of a sole notion that has one budget; None if it has another.

    Blocks of one input, which nothing bounds, are left out.
    """
    if len(statement.privacy) != 1:
        return None
    (table,) = statement.privacy
    named = _named(statement, table)
    if named is not None:
        return named
    limits = ratio_limits(statement, table)
    if limits is None:
        return None
    k, budgets = len(limits), set()
    spend(k * k * 2, "pairs of inputs")
    blocks: dict[tuple[int, ...], list[int]] = {}
    for x, row in enumerate(limits):
        against = tuple(z for z, limit in enumerate(row) if limit is not None or z == x)
        budgets |= {row[z] for z in against if z != x}
        if len(against) > 1:
            blocks.setdefault(against, []).append(x)
    covered = [z for block in blocks for z in block]
    if len(budgets) != 1 or len(set(covered)) < len(covered):
        return None
    (limit,) = budgets
    if limit is None or limit[1] != 1:
        return None
    return OneBudget(k, list(blocks), list(blocks.values()), limit[0])


def _named(statement: Statement, table: dict[str, Any]) -> OneBudget | None:
    """Return the blocks of a notion that states them, without a look at every pair."""
    k, notion = len(statement.labels), table["notion"]
    if notion not in ("ldp", "high-low", "block"):
        return None
    spend(10 * k, "blocks of inputs")
    member: Sequence[Any] = blocks_of(statement, table) if notion == "block" else [0] * k
    guarded = places_of(statement, table["sensitive"]) if notion == "high-low" else range(k)
    blocks: dict[Any, list[int]] = {}
    for x, mark in enumerate(member):
        blocks.setdefault(mark, []).append(x)
    several = [tuple(block) for block in blocks.values() if len(block) > 1]
    protected = [[x for x in block if x in guarded] for block in several]
    kept = [n for n, inputs in enumerate(protected) if inputs]
    return OneBudget(
        k,
        [several[n] for n in kept],
        [protected[n] for n in kept],
        nonnegative(table["epsilon"]),
    )
