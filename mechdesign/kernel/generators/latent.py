"""Rows on a latent variable behind the input: w = B q lies in an inner cone, for B >= 0.

Row s of B is P(x | s), the law of the input given the value s of a sensitive attribute, so that w_s
is the probability of the output given s. A row of the inner cone is pulled back: ``left . (B q)``
is ``(B' left) . q``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import mul

from mechdesign.kernel.arithmetic import lattice, need
from mechdesign.kernel.generators.base import Block, Generator, Key, ListedRow, Side, Test
from mechdesign.kernel.generators.lift import Lift
from mechdesign.kernel.generators.ratio import Ratio
from mechdesign.kernel.generators.rows import Rows


@dataclass(frozen=True)
class Latent(Generator):
    """Keys are those of the inner cone."""

    matrix: tuple[tuple[Fraction, ...], ...]
    inner: Ratio | Lift | Rows

    def row(self, key: Key, k: int, *, up: bool) -> ListedRow:
        """Return a row of the inner cone, pulled back to the inputs."""
        row = self.inner.row(key, len(self.matrix), up=up)
        return ListedRow(self._pulled(row.left), row.exponent, self._pulled(row.right))

    def _pulled(self, side: Side) -> Side:
        sums = (sum(c * self.matrix[s][x] for s, c in side) for x in range(len(self.matrix[0])))
        return tuple((x, Fraction(v)) for x, v in enumerate(sums) if v)

    def keys(self, k: int) -> Iterable[Key]:
        """Return the keys of the inner cone."""
        return self.inner.keys(len(self.matrix))

    def test(self, k: int) -> Test:
        """Return the inner test of B q, in integers over one denominator."""
        inner, (rows, _) = self.inner.test(len(self.matrix)), lattice(self.matrix)
        return lambda q: inner([sum(map(mul, row, q)) for row in rows])

    def size(self, k: int) -> int:
        """Return the number of entries of a column that the test reads."""
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
        """Return the rows with every exponent times a number, plus a number."""
        return replace(self, inner=self.inner.moved(factor, by))

    def check(self, k: int) -> None:
        """Raise unless B has k columns and entries >= 0, and fits the inner cone."""
        fits = self.matrix and all(len(row) == k and min(row) >= 0 for row in self.matrix)
        need(fits, "expected a distribution of the inputs for each value of the attribute")
        self.inner.check(len(self.matrix))
