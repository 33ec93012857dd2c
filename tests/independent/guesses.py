"""Notions that limit the best guess: what it gains from an output, or how far off it is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.independent.rationals import ONE, Interval, Vector, dot, exactly, need, root, times
from tests.independent.reading import Inputs, distance, fraction, sequence

GUESSED = {"g-vulnerability", "attack-error"}


class Guessing:
    """What guesses gain at the inputs, between bounds, and the most that the best may gain."""

    def __init__(self, table: dict[str, Any], inputs: Inputs, prior: Vector) -> None:
        self.prior, k = prior, len(prior)
        if table["notion"] == "g-vulnerability":
            self.limit = fraction(table["limit"])
            rows = [[ONE * (x == w) for x in range(k)] for w in range(k)]
            if "gain_matrix" in table:
                given = sequence(table["gain_matrix"])
                need(given, "a guess")
                rows = [[fraction(g) for g in sequence(row, k)] for row in given]
            self.gains = [[exactly(g) for g in row] for row in rows]
            return
        apart = self._apart(table["distance"], inputs)
        top = 2 * max(high for row in apart for _, high in row)
        self.limit = top - fraction(table["least"])
        self.gains = [
            [(top - row[z][1], top - row[z][0]) for row in apart] for z in range(len(apart[0]))
        ]

    def _apart(self, kind: Any, inputs: Inputs) -> list[list[Interval]]:
        names, k = inputs.labels, len(inputs)
        if isinstance(kind, list):
            rows = sequence(kind, k)
            width = len(sequence(rows[0]))
            need(width, "a guess")
            return [[exactly(fraction(d)) for d in sequence(row, width)] for row in rows]
        if kind == "hamming":
            return [[exactly(ONE * (x != z)) for z in names] for x in names]
        points = inputs.points(names)
        need(kind in ("absolute", "squared", "euclidean"), "a distance")
        if kind == "squared":
            pairs = [[zip(a, b, strict=True) for b in points] for a in points]
            return [[exactly(sum((s - t) ** 2 for s, t in p)) for p in row] for row in pairs]
        need(kind == "euclidean" or len(points[0]) == 1, "numbers")
        found = [[distance("euclidean", a, b) for b in points] for a in points]
        return [[times(root(radicand), c) for c, radicand in row] for row in found]

    def holds(self, columns: list[Vector], more: Fraction) -> bool:
        """Decide whether no rule gains more than the limit, and so much more."""
        total = Fraction(0)
        for q in columns:
            weighed = tuple(p * v for p, v in zip(self.prior, q, strict=True))
            total += max(dot(tuple(high for _, high in row), weighed) for row in self.gains)
        return total <= self.limit + more

    def left(self, guess: int) -> Vector:
        """Return the linear form of a guess, rounded down."""
        pairs = zip(self.prior, self.gains[guess], strict=True)
        return tuple(p * low for p, (low, _) in pairs)
