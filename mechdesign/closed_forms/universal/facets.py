"""Facets of a cone of columns, and the channel that a simplicial cone makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.evidence.facets import NamedRow
from mechdesign.prior_sets import Weights

__all__ = [
    "Decision",
    "Facet",
    "LowerBound",
    "UndecidedError",
    "forest_matrix",
    "way_back",
]


class UndecidedError(Exception):
    """Two numbers are too near to call, or the cone is too large to decide exactly."""


@dataclass(frozen=True)
class Facet:
    """One inequality that no others imply.

    Attributes
    ----------
    name
        The name of the row, or ``"positive x=3"``.
    notion
        The place of the notion whose row it is; None for q_x >= 0.
    side
        ``"ratio"``, ``"upper"``, ``"lower"`` or ``"positive"``.
    x
        The input that the row is about.
    other
        For a ratio, the input that it is compared with.
    prior
        For a bound on the lift, the prior of the law.
    """

    name: str
    notion: int | None
    side: str
    x: int
    other: int | None = None
    prior: Weights | None = None

    @classmethod
    def positive(cls, x: int) -> Facet:
        """Return q_x >= 0."""
        return cls(f"positive x={x}", None, "positive", x)

    @property
    def row(self) -> NamedRow:
        """The row, as evidence names it."""
        return (self.notion, self.side, self.x, self.other, self.prior)


@dataclass(frozen=True, eq=False)
class Decision:
    """Whether a cone has as many facets as dimensions.

    Attributes
    ----------
    simplicial
        None where it is not decided.
    reason
        Why, in a sentence.
    facets
        The facets, one for each input, where it is simplicial; rows that tie inputs come last.
    matrix
        ``(n_inputs, n_outputs)`` floats: the universal channel, where there is one.
    """

    simplicial: bool | None
    reason: str
    facets: tuple[Facet, ...] = ()
    matrix: FloatArray | None = None


@dataclass(frozen=True)
class LowerBound:
    """A row that bounds an entry from below: q >= e**-length q_source."""

    source: int
    length: float
    facet: Facet


def forest_matrix(bounds: Sequence[LowerBound | None]) -> FloatArray:
    """Return the universal channel where each entry is bounded from below by at most one other.

    The slacks s_x = q_x - e**-length[x] q_source[x] >= 0, or s_x = q_x without a source, give the
    column back: q_x is the sum of s_i times e**-(the length of the way) over all ways from i to x
    along sources, of which there is one, or, for i on a cycle of length c, one for each time around
    it, 1 / (1 - e**-c) in all. The constant column has the slacks 1 - e**-length[i]: those times
    the columns of single slacks are the channel.

    Parameters
    ----------
    bounds
        What bounds each entry.
    """
    n, lengths = len(bounds), np.array([0.0 if b is None else b.length for b in bounds])
    slack = np.where([b is None for b in bounds], 1.0, -np.expm1(-lengths))
    matrix = np.zeros((n, n))
    for x in range(n):
        way, start = way_back(bounds, x)
        total = np.concatenate([[0.0], np.cumsum(lengths[way[:-1]])])
        matrix[x, way] = slack[way] * np.exp(-total)
        if start is not None:
            matrix[x, way[start:]] /= -np.expm1(-lengths[way[start:]].sum())
    return matrix


def way_back(bounds: Sequence[LowerBound | None], x: int) -> tuple[list[int], int | None]:
    """Return x, its source, the source of that, and so on, and the place where a cycle starts."""
    way, place = [x], {x: 0}
    while (bound := bounds[way[-1]]) is not None:
        if bound.source in place:
            return way, place[bound.source]
        place[bound.source] = len(way)
        way.append(bound.source)
    return way, None
