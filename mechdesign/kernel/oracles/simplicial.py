"""A cone with as many facets as inputs: its rays are the columns of an inverse.

Let f_i . q >= 0, i = 1..k, be rows that hold for private columns, independent, and r_i the columns
of F**-1. Then q = F**-1 F q = Sum_i s_i r_i with s = F q >= 0, so the r_i generate a cone that
holds every private column. Each must be >= 0.

Elimination by Gauss and Jordan takes the row with the fewest unknowns left, and in it the unknown
that is in the fewest rows (Markowitz), so that sparse rows stay sparse. Each p . q of a lift is one
more unknown: its rows have two terms then.

**Rounding.** Let every row have exactly one positive entry, in a column of its own, and a sum >= 0,
and let a path of negative entries lead from each row to one with a sum > 0. Then F is a regular
M-matrix, F**-1 is >= 0, and elimination along these positive entries keeps every sign: entries off
the diagonal stay <= 0 and right-hand sides >= 0, each a sum of products of one sign. Rounding these
towards 0 makes pivots too large and all else too small, so that the r_i' found are between 0 and
r_i. The rest is e = q - Sum_i s_i r_i' = Sum_i s_i (r_i - r_i') >= 0, and for D >= 0

    D . e  =  D . q - Sum_i (D . r_i') (f_i . q),

a linear form in q. Without such a diagonal, elimination is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.exact import exp_lower, shortened
from mechdesign.kernel.arithmetic import dot, need, over_one_denominator
from mechdesign.kernel.generators import Lift
from mechdesign.kernel.oracles.common import Ask, Found, Source
from mechdesign.kernel.statement import Statement
from mechdesign.resources import check_size

BITS = 128
"""Significant bits of e**-a and of numbers in the elimination."""

STEPS = 5
"""Steps of an exact elimination of n rows, over n**5, as its numbers grow with each row."""

ZERO, ONE = Fraction(0), Fraction(1)
Sparse = dict[int, Fraction]


@dataclass(frozen=True)
class Facet:
    """The row (side, x, other) of the generator ``place``; q_x >= 0 if that is None."""

    place: int | None
    x: int
    other: int = 0
    side: str = ""


@dataclass(frozen=True)
class Simplicial(Source):
    """A facet for each input."""

    facets: tuple[Facet, ...]

    def __call__(self, statement: Statement, ask: Ask | None) -> Found:
        """Return the rays, or rays below them and the rest, rounded up."""
        k, unknowns = statement.k, dict[tuple[Fraction, ...], int]()
        need(len(self.facets) == k, "expected a facet for each input")
        rows = [_row(statement, facet, unknowns) for facet in self.facets]
        right: list[Sparse] = [{i: ONE} for i in range(k)]
        for p, unknown in unknowns.items():
            rows.append({unknown: ONE} | {z: -v for z, v in enumerate(p) if v})
            right.append({})
        diagonal = _diagonal(rows)
        if diagonal is None and any(len(row) > 2 for row in rows[:k]):
            check_size("steps", STEPS * len(rows) ** 5, "an exact elimination")
        facets = [dict(row) for row in rows[:k]]
        solved = _solved(rows, right, diagonal)[:k]
        scaled_rays = [over_one_denominator([s.get(i, ZERO) for s in solved]) for i in range(k)]
        rays = [ray for ray, _ in scaled_rays]
        if diagonal is None:
            return Found(rays)

        def rest(D: list[int]) -> list[int]:
            found = [*map(Fraction, D), *(ZERO for _ in unknowns)]
            for facet, (ray, unit) in zip(facets, scaled_rays, strict=True):
                at = Fraction(dot(D, ray), unit)
                for x, v in facet.items():
                    found[x] -= at * v
            for p, x in unknowns.items():
                found[:k] = [v + found[x] * w for v, w in zip(found, p, strict=False)]
            return [-(-v.numerator // v.denominator) for v in found[:k]]

        return Found(rays, rest=rest)

    def count(self, statement: Statement) -> int:
        return statement.k

    def steps(self, statement: Statement) -> int:
        return 20 * statement.k**2 * (20 + statement.k)


def _row(statement: Statement, facet: Facet, unknowns: dict[tuple[Fraction, ...], int]) -> Sparse:
    """Return f with f . q >= 0: e**-a is rounded down, before the subtraction."""
    k = statement.k
    need(facet.x < k or facet.place is not None, "a facet names an input that does not exist")
    if facet.place is None:
        return {facet.x: ONE}
    need(facet.place < len(statement.cone), "a facet names a generator that does not exist")
    part, key = statement.cone[facet.place], (facet.side, facet.x, facet.other)
    row = part.row(key, k, up=True)
    if isinstance(part, Lift):
        p = part.listed()[facet.other]
        t = unknowns.setdefault(p, k + len(unknowns))
        left, right = (facet.x, t) if facet.side == "upper" else (t, facet.x)
        return {right: ONE, left: -shortened(exp_lower(-row.exponent), up=False, bits=BITS)}
    return {x: -v for x, v in row.net(weak=True, bits=BITS).items() if v}


def _solved(rows: list[Sparse], right: list[Sparse], diagonal: list[int] | None) -> list[Sparse]:
    """Return each unknown in terms of the slacks of rows; rounded down if there is a diagonal."""
    n, short = len(rows), _exactly if diagonal is None else _towards_zero
    holders: list[set[int]] = [set() for _ in range(n)]
    for e, row in enumerate(rows):
        for unknown in row:
            holders[unknown].add(e)
    waiting, found = set(range(n)), list[Sparse]([{}] * n)
    while waiting:
        e = min(waiting, key=lambda e: len(rows[e]))
        waiting.remove(e)
        need(rows[e], "the facets are not independent rows")
        pivot = min(rows[e], key=lambda u: len(holders[u])) if diagonal is None else diagonal[e]
        holders[pivot].remove(e)
        head = rows[e].pop(pivot)
        rows[e] = {unknown: short(entry / head) for unknown, entry in rows[e].items()}
        right[e] = found[pivot] = {i: short(entry / head) for i, entry in right[e].items()}
        for other in holders[pivot]:
            times = rows[other].pop(pivot)
            for row, more in ((rows[other], rows[e]), (right[other], right[e])):
                for place, entry in more.items():
                    row[place] = row.get(place, ZERO) - short(times * entry)
            for unknown in rows[e]:
                if rows[other][unknown]:
                    holders[unknown].add(other)
                else:
                    del rows[other][unknown]
                    holders[unknown].discard(other)
    return found


def _diagonal(rows: list[Sparse]) -> list[int] | None:
    """Return the unknown of the only positive entry of each row, if rounding is allowed."""
    sums = [sum(row.values(), ZERO) for row in rows]
    positive = [[unknown for unknown, entry in row.items() if entry > 0] for row in rows]
    diagonal = [unknowns[0] for unknowns in positive if len(unknowns) == 1]
    if len(set(diagonal)) < len(rows) or min(sums) < 0:
        return None
    dominated = {pivot for pivot, total in zip(diagonal, sums, strict=True) if total > 0}
    todo, into = list(dominated), dict[int, list[int]]()
    for pivot, row in zip(diagonal, rows, strict=True):
        for unknown in row:
            into.setdefault(unknown, []).append(pivot)
    while todo:
        for pivot in into[todo.pop()]:
            if pivot not in dominated:
                dominated.add(pivot)
                todo.append(pivot)
    return diagonal if len(dominated) == len(rows) else None


def _exactly(exact: Fraction) -> Fraction:
    return exact


def _towards_zero(exact: Fraction) -> Fraction:
    """Round to BITS significant bits, never away from 0."""
    found = shortened(abs(exact), False, BITS)
    return found if exact > 0 else -found
