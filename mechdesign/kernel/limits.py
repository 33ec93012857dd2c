"""Limits on the channel as a whole: `gauge` and `information`.

A gauge is Sum_y max_j A_j . q_y <= e**exponent limit, with parts A_j = ``e**-a left - right``:
maximal leakage, g-vulnerability, attack error (with negative entries); of the approximate notions
each row is a gauge of two parts, 0 and the row. The cone is the case of the parts 0 and a row, and
the limit 0. An information is I(X; Y) <= limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from mechdesign.exact import exp_lower, exp_upper, shortened
from mechdesign.kernel.arithmetic import lattice, need, over_one_denominator
from mechdesign.kernel.gains import Entropy
from mechdesign.kernel.generators import ListedRow, Rows, distribution
from mechdesign.kernel.schema import Kind

Columns = Sequence[Sequence[int]]
Sums = dict[Any, Any]
"""Sums of columns that limits share: of sides of rows, of parts, and information."""

NOTHING = ListedRow((), Fraction(0), ())


@dataclass(frozen=True)
class Gauge(Kind):
    """Sum_y max_j A_j . q_y <= e**exponent limit, with ``A_j = e**-a left - right`` listed.

    For irrational coefficients, ``parts`` are upper bounds for checks, and ``below`` lower bounds
    for proofs of bounds.
    """

    parts: tuple[ListedRow, ...]
    limit: Fraction
    exponent: Fraction = Fraction(0)
    below: tuple[ListedRow, ...] | None = None

    def nets(self, *, weak: bool) -> list[dict[int, Fraction]]:
        """Return the parts A_j, rounded down for bounds (``weak``), up for checks."""
        parts = self.below if weak and self.below is not None else self.parts
        return [part.net(weak=weak) for part in parts]

    def most(self, *, up: bool) -> Fraction:
        """Return e**exponent limit, rounded; for a negative limit the bounds are swapped."""
        rounded = exp_upper if up == (self.limit >= 0) else exp_lower
        return rounded(self.exponent) * self.limit

    @property
    def _is_excess(self) -> bool:
        """Whether it is Sum_y (A . q_y)_+, whose sides other limits may share."""
        return len(self.parts) == 2 and self.parts[0] == NOTHING

    def holds(self, columns: Columns, whole: int, sums: Sums | None = None) -> bool:
        """Return whether integer columns over one unit satisfy the limit, exactly."""
        sums = {} if sums is None else sums
        most = self.most(up=False)
        if self._is_excess:
            factor = shortened(exp_upper(-self.parts[1].exponent), True)
            total = self._excess(self.parts[1], factor, columns, sums)
            if self.exponent == -self.parts[1].exponent:
                most = factor * self.limit  # (F left - right)_+ <= F limit, for F >= e**-a alone
        else:
            if self.parts not in sums:
                sums[self.parts] = self._total(columns)
            total = sums[self.parts]
        return total <= most * whole

    def _total(self, columns: Columns) -> Fraction:
        """Return Sum_y max_j A_j . q_y."""
        nets = self.nets(weak=False)
        ints, unit = lattice([list(net.values()) for net in nets])
        parts = [list(zip(*pair, strict=True)) for pair in zip(nets, ints, strict=True)]
        largest = (max([sum([v * q[x] for x, v in part]) for part in parts]) for q in columns)
        return Fraction(sum(largest), unit)

    @staticmethod
    def _excess(row: ListedRow, factor: Fraction, columns: Columns, sums: Sums) -> Fraction:
        """Return Sum_y (factor left . q - right . q)_+.

        Many rows share their sides: ``sums`` caches their values at each column.
        """
        for side in (row.left, row.right):
            if id(side) not in sums:
                flat, unit = over_one_denominator(v for _, v in side)
                terms = list(zip((x for x, _ in side), flat, strict=True))
                sums[id(side)] = [sum([v * q[x] for x, v in terms]) for q in columns], unit
        (left, a), (right, b) = sums[id(row.left)], sums[id(row.right)]
        up, down = factor.numerator * b, factor.denominator * a
        above = [up * v - down * w for v, w in zip(left, right, strict=True)]
        return Fraction(sum([v for v in above if v > 0]), factor.denominator * a * b)

    def size(self, k: int, seen: set[int]) -> int:
        """Return the entries of a column that the check reads, without sides already ``seen``."""
        if not self._is_excess:
            return 5 + sum(1 + len(part.left) + len(part.right) for part in self.parts)
        sides = {id(side): len(side) for side in (self.parts[1].left, self.parts[1].right)}
        new = sides.keys() - seen
        seen |= new
        return 3 + sum(2 + sides[side] for side in new)

    def moved(self, factor: Fraction, by: Fraction) -> Gauge:
        """Return the limit with its exponents times a number, and weaker by a number (if > 0)."""
        parts, below = (Rows(r or ()).moved(factor, by).rows for r in (self.parts, self.below))
        exponent = self.exponent * factor + (by if self.limit >= 0 else -by)
        return replace(self, parts=parts, below=self.below and below, exponent=exponent)

    def on(self, kept: Sequence[int]) -> Gauge | None:
        """Return the limit with the parts on kept inputs, whose maximum is not larger."""
        parts, below = (Rows(rows or ()).on(kept).rows for rows in (self.parts, self.below))
        return replace(self, parts=parts, below=self.below and below) if parts else None

    def check(self, k: int) -> None:
        need(self.parts, "expected at least one part of a limit")
        Rows((*self.parts, *(self.below or ()))).check(k)
        if self.below is not None:
            pairs = zip(self.parts, self.below, strict=False)
            fits = len(self.below) == len(self.parts) and all(_is_below(b, a) for a, b in pairs)
            need(fits, "a part of a limit for bounds exceeds that for checks")


def _is_below(low: ListedRow, high: ListedRow) -> bool:
    """Return whether ``e**-a left - right`` of one row is at most that of another."""
    (a, b), (c, d) = ((dict(row.left), dict(row.right)) for row in (low, high))
    return (
        low.exponent == high.exponent
        and all(v <= c.get(x, 0) for x, v in a.items())
        and all(v <= b.get(x, 0) for x, v in d.items())
    )


@dataclass(frozen=True)
class Information(Kind):
    """Sum_y Sum_x P_x q_x ln(q_x / P . q) <= limit, in nats."""

    prior: tuple[Fraction, ...]
    limit: Fraction

    def holds(self, columns: Columns, whole: int, sums: Sums | None = None) -> bool:
        """Return whether integer columns over one unit satisfy the limit: rounded up."""
        sums = {} if sums is None else sums
        if self.prior not in sums:
            form = Entropy.of_inputs(self.prior)
            sums[self.prior] = sum((form(q, up=True) for q in columns), Fraction(0))
        return bool(sums[self.prior] <= self.limit * whole)

    def size(self, k: int, seen: set[int]) -> int:
        """Return the work of the check of a column: a long logarithm for each entry."""
        return 250 * k

    def moved(self, factor: Fraction, by: Fraction) -> Information:
        return replace(self, limit=self.limit * factor + by)

    def on(self, kept: Sequence[int]) -> Information | None:
        prior = tuple(self.prior[x] for x in kept)
        return replace(self, prior=prior) if sum(prior) == 1 else None

    def check(self, k: int) -> None:
        distribution(self.prior, k)


Limit = Gauge | Information
"""A limit, of one of the two kinds."""
