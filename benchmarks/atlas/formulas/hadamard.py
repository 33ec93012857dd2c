"""The Hadamard schemes, and subset selection in their place: the l2 risk."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from benchmarks.atlas.base import Axis, Formula, Point, Region, sizes
from benchmarks.atlas.formulas.randomized_response import INPUTS
from mechdesign.channel import Channel
from mechdesign.closed_forms import HighLowSubsetSelection
from mechdesign.mechanisms import (
    HadamardResponse,
    Mechanism,
    SubsetSelection,
    around_sensitive,
    by_block,
)
from mechdesign.notions import LDP, BlockLDP, HighLowLDP, Notion
from mechdesign.problem import Problem
from mechdesign.utilities import L2Risk

EIGHT, TWELVE = 8, 12
SENSITIVE = Axis("s", "sensitive inputs s of 8", sizes(range(1, 8)), sizes([1, 4]))
BLOCKS = Axis("b", "inputs in each block b", sizes([2, 3, 4, 6, 12]), sizes([2, 4]))


class _Scheme(Formula):
    """A structured mechanism, and the l2 risk at the uniform prior.

    Its reports are read by the best linear estimator, which is at least as good as the published
    one.
    """

    axis: ClassVar[Axis]

    @abstractmethod
    def size(self, at: Point) -> int:
        """Return the number of inputs."""

    @abstractmethod
    def notion(self, at: Point) -> Notion:
        """Return the privacy notion."""

    @abstractmethod
    def mechanism(self, at: Point) -> Mechanism:
        """Return the mechanism."""

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        return Problem(range(self.size(at)), self.notion(at), L2Risk())

    def channel(self, at: Point) -> Channel:
        """Return the matrix of the mechanism."""
        return self.mechanism(at).dense()


class HadamardRisk(_Scheme):
    """Hadamard response on k inputs, in the form for small epsilon."""

    name = "hadamard-l2-risk"
    title = "Hadamard response, LDP\nℓ2 risk of the distribution"
    source = "Acharya, Sun and Zhang 2019"
    claim = "order-optimal for small ε; measured by the l2 risk"
    axis = INPUTS

    def size(self, at: Point) -> int:
        """Return k."""
        return int(at.parameter)

    def notion(self, at: Point) -> Notion:
        """Return LDP."""
        return LDP(at.epsilon)

    def mechanism(self, at: Point) -> Mechanism:
        """Return Hadamard response."""
        return HadamardResponse(self.size(at), at.epsilon, copies=1)


class _HighLow(_Scheme):
    """s of eight inputs are sensitive."""

    axis = SENSITIVE

    def size(self, at: Point) -> int:
        """Return eight."""
        return EIGHT

    def notion(self, at: Point) -> Notion:
        """Return high-low LDP with the first s inputs sensitive."""
        return HighLowLDP(at.epsilon, range(int(at.parameter)))

    def proved(self, at: Point) -> Region | None:
        """Return optimal for one sensitive input: Mangat's design is universal."""
        return Region.OPTIMAL if at.parameter == 1 else None


class HighLowHadamard(_HighLow):
    """The published scheme: Hadamard response among the sensitive inputs."""

    name = "high-low-hadamard"
    title = "Hadamard response, high-low LDP\nℓ2 risk, 8 inputs, s of them sensitive"
    source = "Acharya et al. 2020, Section 5, Theorem 3"
    claim = "order-optimal for ε of order 1; measured by the l2 risk"

    def mechanism(self, at: Point) -> Mechanism:
        """Return the scheme."""
        return around_sensitive(HadamardResponse, EIGHT, self.notion(at), copies=1)


class HighLowSubsets(_HighLow):
    """Subset selection of one size among the sensitive inputs."""

    name = "high-low-subset-selection"
    title = "Subset selection, high-low LDP\nℓ2 risk, 8 inputs, s of them sensitive"
    source = "ours"
    claim = "the best size is optimal, or within a few thousandths of it"

    def mechanism(self, at: Point) -> Mechanism:
        """Return the scheme."""
        return around_sensitive(SubsetSelection, EIGHT, self.notion(at))


class HighLowTwoSizes(HighLowSubsets):
    """Subset selection of one size or of two neighbors, mixed: optimal (see the closed form)."""

    name = "high-low-two-sizes"
    title = "Subset selection of two sizes, high-low LDP\nℓ2 risk, 8 inputs, s of them sensitive"
    source = "ours"
    claim = "least l2 risk where the prior is uniform on the sensitive inputs"

    def channel(self, at: Point) -> Channel:
        """Return the matrix, a column for each set."""
        found = HighLowSubsetSelection().optimum(self.problem(at)).formula()
        return Channel.from_matrix(found.matrix, inputs=range(EIGHT))

    def proved(self, at: Point) -> Region | None:
        """Return optimal."""
        return Region.OPTIMAL


class _Blocks(_Scheme):
    """Twelve inputs in blocks of b."""

    axis = BLOCKS

    def size(self, at: Point) -> int:
        """Return twelve."""
        return TWELVE

    def blocks(self, at: Point) -> list[list[int]]:
        """Return the blocks."""
        b = int(at.parameter)
        return [list(range(first, first + b)) for first in range(0, TWELVE, b)]

    def notion(self, at: Point) -> Notion:
        """Return block-structured LDP."""
        return BlockLDP(at.epsilon, self.blocks(at))


class BlockHadamard(_Blocks):
    """The published scheme: Hadamard response inside each block."""

    name = "block-hadamard"
    title = "Hadamard response, block-structured LDP\nℓ2 risk, 12 inputs in blocks of b"
    source = "Acharya et al. 2020, Section 6, Theorem 4"
    claim = "order-optimal for ε of order 1; measured by the l2 risk"

    def mechanism(self, at: Point) -> Mechanism:
        """Return the scheme."""
        return by_block(HadamardResponse, TWELVE, self.notion(at), copies=1)


class BlockSubsets(_Blocks):
    """Subset selection inside each block: optimal, since the blocks are problems of their own."""

    name = "block-subset-selection"
    title = "Subset selection, block-structured LDP\nℓ2 risk, 12 inputs in blocks of b"
    source = "ours"
    claim = "least l2 risk where the prior is uniform inside each block"

    def mechanism(self, at: Point) -> Mechanism:
        """Return the scheme."""
        return by_block(SubsetSelection, TWELVE, self.notion(at))

    def proved(self, at: Point) -> Region | None:
        """Return optimal."""
        return Region.OPTIMAL
