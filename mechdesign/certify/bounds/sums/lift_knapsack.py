"""Upper bounds on the reduced gain of a column, by a knapsack over the vertices of a lift polytope.

For one notion that bounds the lift r_x = q_x / (P . q), the private columns with P . q = 1 are the
polytope {low <= r_x <= high, P . r = 1}: a box cut by one equation. A reduced gain is a sum of
convex functions of one entry each, Sum_x (h_x(r_x) - u_x r_x), and so is largest at a vertex. At a
vertex all entries but one are at an end. If the prior is made of counts n_x out of N, choosing the
entries at the upper end is a knapsack problem with sizes n_x, solved by dynamic programming.

The ends are rounded outward, which only enlarges the polytope. Gains are rounded up.
"""

from __future__ import annotations

from fractions import Fraction

from mechdesign.certify.bounds.outward import lift_range
from mechdesign.certify.bounds.sums.gains import coordinate_gain
from mechdesign.certify.fixed_point import SCALE, over_one_denominator, scaled_down, scaled_up
from mechdesign.certify.privacy.check import is_for_own_prior
from mechdesign.certify.problem import Statement
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["reduced_gain_by_knapsack"]


def reduced_gain_by_knapsack(statement: Statement, u: list[Fraction]) -> Fraction:
    """Return an upper bound on Sum_x (h_x(r_x) - u_x r_x) over all private columns.

    Let f be the input whose lift is not at an end. If the inputs at the upper end have j of the N
    counts, then r_f = low + (N s - j) (high - low) / n_f with s = (1 - low) / (high - low). The
    table of the dynamic program has the largest profit for each j. Every input is f in turn, and
    left out of the table then; halving the inputs lets most of them share one table.
    """
    low, high = _bounds(statement)
    n, N = over_one_denominator(statement.prior)

    def worth(x: int, r: Fraction) -> int:
        """Return h_x(r) - u_x r, rounded up."""
        return scaled_up(coordinate_gain(statement, x, r) - u[x] * r)

    at_ends = [(worth(x, low), worth(x, high)) for x in range(len(n))]
    share = N * (1 - low) / (high - low)
    most = min(N, share.numerator // share.denominator)
    spend(most, "the knapsack")
    spend(20 * sum(min(size, most) + 1 for size in n), "lifts in between")
    counted = [x for x in range(len(n)) if n[x]]
    base = sum(bottom if n[x] else max(bottom, top) for x, (bottom, top) in enumerate(at_ends))
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
            profit, lift = table[j], low + (share - j) * (high - low) / n[f]
            if profit is not None and low <= lift <= high:
                # a convex function at the lift is at most the larger of its values at two
                # neighbors of few digits, which are quicker to compute
                ends = (Fraction(scaled_down(lift), SCALE), Fraction(scaled_up(lift), SCALE))
                reduced = base - at_ends[f][0] + profit + max(worth(f, r) for r in ends)
                worst = reduced if worst is None else max(worst, reduced)
    if worst is None:
        raise CertificateError("no lift in between fits the counts")
    return Fraction(worst, SCALE)


def _bounds(statement: Statement) -> tuple[Fraction, Fraction]:
    """Return the least and the largest lift, rounded outward: a larger polytope."""
    (table, *more) = statement.privacy
    if more or not is_for_own_prior(statement, table):
        raise CertificateError("the knapsack needs bounds on one lift alone")
    low, high = lift_range(table)
    if high is None or high == low:
        raise CertificateError("the knapsack needs two bounds on the lift, apart")
    return Fraction(scaled_down(low), SCALE), Fraction(scaled_up(high), SCALE)


def _with_item(table: list[int | None], size: int, profit: int) -> list[int | None]:
    """Return the best profit by sum with one more item, which may be taken or not."""
    spend(len(table), "the knapsack")
    grown = list(table)
    for total in range(size, len(table)):
        before, now = table[total - size], grown[total]
        if before is not None and (now is None or before + profit > now):
            grown[total] = before + profit
    return grown
