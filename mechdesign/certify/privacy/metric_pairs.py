"""Distances between inputs, and the pairs of inputs that imply metric privacy for all pairs.

If q_x <= e**(epsilon d(x, z)) q_z and q_z <= e**(epsilon d(z, x')) q_x', then the two multiply to
q_x <= e**(epsilon d(x, x')) q_x' wherever d(x, z) + d(z, x') = d(x, x'), whatever epsilon >= 0; and
with e**(epsilon d) rounded down they multiply to less than that. So a pair need not be checked if
another input is on a shortest path between the two:

* on a line, with any distance, neighbors in sorted order are enough;
* on a grid with the walking distance, pairs one step apart;
* on other points of a plane all pairs are checked;
* on a grid with the Euclidean distance, pairs that see each other: row and column steps without a
  common factor g > 1, since otherwise points of the grid cut the segment in g equal parts.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise
from math import gcd
from typing import Any

from mechdesign.certify.problem import Statement
from mechdesign.errors import CertificateError
from mechdesign.exact import sqrt_lower, sqrt_upper
from mechdesign.resources import spend

__all__ = ["distances_between", "line_order", "sufficient_pairs"]


ROOT_STEPS = 20
"""Steps of a distance whose numbers have few digits."""


def distances_between(
    statement: Statement, kind: Any, up: bool = False
) -> Callable[[int, int], Fraction]:
    """Return the distance of two inputs as a function of them, rounded where irrational.

    Down for a check of privacy, so that what passes is private at the true distances; up for a
    bound on every channel that is private at these.
    """
    if statement.points is None:
        raise CertificateError(f"the inputs have no coordinates for the distance {kind!r}")
    places, unit = statement.lattice
    dimension = len(places[0])
    if kind == "absolute" and dimension > 1:
        raise CertificateError(f"no distance {kind!r:.60} is known in {dimension} dimensions")
    straight = kind == "euclidean" and dimension > 1
    known: dict[int, Fraction] = {}
    root = sqrt_upper if up else sqrt_lower

    def distance(x: int, z: int) -> Fraction:
        steps = [abs(s - t) for s, t in zip(places[x], places[z], strict=True)]
        size = sum(step * step for step in steps) if straight else sum(steps)
        if size not in known:
            spend(ROOT_STEPS + ((size.bit_length() + unit.bit_length()) // 64) ** 2, "a distance")
            exact = Fraction(size, unit * unit if straight else unit)
            known[size] = root(exact) if straight else exact
        return known[size]

    return distance


def line_order(statement: Statement) -> list[int]:
    """Return the inputs in the order of their numbers; as they come where they are none."""
    order = list(range(len(statement.labels)))
    points = statement.points
    return order if points is None or len(points[0]) > 1 else sorted(order, key=points.__getitem__)


def sufficient_pairs(statement: Statement, kind: str) -> dict[Fraction, list[tuple[int, int]]]:
    """Return the ordered pairs of inputs that imply all others, by their distance."""
    distance = distances_between(statement, kind)
    if len(statement.lattice[0][0]) == 1:
        order = line_order(statement)
        near = list(pairwise(order))
    elif statement.spacing is None:
        spend(6 * len(statement.labels) ** 2, "pairs of points")
        near = list(combinations(range(len(statement.labels)), 2))
    else:
        near = _grid_pairs(statement, longest=1 if kind == "manhattan" else None)
    spend(12 * len(near), "distances")
    found: dict[Fraction, list[tuple[int, int]]] = {}
    for x, z in near:
        found.setdefault(distance(x, z), []).extend([(x, z), (z, x)])
    return found


def _grid_pairs(statement: Statement, longest: int | None) -> list[tuple[int, int]]:
    """Return the pairs of a grid, each once, that see each other, at most so many steps apart."""
    place = {(row, column): x for x, (row, column) in enumerate(statement.labels)}
    rows, columns = (1 + max(label[i] for label in statement.labels) for i in (0, 1))
    spend(4 * rows * columns, "steps on the grid")
    steps = [
        (down, right)
        for down in range(rows)
        for right in range(1 - columns, columns)
        if (down, right) > (0, 0)
        and gcd(down, right) == 1
        and (longest is None or down + abs(right) <= longest)
    ]
    spend(6 * len(place) * len(steps), "pairs on the grid")
    pairs = (
        (x, place.get((row + down, column + right)))
        for (row, column), x in place.items()
        for down, right in steps
    )
    return [(x, z) for x, z in pairs if z is not None]
