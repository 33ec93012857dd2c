"""How much can a column gain above its price? Search among lifts between two bounds.

For one notion that bounds the lift r_x = q_x / (P . q) for one prior, the private columns with
P . q = 1 are a box cut by one equation. A gain that splits by inputs is convex on it, in each lift.
Two searches bound it from above, in integers: over sums of counts, and over boxes.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import count
from math import lcm

from mechdesign.certify.gains import coordinate_gain
from mechdesign.certify.privacy import lift_limits
from mechdesign.certify.statement import Statement
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, exp_upper

__all__ = ["LiftSearch"]

ZERO = Fraction(0)
BITS = 160
SCALE = 1 << BITS
"""Lifts and gains are integers over this, rounded so that the bound stays above the truth."""

MOST_NODES, MOST_STEPS = 1 << 20, 1 << 26


class LiftSearch:
    """Lifts r = q / (P . q) with low <= r_x <= high and P . r = 1, and what they gain.

    Parameters
    ----------
    statement
        A problem with one notion, which bounds the lift for one prior, and an objective whose gain
        splits by inputs: Sum_x h_x(r_x), each h_x convex.
    u
        Prices of the inputs. Both searches return a bound on Sum_x (h_x(r_x) - u_x r_x).
    """

    def __init__(self, statement: Statement, u: list[Fraction]) -> None:
        if len(statement.privacy) != 1 or statement.privacy[0]["notion"] == "bounded-prior-lip":
            raise CertificateError("the search over lifts needs bounds on one lift alone")
        upper, lower = lift_limits(statement.privacy[0])
        self.statement, self.prices = statement, u
        self.prior = [(_down(p), _up(p)) for p in statement.prior]
        # rounded outward: a larger polytope
        self.low = ZERO if lower is None else _over_scale(_down(exp_lower(-lower)))
        self.high = None if upper is None else _over_scale(_up(exp_upper(upper)))
        self._worth: dict[tuple[int, int], int] = {}

    def by_sums(self) -> Fraction:
        """Return the largest surplus, for a prior of whole counts n_x out of N.

        It is attained at a vertex: all lifts but one, f, at an end. If those at the top make up j
        of the N, then r_f = low + (N s - j) (high - low) / n_f with s = (1 - low) / (high - low),
        and the best choice of those at the top is a knapsack: a table of the best profit by sum.
        Each input is left out in turn; halving the inputs lets them share most of the table.
        """
        if self.high is None or self.high <= self.low:
            raise CertificateError("the search over sums needs two bounds on the lift")
        N = lcm(*(p.denominator for p in self.statement.prior))
        n = [int(p * N) for p in self.statement.prior]
        ends = (int(self.low * SCALE), int(self.high * SCALE))
        at_ends = [tuple(self._at(x, end) for end in ends) for x in range(len(n))]
        share = N * (1 - self.low) / (self.high - self.low)
        most = min(N, share.numerator // share.denominator)
        if len(n) * len(n).bit_length() * (most + 1) > MOST_STEPS:
            raise CertificateError("the counts of the prior are too large for a search over sums")
        counted = [x for x in range(len(n)) if n[x]]
        base = sum(low if n[x] else max(low, top) for x, (low, top) in enumerate(at_ends))
        worst: int | None = None
        stack: list[tuple[list[int], list[int | None]]] = [(counted, [0] + [None] * most)]
        while stack:
            inputs, table = stack.pop()
            if len(inputs) > 1:
                half = len(inputs) // 2
                for mine, others in (
                    (inputs[:half], inputs[half:]),
                    (inputs[half:], inputs[:half]),
                ):
                    grown = table
                    for x in others:
                        grown = _with_item(grown, n[x], at_ends[x][1] - at_ends[x][0])
                    stack.append((mine, grown))
                continue
            f = inputs[0]
            for j in range(max(0, most - n[f]), most + 1):
                profit, lift = table[j], self.low + (share - j) * (self.high - self.low) / n[f]
                if profit is not None and self.low <= lift <= self.high:
                    point = Fraction(_down(lift), SCALE), Fraction(_up(lift), SCALE)
                    at_lift = _up(
                        max(coordinate_gain(self.statement, f, r) for r in point)
                        - min(self.prices[f] * r for r in point)
                    )
                    surplus = base - at_ends[f][0] + profit + at_lift
                    worst = surplus if worst is None else max(worst, surplus)
        if worst is None:
            raise CertificateError("no lift in between fits the counts")
        return Fraction(worst, SCALE)

    def by_boxes(self, nodes: int, goal: Fraction) -> Fraction:
        """Return a bound on the surplus by branch and bound: the goal, or what so many boxes give.

        On a box each h_x(r) - u_x r is at most its chord, so that with any price s on P . r = 1
        the surplus is at most

            s + Sum_x max over the two ends of h_x(r) - u_x r - s P_x r.

        The box whose bound is largest is cut in two, at a point inside the chord that is worst.
        """
        if type(nodes) is not int or not 1 <= nodes <= MOST_NODES:
            raise CertificateError(f"expected 1 to {MOST_NODES} nodes, found {nodes!r:.60}")
        enough, root = _down(goal), self._root()
        tie, settled = count(), -(1 << 400)
        bound, x, cut = self._bound(root)
        heap = [(-bound, next(tie), root, x, cut)]
        for _ in range(nodes if bound > enough else 0):
            top, _, box, x, cut = heapq.heappop(heap)
            low, high = box[x]
            if not low < cut < high:  # nothing is left to cut: the bound is attained, nearly
                settled = max(settled, -top)
                if not heap:
                    break
                continue
            for part in ((low, cut), (cut, high)):
                child = [*box[:x], part, *box[x + 1 :]]
                found, place, point = self._bound(child)
                heapq.heappush(heap, (-min(found, -top), next(tie), child, place, point))
            if -heap[0][0] <= max(settled, enough):
                break
        return Fraction(max(settled, -heap[0][0] if heap else settled), SCALE)

    def _root(self) -> list[tuple[int, int]]:
        """Return the ends that each lift can have, the others being between theirs."""
        box = []
        for p in self.statement.prior:
            low, ends = self.low, [] if self.high is None else [self.high]
            if p:
                ends.append((1 - (1 - p) * self.low) / p)
                if self.high is not None:
                    low = max(low, (1 - (1 - p) * self.high) / p)
            if not ends:
                raise CertificateError("the lift of an input of prior 0 is not bounded")
            box.append((_down(low), _up(min(ends))))
        return box

    def _at(self, x: int, r: int) -> int:
        """Return h_x(r) - u_x r, rounded up."""
        if (x, r) not in self._worth:
            point = Fraction(r, SCALE)
            exact = coordinate_gain(self.statement, x, point) - self.prices[x] * point
            self._worth[x, r] = _up(exact)
        return self._worth[x, r]

    def _bound(self, box: list[tuple[int, int]]) -> tuple[int, int, int]:
        """Return the bound on a box, the input whose chord to cut, and where."""
        ends = [(self._at(x, low), self._at(x, high)) for x, (low, high) in enumerate(box)]
        s, x, cut = self._price(box, ends)
        total = s
        for (low, high), (a, b), around in zip(box, ends, self.prior, strict=True):
            p = around[s < 0]  # so that s P_x r is rounded down, and with it what is taken away
            total += max(a - (s * p * low >> 2 * BITS), b - (s * p * high >> 2 * BITS)) + 1
        return total, x, cut

    def _price(
        self, box: list[tuple[int, int]], ends: list[tuple[int, int]]
    ) -> tuple[int, int, int]:
        """Return the best price on P . r = 1: fill up lifts in the order of their worth."""
        prior = [p for p, _ in self.prior]
        left = SCALE - sum(p * low >> BITS for p, (low, _) in zip(prior, box, strict=True))
        order = []
        for x, ((low, high), (a, b)) in enumerate(zip(box, ends, strict=True)):
            if high > low and prior[x]:
                size = prior[x] * (high - low) >> BITS
                order.append((((b - a) << BITS) // max(size, 1), size, x))
        order.sort(reverse=True)
        for slope, size, x in order:
            if size >= left:
                low, high = box[x]
                return slope, x, low + (left << BITS) // prior[x] if left > 0 else low
            left -= size
        return (order[-1][0], order[-1][2], box[order[-1][2]][1]) if order else (0, 0, box[0][0])


def _with_item(table: list[int | None], size: int, profit: int) -> list[int | None]:
    """Return the best profit by sum with one more item, which may be taken or not."""
    grown = list(table)
    for total in range(size, len(table)):
        before, now = table[total - size], grown[total]
        if before is not None and (now is None or before + profit > now):
            grown[total] = before + profit
    return grown


def _down(value: Fraction) -> int:
    return value.numerator * SCALE // value.denominator


def _up(value: Fraction) -> int:
    return -(-value.numerator * SCALE // value.denominator)


def _over_scale(value: int) -> Fraction:
    return Fraction(value, SCALE)
