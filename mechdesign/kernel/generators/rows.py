"""Listed rows, for a user's own notions, and rows on a latent variable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul

from mechdesign.kernel.arithmetic import lattice, need
from mechdesign.kernel.generators.base import Block, Generator, Key, ListedRow, Side, Test
from mechdesign.kernel.generators.lift import Lift
from mechdesign.kernel.generators.ratio import Ratio


@dataclass(frozen=True)
class Rows(Generator):
    """Listed rows: e**-exponent left . q <= right . q, for a user's own notions.

    Keys are ``("", number of the row, 0)``.
    """

    rows: tuple[ListedRow, ...]

    def row(self, key: Key, k: int, *, up: bool) -> ListedRow:
        side, n, other = key
        need(not side and not other and n < len(self.rows), "no such row in the list")
        return self.rows[n]

    def keys(self, k: int) -> Iterable[Key]:
        return (("", n, 0) for n, row in enumerate(self.rows) if any(v for _, v in row.left))

    def size(self, k: int) -> int:
        return 2 * sum(1 + len(row.left) + len(row.right) for row in self.rows)

    def moved(self, factor: Fraction, by: Fraction) -> Rows:
        rows = (replace(row, exponent=row.exponent * factor + by) for row in self.rows)
        return Rows(tuple(rows))

    def on(self, kept: Sequence[int]) -> Rows:
        place, found = {x: n for n, x in enumerate(kept)}, []
        for row in self.rows:
            if all(x in place for x, v in (*row.left, *row.right) if v):
                sides = (tuple((place[x], v) for x, v in s if v) for s in (row.left, row.right))
                found.append(ListedRow(next(sides), row.exponent, next(sides)))
        return Rows(tuple(found))

    def check(self, k: int) -> None:
        for row in self.rows:
            for side in (row.left, row.right):
                places = [x for x, _ in side]
                need(len(set(places)) == len(places), "a row has a duplicate input")
                need(
                    all(x < k and v >= 0 for x, v in side),
                    "a coefficient is below 0, or its input does not exist",
                )


@dataclass(frozen=True)
class Latent(Generator):
    """Rows on a latent variable behind the input: w = B q lies in an inner cone, for B >= 0.

    Row s of B is P(x | s), the law of the input given the value s of a sensitive attribute, so
    that w_s is the probability of the output given s. A row of the inner cone is pulled back:
    ``left . (B q)`` is ``(B' left) . q``.

    Keys are those of the inner cone.
    """

    matrix: tuple[tuple[Fraction, ...], ...]
    inner: Ratio | Lift | Rows

    def row(self, key: Key, k: int, *, up: bool) -> ListedRow:
        row = self.inner.row(key, len(self.matrix), up=up)
        return ListedRow(self._pulled(row.left), row.exponent, self._pulled(row.right))

    def _pulled(self, side: Side) -> Side:
        sums = (sum(c * self.matrix[s][x] for s, c in side) for x in range(len(self.matrix[0])))
        return tuple((x, Fraction(v)) for x, v in enumerate(sums) if v)

    def keys(self, k: int) -> Iterable[Key]:
        return self.inner.keys(len(self.matrix))

    def test(self, k: int) -> Test:
        """Return the inner test of B q, in integers over one denominator."""
        inner, (rows, _) = self.inner.test(len(self.matrix)), lattice(self.matrix)
        return lambda q: inner([sum(map(mul, row, q)) for row in rows])

    def size(self, k: int) -> int:
        return len(self.matrix) * k + self.inner.size(len(self.matrix))

    def add(self, block: Block, nodes: list[list[int]]) -> None:
        """Add the rows on w to costs of w, and pull these back: (B' cost) . q = cost . (B q).

        Products with B >= 0 are rounded down.
        """
        of_secret = [[0] * len(self.matrix) for _ in nodes]
        self.inner.add(block, of_secret)
        rows, unit = lattice(self.matrix)
        for cost, terms in zip(nodes, of_secret, strict=True):
            for row, term in zip(rows, terms, strict=True):
                if term:
                    cost[:] = [c + term * v // unit for c, v in zip(cost, row, strict=True)]

    def moved(self, factor: Fraction, by: Fraction) -> Latent:
        return replace(self, inner=self.inner.moved(factor, by))

    def check(self, k: int) -> None:
        fits = self.matrix and all(len(row) == k and min(row) >= 0 for row in self.matrix)
        need(fits, "expected a distribution of the inputs for each value of the attribute")
        self.inner.check(len(self.matrix))
