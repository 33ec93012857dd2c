"""Bounds on ratios of entries, and where they are as few as the inputs.

Let all lengths E[x, z] = ln of the bound on q_x / q_z be positive. A row is implied by the others
exactly if a chain of them is no longer than it. The shortest row into z, which bounds q_z from
below, is implied by none; so a cone with one facet for each input has one facet into each z, or
q_z >= 0 where no row goes into z, and every other row is the sum of such ones. That is quickly
seen: it takes the two shortest rows into each input, and then the ways back along the shortest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.closed_forms.universal.facets import Facet, LowerBound, UndecidedError, way_back
from mechdesign.exact import log_lower, log_upper
from mechdesign.notions.rows.pair_rows import FREE, PairRows

__all__ = ["Edge", "Length", "Lengths", "PairSource", "compare", "find_forest"]

Length: TypeAlias = tuple[Fraction, Fraction]
"""(exponent, factor): the length ``exponent + ln(factor)``."""


DOUBT = 1e-12
"""Lengths nearer than this, relative to the largest parts of any, are compared exactly."""


@dataclass(frozen=True)
class PairSource:
    """Rows on ratios, and how to name the one on q_x / q_z."""

    family: PairRows
    facet: Callable[[int, int], Facet]


@dataclass(frozen=True)
class Edge(LowerBound):
    """The shortest row from one class of inputs to another, with its exact length.

    ``length`` is right to its last bits even where the two parts of ``exact`` cancel.
    """

    exact: Length


class Lengths:
    """The shortest rows of several families, between classes of inputs whose entries are equal.

    Parameters
    ----------
    sources
        The families.
    classes
        ``(size,)``: the class of each input.
    """

    def __init__(self, sources: Sequence[PairSource], classes: IntArray) -> None:
        self.sources, self.classes = tuple(sources), classes
        self.n = int(classes.max()) + 1
        self.members = [np.flatnonzero(classes == c) for c in range(self.n)]
        self._floats: list[FloatArray] = []
        self._exact: list[dict[int, Length]] = [{} for _ in sources]
        largest = 1.0
        for source in self.sources:
            family = source.family
            exponents = np.array(family.exponents, dtype=np.float64)
            logs = np.array([_log(b.factor) for b in family.bounds])
            largest = max(
                largest, np.abs(exponents).max(initial=0), float(np.abs(logs).max(initial=0))
            )
            # the index FREE, -1, finds the infinite length at the end
            self._floats.append(np.append(exponents + logs, np.inf))
        self.doubt = DOUBT * largest

    def into(self, c: int) -> FloatArray:
        """Return the lengths of the shortest rows into a class, from each; inf for none."""
        best = np.full(len(self.classes), np.inf)
        for source, of_bound in zip(self.sources, self._floats, strict=True):
            index = source.family.index[:, self.members[c]]
            np.minimum(best, of_bound[index].min(axis=1), out=best)
        if self.n == len(best):
            return best
        found = np.full(self.n, np.inf)
        np.minimum.at(found, self.classes, best)
        found[c] = np.inf
        return found

    def edge(self, source: int, c: int) -> Edge:
        """Return the shortest row from one class to another, exactly."""
        best: tuple[Length, PairSource, int, int] | None = None
        for known, rows in zip(self._exact, self.sources, strict=True):
            family = rows.family
            for x in self.members[source].tolist():
                for z in self.members[c].tolist():
                    b = int(family.index[x, z])
                    if b == FREE:
                        continue
                    if b not in known:
                        known[b] = (family.exponents[b], family.bounds[b].factor)
                    if best is None or compare(known[b], best[0]) < 0:
                        best = (known[b], rows, x, z)
        if best is None:
            raise ValueError(f"no row bounds class {c} by class {source}")
        (exponent, factor), rows, x, z = best
        total = exponent if factor == 1 else exponent + log_lower(factor)
        return Edge(source, float(total), rows.facet(x, z), best[0])


def compare(a: Length, b: Length) -> int:
    """Return the sign of ``a - b``.

    Raises
    ------
    UndecidedError
        If they differ by less than the bounds on logarithms can tell.
    """
    gap, ratio = a[0] - b[0], b[1] / a[1]  # is gap above ln(ratio)?
    if ratio == 1:
        return (gap > 0) - (gap < 0)
    if gap > log_upper(ratio) or (gap == 0 and ratio < 1):
        return 1
    if gap < log_lower(ratio) or (gap == 0 and ratio > 1):
        return -1
    raise UndecidedError("two bounds are too near to call")


def _log(factor: Fraction) -> float:
    return 0.0 if factor == 1 else math.log(factor.numerator) - math.log(factor.denominator)


def find_forest(lengths: Lengths) -> list[Edge | None] | str:
    """Return the rows that imply all others, one into each class; or why there are more.

    None stands for q >= 0.

    Raises
    ------
    UndecidedError
        If two lengths are too near to call.
    """
    edges: list[Edge | None] = []
    for c in range(lengths.n):
        into = lengths.into(c)
        least = into.min(initial=np.inf)
        if not np.isfinite(least):
            edges.append(None)
            continue
        rivals = np.flatnonzero(into <= least + lengths.doubt).tolist()
        best, tied = lengths.edge(rivals[0], c), -1
        for rival in rivals[1:]:
            edge = lengths.edge(rival, c)
            sign = compare(edge.exact, best.exact)
            if sign < 0:
                best, tied = edge, -1
            elif not sign:
                tied = rival
        if tied >= 0:
            return _both_bound(lengths, c, best.source, tied)
        edges.append(best)
    for c in range(lengths.n):
        missed = _not_implied(lengths, edges, c)
        if missed is not None:
            shortest = edges[c]
            first = missed if shortest is None else shortest.source
            return _both_bound(lengths, c, first, missed)
    return edges


def _not_implied(lengths: Lengths, edges: Sequence[Edge | None], c: int) -> int | None:
    """Return a class from which the row into c is shorter than the way along edges."""
    way, _ = way_back(edges, c)
    reach, total = np.full(lengths.n, np.inf), dict[int, Length]()
    near, exponent, factor = 0.0, Fraction(0), Fraction(1)
    followed = (edge for x in way[:-1] if (edge := edges[x]) is not None)
    for z, edge in zip(way[1:], followed, strict=True):
        exponent, factor = exponent + edge.exact[0], factor * edge.exact[1]
        near += edge.length
        reach[z], total[z] = near, (exponent, factor)
    into = lengths.into(c)
    unsure = np.isfinite(into) & (into <= reach + lengths.doubt * len(way))
    for z in np.flatnonzero(unsure).tolist():
        if z not in total or compare(lengths.edge(z, c).exact, total[z]) < 0:
            return z
    return None


def _both_bound(lengths: Lengths, c: int, first: int, second: int) -> str:
    x, a, b = (int(lengths.members[i][0]) for i in (c, first, second))
    return f"entry {x} is bounded from below by both {a} and {b}, and neither by way of the other"
