"""How much can a column gain above its price? A tree of boxes, for every notion.

Columns are divided by their law, r = q / (P . q), so that P . r = 1. A gain that splits by inputs,
Sum_x h_x(r_x) with h_x convex, less the prices u is on a box at most, with any price s on P . r = 1
and weights w >= 0 on rows r_x <= m r_z,

    s + Sum_x max over the two ends of h_x(r) - u_x r - s P_x r - Sum w (r_x / m - r_z),

since the last sums are at most 0 and a convex function is largest at an end. The file holds a tree
that cuts the box of all columns in two, again and again, and s and w for every leaf. A box is
shrunk first to where a private column can be: r_x <= m r_z takes ends from z to x and back,
P . r = 1 from all inputs to each. One more coordinate is the least entry t of r, as t <= r_x <= t
max m. All numbers are integers over 2**160, rounded so that the bound stays above the truth.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.gains import coordinate_gain
from mechdesign.certify.fixed_point import BITS, SCALE, scaled_down, scaled_up
from mechdesign.certify.privacy.check import is_for_own_prior, lift_limits, ratio_limits
from mechdesign.certify.problem import Statement, number
from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_lower, exp_upper

__all__ = ["surplus_by_boxes"]

SWEEPS = 2

Box = list[tuple[int, int]]
"""The ends of r_x for every input, and of the least entry."""


def surplus_by_boxes(statement: Statement, u: list[Fraction], tree: list[Any]) -> Fraction:
    """Return a bound on Sum_x (h_x(r_x) - u_x r_x) over all private columns.

    Parameters
    ----------
    statement, u
        The problem, and the prices.
    tree
        In the order of a walk that goes to the lower part first: ``[x, cut]`` where a box is cut
        at the entry ``x`` (the number of inputs stands for the least entry), else a leaf
        ``[s, [x, ...], [z, ...], [w, ...]]``.
    """
    search = _Search(statement, u)
    todo: list[Box | None] = [search.root()]
    most: int | None = None
    for item in tree:
        if not todo:
            raise CertificateError("the tree of boxes has too many leaves")
        box = todo.pop()
        if box is not None and (search.has_ratios or len(item) != 2):
            box = search.shrunk(box)
        if len(item) == 2:
            x, cut = item[0], scaled_down(number(item[1]))
            if type(x) is not int or not 0 <= x <= search.size:
                raise CertificateError(f"a box is cut at an entry that does not exist: {x!r:.60}")
            if box is None:
                todo += [None, None]
            else:
                low, high = box[x]
                cut = min(max(cut, low), high)
                todo += [[*box[:x], part, *box[x + 1 :]] for part in ((cut, high), (low, cut))]
        elif box is not None:
            bound = search.bound(box, *item)
            most = bound if most is None else max(most, bound)
    if todo or most is None:
        raise CertificateError("the tree of boxes is not complete")
    return Fraction(most, SCALE)


class _Search:
    """What the boxes are shrunk and judged by."""

    def __init__(self, statement: Statement, u: list[Fraction]) -> None:
        self.statement, self.prices, self.size = statement, u, len(statement.prior)
        self.prior = [(scaled_down(p), scaled_up(p)) for p in statement.prior]
        self.ratios, self.low, self.high = self._limits()
        against = [[m for m in row if m is not None] for row in self.ratios]
        self.tops = [
            max(SCALE, *row) if row and len(row) == self.size - 1 else None for row in against
        ]

        self.has_ratios = any(against)
        self._worth: dict[tuple[int, int], int] = {}

    def _limits(self) -> tuple[list[list[int | None]], int, int | None]:
        """Return the bounds m on r_x / r_z, chained, and those on every r_x, rounded outward."""
        k = self.size
        ratios: list[list[int | None]] = [[None] * k for _ in range(k)]
        low, high = 0, None
        for table in self.statement.privacy:
            limits = ratio_limits(self.statement, table)
            if limits is not None:
                for x, row in enumerate(limits):
                    for z, limit in enumerate(row):
                        if limit is not None and z != x and limit[0] <= LARGEST_EXPONENT:
                            new = scaled_up(exp_upper(limit[0]) * limit[1])
                            old = ratios[x][z]
                            ratios[x][z] = new if old is None else min(old, new)
            elif is_for_own_prior(self.statement, table):
                upper, lower = lift_limits(table)
                if lower is not None:
                    low = max(low, scaled_down(exp_lower(-lower)))
                if upper is not None and upper <= LARGEST_EXPONENT:
                    top = scaled_up(exp_upper(upper))
                    high = top if high is None else min(high, top)
        for y in range(k):
            for x in range(k):
                first = ratios[x][y]
                for z, second in enumerate(ratios[y]):
                    if first is not None and second is not None and z != x:
                        chained, direct = -(-first * second >> BITS), ratios[x][z]
                        ratios[x][z] = chained if direct is None else min(direct, chained)
        return ratios, low, high

    def root(self) -> Box:
        """Return the box of all columns: r_x' >= r_x e**-a and P . r = 1 bound every entry."""
        box = []
        for x, p in enumerate(self.statement.prior):
            share, spread = p, p or Fraction(0)
            bounded = True
            for z, q in enumerate(self.statement.prior):
                up, down = self.ratios[x][z], self.ratios[z][x]
                if z != x and up is not None:
                    share += q * SCALE / up
                if z != x and q:
                    bounded = bounded and down is not None
                    spread += q * Fraction(down or 0, SCALE)
            ends = [] if self.high is None else [self.high]
            if share:
                ends.append(scaled_up(1 / share))
            if not ends:
                raise CertificateError("an entry that never counts is not bounded")
            low = scaled_down(1 / spread) if bounded and spread else 0
            box.append((max(self.low, low), min(ends)))
        return [*box, (min(low for low, _ in box), min(SCALE, *(high for _, high in box)))]

    def shrunk(self, box: Box) -> Box | None:
        """Return the part of a box where a private column can be; None if there is none."""
        k = self.size
        least, most = box[k]
        low = [max(a, least) for a, _ in box[:k]]
        high = [
            b if top is None else min(b, -(-top * most >> BITS))
            for (_, b), top in zip(box, self.tops, strict=False)
        ]
        for _ in range(SWEEPS):
            for x, row in enumerate(self.ratios):
                for z, m in enumerate(row):
                    if m is not None:
                        high[x] = min(high[x], -(-m * high[z] >> BITS))
                        low[z] = max(low[z], (low[x] << BITS) // m)
            below = sum(p * a for (p, _), a in zip(self.prior, low, strict=True))
            above = sum(p * b for (_, p), b in zip(self.prior, high, strict=True))
            for x, (p, q) in enumerate(self.prior):
                if p:  # what the others leave of 1
                    room = -(-((SCALE << BITS) - below + p * low[x]) // p)
                    need = ((SCALE << BITS) - above + q * high[x]) // q
                    high[x], low[x] = min(high[x], room), max(low[x], need)
            if any(a > b for a, b in zip(low, high, strict=True)):
                return None
        least, most = max(least, min(low)), min(most, *high)
        return [*zip(low, high, strict=True), (least, most)] if least <= most else None

    def bound(
        self, box: Box, price: Any, rows: list[int], others: list[int], weights: list[Any]
    ) -> int:
        """Return the bound on a box that a price on P . r = 1 and weights on rows prove."""
        s = scaled_down(number(price))
        linear = [Fraction(0)] * self.size  # taken from the gain, for each unit of r_x
        for x, z, given in zip(rows, others, weights, strict=True):
            w, m = number(given), self.ratios[x][z] if min(x, z) >= 0 else None
            if w < 0 or m is None:
                raise CertificateError("a weight is negative, or on a row that does not exist")
            linear[x] += w * SCALE / m
            linear[z] -= w
        total = s
        for x, (low, high) in enumerate(box[: self.size]):
            p = self.prior[x][s < 0]  # so that s P_x r is rounded down, and with it what is taken
            ends = (
                self._at(x, r) - (s * p * r >> 2 * BITS) - scaled_down(linear[x] * r / SCALE)
                for r in (low, high)
            )
            total += max(ends) + 1
        return total

    def _at(self, x: int, r: int) -> int:
        """Return h_x(r) - u_x r, rounded up; boxes share most of their ends."""
        if (x, r) not in self._worth:
            point = Fraction(r, SCALE)
            exact = coordinate_gain(self.statement, x, point) - self.prices[x] * point
            self._worth[x, r] = scaled_up(exact)
        return self._worth[x, r]
