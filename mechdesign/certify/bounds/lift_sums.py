"""How much can a column gain above its price? Lifts between two bounds, by sums of counts.

For one notion that bounds the lift r_x = q_x / (P . q) for one prior, the private columns with
P . q = 1 are a box cut by one equation, and a gain that splits by inputs is largest at a vertex of
it. If the prior is made of whole counts, the best vertex is found by a knapsack over their sums.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from mechdesign.certify.bounds.gains import coordinate_gain
from mechdesign.certify.fixed_point import SCALE, scaled_down, scaled_up
from mechdesign.certify.privacy.check import is_for_own_prior, lift_limits
from mechdesign.certify.problem import Statement
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, exp_upper

__all__ = ["surplus_by_sums"]

MOST_STEPS = 1 << 26


def surplus_by_sums(statement: Statement, u: list[Fraction]) -> Fraction:
    """Return the largest surplus Sum_x (h_x(r_x) - u_x r_x), for a prior of counts n_x out of N.

    It is attained at a vertex: all lifts but one, f, at an end. If those at the top make up j
    of the N, then r_f = low + (N s - j) (high - low) / n_f with s = (1 - low) / (high - low),
    and the best choice of those at the top is a knapsack: a table of the best profit by sum.
    Each input is left out in turn; halving the inputs lets them share most of the table.
    """
    low, high = _bounds(statement)
    N = lcm(*(p.denominator for p in statement.prior))
    n = [int(p * N) for p in statement.prior]

    def worth(x: int, r: Fraction) -> int:
        """Return h_x(r) - u_x r, rounded up."""
        return scaled_up(coordinate_gain(statement, x, r) - u[x] * r)

    at_ends = [(worth(x, low), worth(x, high)) for x in range(len(n))]
    share = N * (1 - low) / (high - low)
    most = min(N, share.numerator // share.denominator)
    if len(n) * len(n).bit_length() * (most + 1) > MOST_STEPS:
        raise CertificateError("the counts of the prior are too large for a search over sums")
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
                # between two points of few digits: convex, so at most the larger of the two
                ends = (Fraction(scaled_down(lift), SCALE), Fraction(scaled_up(lift), SCALE))
                surplus = base - at_ends[f][0] + profit + max(worth(f, r) for r in ends)
                worst = surplus if worst is None else max(worst, surplus)
    if worst is None:
        raise CertificateError("no lift in between fits the counts")
    return Fraction(worst, SCALE)


def _bounds(statement: Statement) -> tuple[Fraction, Fraction]:
    """Return the least and the largest lift, rounded outward: a larger polytope."""
    (table, *more) = statement.privacy
    if more or not is_for_own_prior(statement, table):
        raise CertificateError("the search over sums needs bounds on one lift alone")
    upper, lower = lift_limits(table)
    low = Fraction(0) if lower is None else exp_lower(-lower)
    if upper is None or (upper == 0 and low == 1):
        raise CertificateError("the search over sums needs two bounds on the lift, apart")
    high = exp_upper(upper)
    return Fraction(scaled_down(low), SCALE), Fraction(scaled_up(high), SCALE)


def _with_item(table: list[int | None], size: int, profit: int) -> list[int | None]:
    """Return the best profit by sum with one more item, which may be taken or not."""
    grown = list(table)
    for total in range(size, len(table)):
        before, now = table[total - size], grown[total]
        if before is not None and (now is None or before + profit > now):
            grown[total] = before + profit
    return grown
