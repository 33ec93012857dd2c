"""Rows of any kind, and whether their facets are as few as the inputs.

Scaled so that its value on the constant column is 1, each row is a point of a polytope, and the
facets of the cone are the vertices of that polytope: the cone is simplicial exactly if it is a
simplex. A vertex is the point that is furthest in some direction. So vertices are gathered: first
in random directions, then away from the plane of those that are known; more than n, or n with some
row outside their simplex, and the cone is not simplicial. They are gathered in floating point; that
n vertices imply all rows is decided in rationals, e**-a being replaced by one right to 150 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.universal.facets import Decision, Facet, UndecidedError
from mechdesign.closed_forms.universal.lifts import by_class, lift_facet
from mechdesign.closed_forms.universal.pairs import Length, Lengths, compare
from mechdesign.exact import exp_lower
from mechdesign.notions.rows.equations import reduced
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import Weights
from mechdesign.solver_guard import called, checked

__all__ = ["MOST_EXACT", "decide_mixed"]

MOST_EXACT = 16
"""Up to so many classes of inputs, n vertices are checked in rationals."""

FEW, MORE_DIRECTIONS = 4, 12
SAME, NUDGE = 1e-9, 1e-6
PLAIN, STEEP = 1e-13, 1e4
"""Vertices of entries below the one are dependent if a singular value is below the other."""

NEAR = Fraction(1, 1 << 100)
"""A row whose value, relative to its terms, is below this and not 0 is too near to call."""

LARGEST = Fraction(700)
GRAIN = 2.0**40

Exact = list[Fraction]


@dataclass(frozen=True)
class _Vertex:
    """A row scaled to 1 on the constant column, its name, and itself in rationals."""

    vector: FloatArray
    facet: Facet
    exact: Callable[[], Exact]


class _Rows:
    """All rows, on columns with one entry for each class of inputs."""

    def __init__(self, lengths: Lengths, lifts: Sequence[tuple[int, LiftRows]]) -> None:
        self.lengths, self.lifts = lengths, lifts
        self.classes, self.n = lengths.classes, lengths.n
        self.first = [int(members[0]) for members in lengths.members]
        into = np.array([lengths.into(c) for c in range(self.n)])
        self.z, self.x = np.nonzero(np.isfinite(into))
        length = into[self.z, self.x]
        with np.errstate(over="ignore"):
            self.at_z, self.at_x = 1 / -np.expm1(-length), 1 / np.expm1(length)

    def furthest(self, v: FloatArray) -> _Vertex:
        """Return the row f of least f . v, scaled, for a column of entries of size 1 or so."""
        x = int(v.argmin())
        best, unit = float(v[x]), np.eye(self.n)
        found = _Vertex(unit[x], Facet.positive(self.first[x]), partial(self._entry, x))
        if len(self.z):
            value = self.at_z * v[self.z] - self.at_x * v[self.x]
            i = int(value.argmin())
            if value[i] < best:
                z, x = int(self.z[i]), int(self.x[i])
                vector = self.at_z[i] * unit[z] - self.at_x[i] * unit[x]
                facet = self.lengths.edge(x, z).facet
                best, found = float(value[i]), _Vertex(vector, facet, partial(self._ratio, x, z))
        column = np.rint(v[self.classes] * GRAIN).astype(np.int64).tolist()
        for n, family in self.lifts:
            for side, bound in family.sides():
                exponent = float(min(bound.exponent(family.epsilon), LARGEST))
                upper = side == "upper"
                x = int(v.argmax() if upper else v.argmin())
                prior = family.priors.extreme(column, largest=not upper)
                law = np.bincount(self.classes, [float(p) for p in prior], self.n)
                ahead = unit[x] - law
                vector = law - ahead / np.expm1(exponent if upper else -exponent)
                if vector @ v < best:
                    facet = lift_facet(n, family, side, self.first[x], prior)
                    exact = partial(self._lift, family, side, x, prior)
                    best, found = float(vector @ v), _Vertex(vector, facet, exact)
        return found

    def _entry(self, x: int) -> Exact:
        return [Fraction(int(c == x)) for c in range(self.n)]

    def _ratio(self, x: int, z: int) -> Exact:
        exponent, factor = self.lengths.edge(x, z).exact
        row = [Fraction(0)] * self.n
        row[z], row[x] = factor, -exp_lower(-exponent)
        return row

    def _lift(self, family: LiftRows, side: str, x: int, prior: Weights) -> Exact:
        shrunk = exp_lower(-dict(family.sides())[side].exponent(family.epsilon))
        law, entry = (1, -shrunk) if side == "upper" else (-shrunk, 1)
        row = [law * p for p in by_class(prior, self.classes)]
        row[x] += entry
        return row

    def values(self, q: Exact) -> Iterator[tuple[Fraction, Fraction, Facet | None]]:
        """Yield the value of rows on an exact column, relative to what, and which row, if a ratio.

        Of the lift rows, only those with the least values are looked at.
        """
        size = max(abs(entry) for entry in q)
        yield from ((entry, size, None) for entry in q)
        for z, x in zip(self.z.tolist(), self.x.tolist(), strict=True):
            edge = self.lengths.edge(x, z)
            exponent, factor = edge.exact
            terms = factor * q[z], exp_lower(-exponent) * q[x]
            yield terms[0] - terms[1], abs(terms[0]) + abs(terms[1]), edge.facet
        column = [q[c] for c in self.classes.tolist()]
        for _, family in self.lifts:
            for side, bound in family.sides():
                shrunk = exp_lower(-bound.exponent(family.epsilon))
                upper = side == "upper"
                law = family.priors.extreme_mean(column, largest=not upper)
                value = law - shrunk * max(q) if upper else min(q) - shrunk * law
                yield value, size, None


def decide_mixed(lengths: Lengths, lifts: Sequence[tuple[int, LiftRows]]) -> Decision:
    """Decide for rows of any kind, on at least three classes of inputs.

    Raises
    ------
    UndecidedError
        If it is too near to call, or the inputs are many and it is not plain to see.
    """
    rows = _Rows(lengths, lifts)
    n, found = rows.n, _vertices(rows)
    matrix = None if len(found) > n else _exact_channel(rows, found)
    if matrix is None:
        return Decision(False, f"there are more than {n} facets for {n} inputs")
    facets = tuple(vertex.facet for vertex in found)
    return Decision(True, f"{n} rows imply all others", facets, matrix)


def _vertices(rows: _Rows) -> list[_Vertex]:
    """Return n vertices that span, or n + 1.

    Raises
    ------
    UndecidedError
        If vertices are too near to each other, or random directions meet few and inputs are many.
    """
    n, rng, found = rows.n, np.random.default_rng(0), list[_Vertex]()

    def add(v: FloatArray) -> bool:
        """Add the vertex that is furthest in a direction; return whether it is new."""
        vertex = rows.furthest(v)
        size = SAME * np.abs(vertex.vector).max()
        new = all(np.abs(vertex.vector - other.vector).max() > size for other in found)
        if new:
            found.append(vertex)
        return new

    for v in rng.standard_normal((2 * n + MORE_DIRECTIONS, n)):
        if add(v) and len(found) > n:
            return found
    if n > MOST_EXACT:
        raise UndecidedError(f"notions of several kinds are for up to {MOST_EXACT} inputs")
    while len(found) <= n:
        table = np.array([vertex.vector / np.linalg.norm(vertex.vector) for vertex in found])
        _, sizes, basis = called("LAPACK", np.linalg.svd, table)
        rank = int((sizes > SAME).sum())
        if rank == n:
            break
        away = checked("LAPACK", basis, (n, n))[rank:]  # from the plane of all that are known
        v = rng.standard_normal(n - rank) @ away + NUDGE * rng.standard_normal(n)
        if not add(v) and not add(-v):
            raise UndecidedError("the facets are too near to each other to count")
    return found


def _exact_channel(rows: _Rows, vertices: Sequence[_Vertex]) -> FloatArray | None:
    """Return the channel that the rows of n facets make; None if they do not imply all others.

    A row that is implied has values >= 0 on the rays of theirs. Where one is nearly 0, it may be a
    sum of others; `_implied` decides that by comparing lengths.
    """
    table = [vertex.exact() for vertex in vertices]
    slack = [sum(row) for row in table]
    settled = {vertex.facet.name for vertex in vertices} | _implied(rows)
    columns = []
    for i, ray in enumerate(_inverse_columns(table)):
        for value, size, facet in rows.values(ray):
            if facet is not None and facet.name in settled:
                continue
            if value < -NEAR * size:
                return None
            if 0 < abs(value) <= NEAR * size:
                raise UndecidedError("a row is too near to those that imply it")
        columns.append([float(slack[i] * entry) for entry in ray])
    return np.asarray(np.maximum(np.array(columns).T, 0.0))


def _implied(rows: _Rows) -> set[str]:
    """Return the names of the ratio rows that others imply, by shortest ways (Floyd, Warshall)."""
    n, way = rows.n, dict[tuple[int, int], Length]()
    for z, x in zip(rows.z.tolist(), rows.x.tolist(), strict=True):
        way[x, z] = rows.lengths.edge(x, z).exact
    own, implied = dict(way), set[tuple[int, int]]()
    for middle in range(n):
        for x in range(n):
            for z in range(n):
                if len({x, z, middle}) < 3 or (x, middle) not in way or (middle, z) not in way:
                    continue
                (a, f), (b, g) = way[x, middle], way[middle, z]
                through = (a + b, f * g)
                if (x, z) not in way or compare(through, way[x, z]) <= 0:
                    way[x, z] = through
                    implied.add((x, z))
    return {rows.lengths.edge(x, z).facet.name for x, z in implied if (x, z) in own}


def _inverse_columns(table: Sequence[Sequence[Fraction]]) -> list[Exact]:
    """Return the columns of the inverse of a regular matrix."""
    n = len(table)
    found = reduced(
        [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(table)], n
    )
    if len(found) < n:
        raise UndecidedError("the facets are too near to each other to count")
    return [[found[i][n + j] for i in range(n)] for j in range(n)]
