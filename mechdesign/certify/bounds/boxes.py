"""Upper bounds on the reduced gain of a column, by branch and bound over boxes of lifts.

A private column is divided by its probability, r = q / (P . q), so that P . r = 1. Its gain is
Sum_x h_x(r_x) with every h_x convex. Let u be potentials of the inputs. On a box of lifts, with any
multiplier s of P . r = 1 and any multipliers w >= 0 of the rows r_x <= m r_z,

    Sum_x h_x(r_x) - u . r  <=  s + Sum_x max over both ends r of the box of
                                    h_x(r) - u_x r - s P_x r - (terms of w (r_x / m - r_z) in r).

This is Lagrangian duality: s (P . r - 1) is 0 and w (r_x / m - r_z) is at most 0 for every private
column, so that taking them away lowers nothing; what is left is a sum of convex functions of one
entry each, and a convex function on an interval is largest at an end.

The certificate holds the tree of a branch and bound: it cuts the box of all columns in two, again
and again, and has s and w for every leaf. The largest bound of a leaf is a bound for all columns.
Before a leaf is bounded, its box shrinks to where private columns can be (bound propagation): an
upper end of r_z bounds r_x by r_x <= m r_z, a lower end of r_x bounds r_z, and P . r = 1 bounds
each entry by all others. One more coordinate is the least entry t of r: t <= r_x <= t max m.

All numbers are integers over 2**160. Ends of boxes are rounded outward, bounds are rounded up.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.gains import coordinate_gain
from mechdesign.certify.bounds.outward import bounded_pairs, lift_range, ratio_ceiling
from mechdesign.certify.fixed_point import BITS, SCALE, fraction_steps, scaled_down, scaled_up
from mechdesign.certify.privacy.check import is_for_own_prior, ratio_limits
from mechdesign.certify.problem import Statement, check_indices, number
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["reduced_gain_by_boxes"]

SWEEPS = 2
"""Rounds of bound propagation on a box. More would shrink it further; two cost less than a cut."""

Box = list[tuple[int, int]]
"""Both ends of r_x for every input, and last those of the least entry."""


def reduced_gain_by_boxes(statement: Statement, u: list[Fraction], tree: list[Any]) -> Fraction:
    """Return an upper bound on Sum_x (h_x(r_x) - u_x r_x) over all private columns.

    Parameters
    ----------
    statement, u
        The problem, and the potentials.
    tree
        In the order of a walk that goes to the lower part first: ``[x, cut]`` where a box is cut
        at the entry ``x`` (the number of inputs stands for the least entry), else a leaf
        ``[s, [x, ...], [z, ...], [w, ...]]``.
    """
    region = _LiftRegion(statement, u)
    todo: list[Box | None] = [region.root()]
    most: int | None = None
    for item in tree:
        if not todo:
            raise CertificateError("the tree of boxes has too many leaves")
        box = todo.pop()
        if box is not None and (region.has_ratios or len(item) != 2):
            spend(region.steps, "boxes")
            box = region.shrunk(box)
        if len(item) == 2:
            x, cut = item[0], scaled_down(number(item[1]))
            check_indices([x], region.size + 1, "a box is cut at an entry")
            if box is None:
                todo += [None, None]
            else:
                low, high = box[x]
                cut = min(max(cut, low), high)
                todo += [[*box[:x], part, *box[x + 1 :]] for part in ((cut, high), (low, cut))]
        elif box is not None:
            bound = region.bound(box, *item)
            most = bound if most is None else max(most, bound)
    if todo or most is None:
        raise CertificateError("the tree of boxes is not complete")
    return Fraction(most, SCALE)


class _LiftRegion:
    """The lifts of all private columns, for a gain less potentials.

    It contains them, and may be larger: every bound that defines it is rounded outward.
    """

    def __init__(self, statement: Statement, u: list[Fraction]) -> None:
        self.statement, self.potentials, self.size = statement, u, len(statement.prior)
        self.prior = [(scaled_down(p), scaled_up(p)) for p in statement.prior]
        self.ratios, self.low, self.high = self._limits()
        against = [[m for m in row if m is not None] for row in self.ratios]
        self.tops = [
            max(SCALE, *row) if row and len(row) == self.size - 1 else None for row in against
        ]
        self.has_ratios = any(against)
        self.steps = self.size * (20 + 2 * SWEEPS * self.size) if any(against) else 20 * self.size
        """Of shrinking a box and bounding it, but for the weights of a leaf."""
        self._worth: dict[tuple[int, int], int] = {}

    def _limits(self) -> tuple[list[list[int | None]], int, int | None]:
        """Return the bounds m on r_x / r_z, chained, and those on every r_x, rounded outward."""
        k = self.size
        ratios: list[list[int | None]] = [[None] * k for _ in range(k)]
        low, high = 0, None  # of r_x
        for table in self.statement.privacy:
            limits = ratio_limits(self.statement, table)
            if limits is not None:
                for x, z, limit in bounded_pairs(limits):
                    ceiling = ratio_ceiling(limit)
                    if ceiling is not None:
                        ratios[x][z] = _smaller(ratios[x][z], scaled_up(ceiling))
            elif is_for_own_prior(self.statement, table):
                least, most = lift_range(table)
                low = max(low, scaled_down(least))
                if most is not None:
                    high = _smaller(high, scaled_up(most))
        # Floyd and Warshall: r_x <= m r_y and r_y <= m' r_z give r_x <= m m' r_z
        for y in range(k):
            spend(2 * k * k, "ratios of lifts")
            for x in range(k):
                first = ratios[x][y]
                for z, second in enumerate(ratios[y]):
                    if first is not None and second is not None and z != x:
                        ratios[x][z] = _smaller(ratios[x][z], -(-first * second >> BITS))
        return ratios, low, high

    def root(self) -> Box:
        """Return the box of all columns: r_x' >= r_x e**-a and P . r = 1 bound every entry."""
        box, k = [], self.size
        for x, p in enumerate(self.statement.prior):
            share, spread = p, p or Fraction(0)
            bounded = True
            spend(2 * k * fraction_steps(p.denominator.bit_length() + k * BITS), "the first box")
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
                if p:  # r_x is what the other entries leave of P . r = 1, divided by P_x
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
        """Return the upper bound on a box that the multipliers of a leaf prove.

        ``price`` is that of P . r = 1; ``weights`` are those of the rows r_x <= m r_z, with x from
        ``rows`` and z from ``others``.
        """
        s = scaled_down(number(price))
        linear = [Fraction(0)] * self.size  # what the rows take from the gain, by unit of r_x
        for x, z, given in zip(rows, others, weights, strict=True):
            spend(4 * fraction_steps(linear[x].denominator.bit_length()), "weights of a box")
            w, m = number(given), self.ratios[x][z] if min(x, z) >= 0 else None
            if w < 0 or m is None:
                raise CertificateError("a multiplier is negative, or of a row that does not exist")
            linear[x] += w * SCALE / m
            linear[z] -= w
        total = s
        for x, (low, high) in enumerate(box[: self.size]):
            # s P_x r is subtracted, so that it is rounded down: with P_x from below if s >= 0
            spend(3 * fraction_steps(linear[x].denominator.bit_length()), "ends of a box")
            p = self.prior[x][s < 0]
            ends = (
                self._at(x, r) - (s * p * r >> 2 * BITS) - scaled_down(linear[x] * r / SCALE)
                for r in (low, high)
            )
            total += max(ends) + 1  # rounded up as it is; one unit to spare
        return total

    def _at(self, x: int, r: int) -> int:
        """Return h_x(r) - u_x r, rounded up. Boxes share most of their ends: values are kept."""
        if (x, r) not in self._worth:
            point = Fraction(r, SCALE)
            exact = coordinate_gain(self.statement, x, point) - self.potentials[x] * point
            self._worth[x, r] = scaled_up(exact)
        return self._worth[x, r]


def _smaller(bound: int | None, other: int) -> int:
    """Return the smaller of two upper bounds, where None stands for no bound."""
    return other if bound is None else min(bound, other)
