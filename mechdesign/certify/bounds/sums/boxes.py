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
each entry by all others. Both together say more: for every set S of inputs,

    1  =  P . r  >=  Sum_{z in S} (P_z / m_xz) r_x  +  Sum_{z not in S} P_z low_z,

and likewise from below. Two more coordinates are the least entry t of r, t <= r_x <= t max m, and
the greatest, T.

A notion that bounds lifts, for one prior or a set of them, holds exactly if for all its priors P'

    e**-a T <= P' . r    and    e**-b (P' . r) <= t.

With t <= r_x and r_x <= T these are rows too, of r, t and T; the certificate names the priors.

All numbers are integers over 2**160. Ends of boxes are rounded outward, bounds are rounded up.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.outward import bounded_pairs, lift_range, ratio_ceiling
from mechdesign.certify.bounds.sums.gains import coordinate_gain
from mechdesign.certify.fixed_point import BITS, SCALE, fraction_steps, scaled_down, scaled_up
from mechdesign.certify.privacy.check import lift_limits, ratio_limits
from mechdesign.certify.privacy.linear_rows import is_linear
from mechdesign.certify.privacy.prior_sets import has_member, prior_bounds, read_members
from mechdesign.certify.problem import SECRET, Statement, check_indices, number
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["reduced_gain_by_boxes"]

SWEEPS = 2
"""Rounds of bound propagation on a box. More would shrink it further; two cost less than a cut."""

TIE = 40
"""Terms are equal that differ by less than 2**-40 of them."""

Box = list[tuple[int, int]]
"""Both ends of r_x for every input, and last those of the least entry and of the greatest."""


