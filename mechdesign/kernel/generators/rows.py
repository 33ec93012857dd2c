"""Listed rows: e**-exponent left . q <= right . q, for a user's own notions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators.base import Generator, Key, ListedRow


@dataclass(frozen=True)
class Rows(Generator):
    """Keys are ``("", number of the row, 0)``."""

    rows: tuple[ListedRow, ...]

    def row(self, key: Key, k: int, *, up: bool) -> ListedRow:
        """Return a row of the list."""
        side, n, other = key
        need(not side and not other and n < len(self.rows), "no such row in the list")
        return self.rows[n]

    def keys(self, k: int) -> Iterable[Key]:
        """Return the number of each nonempty row."""
        return (("", n, 0) for n, row in enumerate(self.rows) if any(v for _, v in row.left))

    def size(self, k: int) -> int:
        """Return the number of entries of a column that the test reads."""
        return 2 * sum(1 + len(row.left) + len(row.right) for row in self.rows)

    def moved(self, factor: Fraction, by: Fraction) -> Rows:
        """Return the rows with every exponent times a number, plus a number."""
        rows = (replace(row, exponent=row.exponent * factor + by) for row in self.rows)
        return Rows(tuple(rows))

    def on(self, kept: Sequence[int]) -> Rows:
        """Return the rows on kept inputs only."""
        place, found = {x: n for n, x in enumerate(kept)}, []
        for row in self.rows:
            if all(x in place for x, v in (*row.left, *row.right) if v):
                sides = (tuple((place[x], v) for x, v in s if v) for s in (row.left, row.right))
                found.append(ListedRow(next(sides), row.exponent, next(sides)))
        return Rows(tuple(found))

    def check(self, k: int) -> None:
        """Raise unless all coefficients are >= 0 and of inputs, each once."""
        for row in self.rows:
            for side in (row.left, row.right):
                places = [x for x, _ in side]
                need(len(set(places)) == len(places), "a row has a duplicate input")
                need(
                    all(x < k and v >= 0 for x, v in side),
                    "a coefficient is below 0, or its input does not exist",
                )
