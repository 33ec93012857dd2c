"""The law of the input of a rounded problem, as a file states it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import ClassVar

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import distribution
from mechdesign.kernel.rounding.families import End, Uniform
from mechdesign.kernel.rounding.laws import AxisLaw
from mechdesign.kernel.rounding.moments import (
    NOTHING,
    PLACES,
    Axis,
    Moments,
    Row,
    basis,
    mixed_moments,
)

__all__ = ["Prior", "Products", "Rectangles", "Stated", "along", "moments_of", "steps"]

Part = tuple[Fraction, tuple[AxisLaw, ...]]


@dataclass(frozen=True)
class Products:
    """A mixture of laws whose coordinates are independent, each truncated by itself."""

    kind: ClassVar[str] = "products"
    weights: tuple[Fraction, ...]
    parts: tuple[tuple[AxisLaw, ...], ...]

    def mixed(self) -> list[Part]:
        """Return the weights and the parts."""
        distribution(self.weights, len(self.parts))
        return list(zip(self.weights, self.parts, strict=True))


@dataclass(frozen=True)
class Rectangles:
    """A constant density on each rectangle of a grid."""

    kind: ClassVar[str] = "rectangles"
    edges: tuple[tuple[Fraction, ...], ...]
    masses: tuple[tuple[Fraction, ...], ...]

    def mixed(self) -> list[Part]:
        """Return a product of uniform laws for each rectangle."""
        sides = []
        for axis in self.edges:
            need(all(a < b for a, b in pairwise(axis)), "the edges of bins are not increasing")
            sides.append([Uniform(low, high - low) for low, high in pairwise(axis)])
        pairs = list(product(*sides))
        need(all(len(row) == len(sides[-1]) for row in self.masses), "expected a mass for each bin")
        weights = distribution([mass for row in self.masses for mass in row], len(pairs))
        return list(zip(weights, pairs, strict=True))


@dataclass(frozen=True)
class Stated:
    """Moments of the cells, of a law that is not in the file: nothing is known of where from.

    Attributes
    ----------
    cells
        The means of each cell, cells and means row by row.
    tails
        The integrals of 1, r and r**2 below the first node and above the last.
    error
        What the sum of all may be off by; a claim that is not checked.
    source
        What they are the moments of, in words.
    """

    kind: ClassVar[str] = "moments"
    cells: tuple[tuple[Fraction, ...], ...]
    tails: tuple[tuple[Fraction, ...], ...] = ()
    error: Fraction = Fraction(0)
    source: str = ""


Prior = AxisLaw | Products | Rectangles | Stated
"""The law of the input."""


def steps(prior: Prior, axes: tuple[Axis, ...]) -> int:
    """Return how much work the moments are, from sizes."""
    cells, longest = len(PLACES[len(axes)]) * prod(map(len, axes)), 2 + max(map(len, axes))
    if isinstance(prior, Stated):
        return 20 * cells
    if isinstance(prior, Rectangles):
        sizes = list(map(len, prior.edges))
        return 40 * cells + 300 * (longest * sum(sizes) + prod(sizes))
    parts = prior.parts if isinstance(prior, Products) else ((prior,),)
    laws = sum(law.steps() for own in parts for law in own)
    return longest * laws + 40 * cells * len(parts)


def moments_of(prior: Prior, axes: tuple[Axis, ...], ends: tuple[tuple[End, End], ...]) -> Moments:
    """Return the moments on the cells of a law on a box, whose nodes are given on each axis.

    Raises
    ------
    CertificateError
        If it is no law, or has no mass there.
    """
    if isinstance(prior, Stated):
        below, above = prior.tails or (NOTHING, NOTHING)
        return Moments(prior.cells, (below, above), prior.error)
    mixed = prior.mixed() if isinstance(prior, Products | Rectangles) else [(Fraction(1), (prior,))]
    return mixed_moments(mixed, axes, lambda law, n: along(law, axes[n], ends[n]))


def along(law: AxisLaw, axis: Axis, ends: tuple[End, End]) -> dict[int, Row]:
    """Return the moments on each cell of an axis, and beyond it, that are not 0."""
    law.check()
    low, high = ends
    edges = [*([low] if low == -math.inf else []), *axis, *([high] if high == math.inf else [])]
    below = [law.below(x) for x in edges]
    whole = below[-1][0] - below[0][0]
    need(whole.low > Fraction(1, 10**12), "the law has a mass of less than 1e-12 on the interval")
    found = {}
    first = -1 if edges[0] == -math.inf else 0
    for n, (start, stop) in enumerate(pairwise(below), first):
        zero, one, two = (b - a for a, b in zip(start, stop, strict=True))
        if not zero.high:
            continue
        zero, one, two = basis(n, axis, [zero, one, two])
        found[n] = [(part / whole).positive() for part in (zero, one, two)]
    return found
