"""Bounds on a sum of gains: a price for each input that no private column is worth more than.

Let u be prices with g(q) <= u . q + c (P . q) for every private column q. As the columns of a
channel sum to 1, Sum_y g(q_y) <= Sum_x u_x + c. The least such c is found here by search: over all
extreme rays, as g is convex, or, for lifts between two bounds, by branch and bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count
from typing import Any

from mechdesign.certify.gains import coordinate_gain, gain, offset
from mechdesign.certify.privacy import lift_limits
from mechdesign.certify.rays import all_rays
from mechdesign.certify.statement import Statement, number
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, exp_upper

__all__ = ["columns_bound", "least_surplus"]

ZERO, ONE = Fraction(0), Fraction(1)
SCALE = 1 << 160
MOST_NODES = 1 << 20

Gain = Callable[[Sequence[Fraction] | Sequence[int]], Fraction]


def columns_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound on the objective that prices prove.

    ``dual["potential"]`` are the prices u; ``dual["search"]`` says how c is found, ``"rays"`` or
    ``"lifts"``; for the latter, search at most ``dual["nodes"]`` boxes, or until c is at most
    ``dual["surplus"]``.
    """
    u = [number(p) for p in dual["potential"]]
    if len(u) != len(statement.prior):
        raise CertificateError("the certificate has not one price for each input")
    if dual["search"] == "rays":
        surplus = least_surplus(
            statement, u, lambda q: gain(statement, q, up=True), dual.get("priors")
        )
    elif dual["search"] == "lifts":
        surplus = _LiftSearch(statement, u).run(dual["nodes"], _down(number(dual["surplus"])))
    else:
        raise CertificateError(f"the search {dual['search']!r:.60} is not known to the checker")
    most = sum(u, ZERO) + surplus
    return most if statement.is_maximised else offset(statement) - most


def least_surplus(
    statement: Statement, u: list[Fraction], worth: Gain, priors: dict[str, Any] | None
) -> Fraction:
    """Return the least c with worth(q) <= u . q + c (P . q) on all extreme rays.

    On a ray that never occurs, P . q = 0, nothing is gained, and u . q >= 0 is needed.
    """
    surplus = None
    for q in all_rays(statement, priors):
        law = sum((p * v for p, v in zip(statement.prior, q, strict=True) if v), ZERO)
        paid = sum((price * v for price, v in zip(u, q, strict=True) if v), ZERO)
        if not law:
            if paid < 0:
                raise CertificateError("an output that never occurs has a price below 0")
            continue
        excess = (worth(q) - paid) / law
        surplus = excess if surplus is None else max(surplus, excess)
    if surplus is None:
        raise CertificateError("the cone has no ray")
    return surplus


class _LiftSearch:
    """Branch and bound over lifts r = q / (P . q), l <= r_x <= u and P . r = 1.

    A gain that splits, Sum_x h_x(r_x) with h_x convex, less the prices is convex in each r_x, so on
    a box it is at most its chord; and with any price s on P . r = 1 it is at most

        s + Sum_x max over the two ends of h_x(r) - u_x r - s P_x r.

    A box whose bound is too large is cut in two, at a point inside the chord that is worst.
    """

    def __init__(self, statement: Statement, u: list[Fraction]) -> None:
        if len(statement.privacy) != 1 or statement.privacy[0]["notion"] == "bounded-prior-lip":
            raise CertificateError("the search over lifts needs bounds on one lift alone")
        upper, lower = lift_limits(statement.privacy[0])
        self.statement, self.prices = statement, u
        self.prior = [(_down(p), -_down(-p)) for p in statement.prior]
        low = ZERO if lower is None else exp_lower(-lower)
        box = []
        for p in statement.prior:
            ends = [] if upper is None else [exp_upper(upper)]
            if p:  # as the others are at least low: P_x r <= 1 - (1 - P_x) low
                ends.append((1 - (1 - p) * low) / p)
            if not ends:
                raise CertificateError("the lift of an input of prior 0 is not bounded")
            least = low if upper is None or not p else (1 - (1 - p) * exp_upper(upper)) / p
            box.append((_down(max(low, least)), -_down(-min(ends))))
        self.root = box
        self._worth: dict[tuple[int, int], int] = {}

    def run(self, nodes: int, goal: int) -> Fraction:
        """Return a bound on the gain less the prices: the goal, or what so many boxes give."""
        if type(nodes) is not int or not 1 <= nodes <= MOST_NODES:
            raise CertificateError(f"expected 1 to {MOST_NODES} nodes, found {nodes!r:.60}")
        tie, settled = count(), -(1 << 400)
        bound, x, cut = self._bound(self.root)
        heap = [(-bound, next(tie), self.root, x, cut)]
        for _ in range(nodes if bound > goal else 0):
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
            if -heap[0][0] <= max(settled, goal):
                break
        return Fraction(max(settled, -heap[0][0] if heap else settled), SCALE)

    def _at(self, x: int, r: int) -> int:
        """Return h_x(r) - u_x r, rounded up."""
        if (x, r) not in self._worth:
            point = Fraction(r, SCALE)
            exact = coordinate_gain(self.statement, x, point) - self.prices[x] * point
            self._worth[x, r] = -_down(-exact)
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


BITS = SCALE.bit_length() - 1


def _down(value: Fraction) -> int:
    return value.numerator * SCALE // value.denominator
