"""The base class of generators of cones: families of rows, for privacy and for bounds.

A row is ``left . q <= e**exponent right . q`` for every column q of a private channel, with left,
right >= 0. Checking privacy rounds ``e**exponent`` down (a stricter row); proving a bound rounds it
up (a weaker row, hence a larger cone). Only :meth:`ListedRow.net` decides this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from mechdesign.exact import LARGEST_EXPONENT, exp_lower, exp_upper, shortened
from mechdesign.kernel.arithmetic import BITS, lattice, need, scaled
from mechdesign.kernel.packed import Places, Weights
from mechdesign.kernel.schema import Kind

Key = tuple[str, int, int]
"""The name of a row in a generator: a side (``""`` if there is only one), x, and other."""

Side = tuple[tuple[int, Fraction], ...]
"""Inputs with coefficients."""

Test = Callable[[Sequence[int]], Key | None]
"""Returns the key of a row that an integer column violates, exactly; None if there is none."""


@dataclass(frozen=True)
class ListedRow:
    """``left . q <= e**exponent right . q``; sides list inputs, each once."""

    left: Side
    exponent: Fraction
    right: Side

    def net(self, *, weak: bool, bits: int = 160) -> dict[int, Fraction]:
        """Return ``e**-exponent left - right``, whose product with a private column is <= 0.

        ``weak`` (for bounds) rounds ``e**-exponent`` down: as left >= 0 and q >= 0, the product
        falls. Otherwise (for checks) it is rounded up; where ``e**exponent`` is below every bound
        that is kept, it counts as 0, so that a column must keep ``left . q <= 0``.
        """
        if not weak and self.exponent < -LARGEST_EXPONENT:
            return dict(self.left)
        factor = exp_lower(-self.exponent) if weak else exp_upper(-self.exponent)
        factor = shortened(factor, not weak, bits)
        found = {x: factor * v for x, v in self.left}
        for x, v in self.right:
            found[x] = found.get(x, Fraction(0)) - v
        return found


@dataclass(frozen=True)
class Block:
    """Multipliers >= 0 of rows of one generator, or of the parts of limits.

    ``of``: ``"cone"`` or ``"limit"``.
    ``place``: the index of a generator, or of a limit, of the statement after relaxations. A part
        of a limit is the part ``x`` of the limit ``place + other``.
    ``side``: the side of the rows; ``""`` for a generator with one side.
    ``node``, ``x``, ``other``, ``weight``: parallel lists: the node of a multiplier, the row, and
        the multiplier.
    """

    of: str
    place: int
    node: Places
    x: Places
    weight: Weights
    other: Places = field(default_factory=Places)
    side: str = ""

    @property
    def others(self) -> Sequence[int]:
        """``other``, or zeros if it is omitted."""
        return self.other or [0] * len(self.x)

    def entries(self, n_nodes: int) -> list[tuple[int, int, int, int]]:
        """Return (node, x, other, weight over UNIT) of every multiplier."""
        other = self.others
        lengths = {len(self.node), len(self.x), len(self.weight), len(other)}
        need(len(lengths) == 1, "the lists of a block of multipliers differ in length")
        need(max(self.node, default=-1) < n_nodes, "a multiplier is at a node that does not exist")
        return list(zip(self.node, self.x, other, self.weight.scaled(BITS), strict=True))


G = TypeVar("G", bound="Generator")


class Generator(Kind, ABC):
    """A source of rows. A subclass is a frozen dataclass in a file of its own."""

    @abstractmethod
    def row(self, key: Key, k: int, *, up: bool) -> ListedRow:
        """Return a row, with irrational numbers rounded up or down."""

    @abstractmethod
    def keys(self, k: int) -> Iterable[Key]:
        """Return the keys of all rows on k inputs."""

    def test(self, k: int) -> Test:
        """Return the exact test of a column, with every ``e**-exponent`` rounded up."""
        nets = {key: self.row(key, k, up=False).net(weak=False) for key in self.keys(k)}
        whole, _ = lattice([list(net.values()) for net in nets.values()])
        terms = [list(zip(*pair, strict=True)) for pair in zip(nets.values(), whole, strict=True)]

        def test(q: Sequence[int]) -> Key | None:
            for key, net in zip(nets, terms, strict=True):
                if sum([v * q[x] for x, v in net]) > 0:
                    return key
            return None

        return test

    @abstractmethod
    def moved(self: G, factor: Fraction, by: Fraction) -> G:
        """Return the same rows with every exponent times a number >= 0, plus a number."""

    @abstractmethod
    def size(self, k: int) -> int:
        """Return the number of entries of a column that the test reads."""

    def on(self: G, kept: Sequence[int]) -> G | None:
        """Return rows on a subset of the inputs that private columns satisfy; None for none."""
        return None

    @abstractmethod
    def check(self, k: int) -> None:
        """Raise CertificateError unless the numbers fit k inputs."""

    def add(self, block: Block, nodes: list[list[int]]) -> None:
        """Add w (``e**-exponent left - right``) of each row to the cost of its node, rounded down.

        Products are rounded down, so each is at most its exact value; q >= 0.
        """
        k = len(nodes[0])
        nets: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for node, x, other, w in block.entries(len(nodes)):
            net = nets.get((x, other))
            if net is None:
                row = self.row((block.side, x, other), k, up=True)
                net = [(z, scaled(v)) for z, v in row.net(weak=True).items()]
                nets[x, other] = net
            cost = nodes[node]
            for z, v in net:
                cost[z] += v * w >> BITS
