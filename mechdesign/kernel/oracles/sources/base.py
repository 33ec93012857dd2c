"""The base class of sources of rays of a cone that contains every private column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mechdesign.kernel.gains import Gain
from mechdesign.kernel.oracles.common import GRID, ceilings
from mechdesign.kernel.proof import Cost
from mechdesign.kernel.schema import Kind
from mechdesign.kernel.statement import Statement
from mechdesign.resources import check_size

ONE = 1 << GRID

GAINS = "the rays of this source are for gains"

Ray = Sequence[int]
"""A ray, times any number > 0."""


@dataclass(frozen=True)
class Found:
    """Rays, and the rest that they do not generate.

    Attributes
    ----------
    rays
        Integers >= 0.
    claim
        A number c, over UNIT and some integer: no unlisted ray needs more than c of the weights.
        None if all rays are listed.
    rest
        If every column is a mixture of the rays plus a rest e >= 0, linear in the column: maps D >=
        0 to coefficients of a linear form that is at least D . e on all private columns.
    """

    rays: Sequence[Ray]
    claim: tuple[int, int] | None = None
    rest: Callable[[list[int]], list[int]] | None = None


@dataclass(frozen=True)
class Ask:
    """The test of a ray: a gain and the prices, which fall along the weights of the gain."""

    gain: Gain
    prices: Cost

    def alike(self, x: int, z: int) -> bool:
        """Return whether gain and prices are invariant when two inputs are swapped."""
        return self.prices[x] == self.prices[z] and self.gain.alike(x, z)


class Source(Kind, ABC):
    """A source of rays. Each states the cone that they generate, and why it is large enough."""

    @abstractmethod
    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        """Return the rays, for a gain, or for linear costs (None)."""

    @abstractmethod
    def count(self, statement: Statement) -> int:
        """Return the approximate number of rays."""

    def steps(self, statement: Statement) -> int:
        """Return the work of listing them, from sizes."""
        return 4 * statement.k * (self.count(statement) + 10 * statement.k)


def limited(count: int) -> None:
    """Raise LimitError if there are more rays than the reader allows."""
    check_size("rays", count, "rays of a certificate")


def units(
    statement: Statement, blocks: Sequence[Sequence[int]]
) -> tuple[list[Ray], list[list[int | None]]]:
    """Return unbounded inputs as single rays; and all bounds by block."""
    bounds = [ceilings(statement, block) for block in blocks]
    limits = {
        x: m
        for block, found in zip(blocks, bounds, strict=True)
        for x, m in zip(block, found, strict=True)
    }
    k = statement.k
    alone: list[Ray] = [[int(x == z) for z in range(k)] for x in range(k) if limits.get(x) is None]
    return alone, bounds


def spread(k: int, block: Sequence[int], entries: Sequence[int]) -> Ray:
    """Return a ray that is 0 outside of a block."""
    found = [0] * k
    for x, v in zip(block, entries, strict=True):
        found[x] = v
    return found