def reduced_gain_by_boxes(
    statement: Statement,
    u: list[Fraction],
    tree: list[Any],
    priors: dict[str, Any] | None = None,
) -> Fraction:
    """Return an upper bound on Sum_x (h_x(r_x) - u_x r_x) over all private columns.

    Parameters
    ----------
    statement, u
        The problem, and the potentials.
    tree
        In the order of a walk that goes to the lower part first: ``[x, cut]`` where a box is cut
        at the entry ``x`` (with k inputs, k stands for the least entry and k + 1 for the greatest),
        else a leaf ``[s, [x, ...], [z, ...], [w, ...]]``. In a leaf k + 2 + j stands for P' . r
        with the prior P' number j of those that are listed.
    priors
        For notions that bound lifts, by number: priors of theirs whose rows are used.
    """
    region = _LiftRegion(statement, u, priors or {})
    todo: list[Box | None] = [region.root()]
    most: int | None = None
    for item in tree:
        if not todo:
            raise CertificateError("the tree of boxes has too many leaves")
        box = todo.pop()
        if box is not None and (region.is_joined or len(item) != 2):
            spend(region.steps, "boxes")
            box = region.shrunk(box)
        if len(item) == 2:
            x, cut = item[0], scaled_down(number(item[1]))
            check_indices([x], region.size + 2, "a box is cut at an entry")
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

    def __init__(self, statement: Statement, u: list[Fraction], priors: dict[str, Any]) -> None:
        self.statement, self.potentials, self.size = statement, u, len(statement.prior)
        self.prior = [(scaled_down(p), scaled_up(p)) for p in statement.prior]
        self.spread: int | None = None
        """A bound on T / t."""
        self.listed: list[tuple[list[Fraction], int | None, int | None]] = []
        """Priors P', each with bounds on T / (P' . r) and on (P' . r) / t."""
        self.ratios, self.low, self.high = self._limits(priors)
        against = [[m for m in row if m is not None] for row in self.ratios]
        self.tops = [
            max(SCALE, *row) if row and len(row) == self.size - 1 else None for row in against
        ]
        self._chained = any(against)
        self.is_joined = self._chained or self.spread is not None
        """Whether bounds on one entry follow from those on another."""
        self._rows: list[list[tuple[int, int, int]]] = [[] for _ in self.prior]
        """For each x all (z, m, 1/m rounded down) of rows r_x <= m r_z."""
        self._shares, self._loads = ([[0] * self.size for _ in self.prior] for _ in range(2))
        """What P_z r_z is at least and at most for r_x = 1: P_z / m_xz and P_z m_zx, or 0."""
        for x, row in enumerate(self.ratios):
            for z, m in enumerate(row):
                if m is not None:
                    self._rows[x].append((z, m, (SCALE << BITS) // m))
                    self._shares[x][z] = (self.prior[z][0] << BITS) // m
                    self._loads[z][x] = -(-self.prior[x][1] * m >> BITS)
            self._shares[x][x], self._loads[x][x] = self.prior[x]
        self.steps = self.size * (20 + 2 * SWEEPS * self.size) if self._chained else 20 * self.size
        """Of shrinking a box and bounding it, but for the weights of a leaf."""
        self._worth: dict[tuple[int, int], int] = {}

    def _limits(self, priors: dict[str, Any]) -> tuple[list[list[int | None]], int, int | None]:
        """Return the bounds m on r_x / r_z, chained, and those on every r_x, rounded outward."""
        k = self.size
        ratios: list[list[int | None]] = [[None] * k for _ in range(k)]
        low, high = 0, None  # of r_x
        for n, table in enumerate(self.statement.privacy):
            limits = ratio_limits(self.statement, table)
            if limits is not None:
                for x, z, limit in bounded_pairs(limits):
                    ceiling = ratio_ceiling(limit)
                    if ceiling is not None:
                        ratios[x][z] = _smaller(ratios[x][z], scaled_up(ceiling))
            elif table["notion"] != SECRET and not is_linear(table):
                (least, most), asked = lift_range(table), prior_bounds(self.statement, table)
                if has_member(asked, self.statement.prior):
                    low = max(low, scaled_down(least))
                    if most is not None:
                        high = _smaller(high, scaled_up(most))
                if asked[0] != [self.statement.prior]:
                    self._read_priors(table, priors.get(str(n), []))
        # Floyd and Warshall: r_x <= m r_y and r_y <= m' r_z give r_x <= m m' r_z
        for y in range(k):
            spend(2 * k * k, "ratios of lifts")
            for x in range(k):
                first = ratios[x][y]
                for z, second in enumerate(ratios[y]):
                    if first is not None and second is not None and z != x:
                        ratios[x][z] = _smaller(ratios[x][z], -(-first * second >> BITS))
        return ratios, low, high

    def _read_priors(self, table: dict[str, Any], given: Any) -> None:
        """Take the bounds of one notion that e**-a T <= P' . r and e**-b (P' . r) <= t."""
        up, down = (
            None if exponent is None else ratio_ceiling((exponent, Fraction(1)))
            for exponent in lift_limits(table)
        )
        of_top, of_mean = (None if m is None else scaled_up(m) for m in (up, down))
        if of_top is not None and of_mean is not None:
            self.spread = _smaller(self.spread, -(-of_top * of_mean >> BITS))
        for prior in read_members(self.statement, table, given):
            self.listed.append((prior, of_top, of_mean))

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
            if self.spread is not None:  # r_x <= T, and t <= P . r = 1
                ends.append(self.spread)
            if share:
                ends.append(scaled_up(1 / share))
            if not ends:
                raise CertificateError("an entry that never counts is not bounded")
            low = scaled_down(1 / spread) if bounded and spread else 0
            box.append((max(self.low, low), min(ends)))
        least = min(low for low, _ in box), min(SCALE, *(high for _, high in box))
        return [*box, least, (SCALE, max(SCALE, *(high for _, high in box)))]

    def shrunk(self, box: Box) -> Box | None:
        """Return the part of a box where a private column can be; None if there is none."""
        k = self.size
        (least, most), (bottom, peak) = box[k:]
        if self.spread is not None:
            peak = min(peak, -(-self.spread * most >> BITS))
            least = max(least, (bottom << BITS) // self.spread)
        low = [max(a, least) for a, _ in box[:k]]
        high = [
            min(b, peak) if top is None else min(b, peak, -(-top * most >> BITS))
            for (_, b), top in zip(box, self.tops, strict=False)
        ]
        for _ in range(SWEEPS):
            for x, rows in enumerate(self._rows):
                own_low, own_high = low[x], high[x]
                for z, m, inverse in rows:
                    reach = -(-m * high[z] >> BITS)
                    if reach < own_high:
                        own_high = reach
                    reach = own_low * inverse >> BITS
                    if reach > low[z]:
                        low[z] = reach
                high[x] = own_high
            below = [p * a for (p, _), a in zip(self.prior, low, strict=True)]
            above = [p * b for (_, p), b in zip(self.prior, high, strict=True)]
            lows, highs = sum(below), sum(above)
            for x, (p, q) in enumerate(self.prior):
                if p:  # r_x is what the other entries leave of P . r = 1, divided by P_x
                    room = -(-((SCALE << BITS) - lows + p * low[x]) // p)
                    need = ((SCALE << BITS) - highs + q * high[x]) // q
                    high[x], low[x] = min(high[x], room), max(low[x], need)
            if any(a > b for a, b in zip(low, high, strict=True)):
                return None
        if self._chained:
            self._narrow(low, high)
            if any(a > b for a, b in zip(low, high, strict=True)):
                return None
        least, most = max(least, min(low)), min(most, *high)
        bottom, peak = max(bottom, *low), min(peak, max(high))
        if least > most or bottom > peak:
            return None
        return [*zip(low, high, strict=True), (least, most), (bottom, peak)]

    def _narrow(self, low: list[int], high: list[int]) -> None:
        """Bound each entry by ratios and P . r = 1 together, at the best sets S for its ends.

        Of two equal terms the one that stays is taken, as the end will move.
        """
        below = [p * a for (p, _), a in zip(self.prior, low, strict=True)]
        above = [p * b for (_, p), b in zip(self.prior, high, strict=True)]
        for x, (shares, loads) in enumerate(zip(self._shares, self._loads, strict=True)):
            end, slope, left = high[x], 0, SCALE << BITS
            for share, least in zip(shares, below, strict=True):
                if share * end > least + (least >> TIE):
                    slope += share
                else:
                    left -= least
            if slope:
                high[x] = min(end, -(-left // slope))
            end, slope, left = low[x], 0, SCALE << BITS
            for load, most in zip(loads, above, strict=True):
                if load and load * end < most - (most >> TIE):
                    slope += load
                else:
                    left -= most
            if slope:
                low[x] = max(end, left // slope)

    def bound(
        self, box: Box, price: Any, rows: list[int], others: list[int], weights: list[Any]
    ) -> int:
        """Return the upper bound on a box that the multipliers of a leaf prove.

        ``price`` is that of P . r = 1; ``weights`` are those of the rows a <= m b, with a from
        ``rows`` and b from ``others``.
        """
        s, k = scaled_down(number(price)), self.size
        linear = [0] * (k + 2)  # what the rows take from the gain, by unit of r, t, T, rounded down
        for x, z, given in zip(rows, others, weights, strict=True):
            w, m = number(given), self._row(x, z)
            if w < 0 or m is None:
                raise CertificateError("a multiplier is negative, or of a row that does not exist")
            spend(fraction_steps(w.denominator.bit_length() + BITS), "weights of a box")
            self._add(linear, x, (w.numerator << 2 * BITS) // (w.denominator * m))
            self._add(linear, z, (-w.numerator << BITS) // w.denominator)
        total = s
        for x, (low, high) in enumerate(box[:k]):
            # s P_x r is subtracted, so that it is rounded down: with P_x from below if s >= 0
            spend(50, "ends of a box")
            p = self.prior[x][s < 0]
            ends = (
                self._at(x, r) - (s * p * r >> 2 * BITS) - (linear[x] * r >> BITS)
                for r in (low, high)
            )
            total += max(ends) + 1  # rounded up as it is; one unit to spare
        for slope, ends_of in zip(linear[k:], box[k:], strict=True):
            if slope:
                total += max(-(slope * r >> BITS) for r in ends_of)
        return total

    def _row(self, x: int, z: int) -> int | None:
        """Return m of the row a <= m b, with a and b by their numbers in a leaf; None if none."""
        k, n = self.size, self.size + 2 + len(self.listed)
        if not (0 <= x < n and 0 <= z < n):
            return None
        if x < k and z < k:
            return self.ratios[x][z]
        if (x == k and z < k) or (x < k and z == k + 1):
            return SCALE
        if x == k + 1 < z:
            return self.listed[z - k - 2][1]
        return self.listed[x - k - 2][2] if z == k and x > k + 1 else None

    def _add(self, linear: list[int], place: int, weight: int) -> None:
        """Add the terms of one side of a row: an entry, t, T, or all entries times a prior."""
        if place < self.size + 2:
            linear[place] += weight
            return
        for x, p in enumerate(self.listed[place - self.size - 2][0]):
            if p:
                spend(fraction_steps(p.denominator.bit_length() + BITS), "weights of a box")
                linear[x] += weight * p.numerator // p.denominator

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
