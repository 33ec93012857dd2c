"""The problem of a continuous input as the checker reads it: nodes, moments of cells, notions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from mechdesign.certify.continuous.regions import on_nodes, regions_of
from mechdesign.certify.fixed_point import fraction_steps, longest, total
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["Continuous", "Moments", "moments_of"]

Moments = tuple[Fraction, Fraction, Fraction]
"""The mass of a cell, and the integrals of x and x**2 over it."""

NOTHING: Moments = (Fraction(0), Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Continuous:
    """A problem on an interval that is rounded to nodes.

    Attributes
    ----------
    nodes
        Where x is rounded to; the first and the last are the ends of the interval, unless these
        are infinite.
    cells
        The moments of the law between neighboring nodes.
    tails
        The moments below the first node and above the last; nothing where the interval ends.
    privacy
        The tables of the notions.
    utility
        The table of the loss.
    error
        What masses and integrals may be off by, each summed over the cells.
    is_bounded
        Whether the interval ends at the first node and at the last.
    labels
        The regions that the cuts, nodes that come twice, divide the interval into.
    """

    nodes: tuple[Fraction, ...]
    cells: tuple[Moments, ...]
    tails: tuple[Moments, Moments]
    privacy: list[dict[str, Any]]
    utility: dict[str, Any]
    error: Moments = NOTHING
    is_bounded: bool = True
    labels: tuple[str, ...] = ("all",)

    domain = "interval"

    @cached_property
    def size(self) -> int:
        """How many cells there are; what lies between the two nodes of a cut is none."""
        return sum(width > 0 for width in self.widths)

    @cached_property
    def on_nodes(self) -> list[dict[str, Any]]:
        """The tables of the notions, about nodes in the place of regions."""
        regions = regions_of(self.nodes)
        return [on_nodes(t, list(self.labels), regions, self.prior) for t in self.privacy]

    @cached_property
    def outputs(self) -> list[int]:
        """The nodes that differ as numbers."""
        return [i for i, t in enumerate(self.nodes) if i == 0 or t > self.nodes[i - 1]]

    @cached_property
    def widths(self) -> list[Fraction]:
        """The distances between neighboring nodes."""
        return [high - low for low, high in pairwise(self.nodes)]

    @cached_property
    def products(self) -> list[Moments]:
        """For each cell the integrals of w**2, w w' and w'**2, of the weights of its two ends.

        With u = (x - t)/h they are those of (1-u)**2, (1-u) u and u**2.

        Raises
        ------
        CertificateError
            If one is negative, or w w' has a larger integral than the inequality of Cauchy and
            Schwarz allows, or masses do not sum to 1: no law has such moments.
        """
        found = []
        length = longest((*self.nodes, *(part for cell in self.cells for part in cell)))
        spend(10 * len(self.cells) * fraction_steps(length), "the moments of the cells")
        ends = zip(self.cells, self.nodes, self.widths, strict=False)
        for (mass, first, second), low, width in ends:
            if not width:
                if mass or first or second:
                    raise CertificateError("a cut has mass: it is in the cell above it")
                found.append(NOTHING)
                continue
            mean = (first - low * mass) / width
            square = (second - 2 * low * first + low * low * mass) / (width * width)
            found.append((mass - 2 * mean + square, mean - square, square))
            left, both, right = found[-1]
            if min(left, both, right) < 0 or left * right < both * both:
                raise CertificateError("no law has the moments that the file gives for a cell")
        (below, down, _), (above, up, _) = self.tails
        if below < 0 or above < 0 or down > self.nodes[0] * below or up < self.nodes[-1] * above:
            raise CertificateError("no law has the moments that the file gives beyond the nodes")
        if any(m * s < f * f or (s and not m) for m, f, s in self.tails):
            raise CertificateError("no law has the moments that the file gives beyond the nodes")
        if total([below, above, *(mass for mass, _, _ in self.cells)]) != 1:
            raise CertificateError("the masses of the cells do not sum to 1")
        return found

    @cached_property
    def prior(self) -> list[Fraction]:
        """The law of the node."""
        masses = [Fraction(0)] * len(self.nodes)
        masses[0], masses[-1] = self.tails[0][0], self.tails[1][0]
        for c, (left, both, right) in enumerate(self.products):
            masses[c] += left + both
            masses[c + 1] += both + right
        return masses

    @cached_property
    def means(self) -> list[Fraction]:
        """The integral of w_i(x) x for each node."""
        found = [Fraction(0)] * len(self.nodes)
        found[0], found[-1] = self.tails[0][1], self.tails[1][1]
        for c, (left, both, right) in enumerate(self.products):
            low, high = self.nodes[c], self.nodes[c + 1]
            found[c] += left * low + both * high
            found[c + 1] += both * low + right * high
        return found

    @cached_property
    def variance(self) -> Fraction:
        """The mean of (x - t)(t' - x), which is the variance of the node that x is rounded to."""
        parts = zip(self.products, self.widths, strict=True)
        return total([width * width * both for (_, both, _), width in parts])


def moments_of(
    masses: list[Fraction], first: list[Fraction], second: list[Fraction]
) -> tuple[Moments, ...]:
    """Return the moments of each cell, from three lists of one length."""
    if len({len(masses), len(first), len(second)}) > 1:
        raise CertificateError("the lists of moments differ in length")
    return tuple(zip(masses, first, second, strict=True))
