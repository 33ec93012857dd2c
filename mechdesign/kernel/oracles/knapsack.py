"""A lift bounded at one prior p: the cheapest column is a fractional knapsack.

A column with l = p . q > 0 is q = l r, where p . r = 1 and low_x <= r_x <= high_x: the ends of the
lift, or of the region of a node. With d = c - u, any rate h and e = d - h p,

    d . r  =  h + e . r  >=  K  =  h + Sum_x (low_x e_x if e_x >= 0 else high_x e_x),

and u + K p is safe. The best h is the rate d_x / p_x at which the entries at the upper end fill p .
r = 1. Without an upper end h is at most the least rate, so that no e_x with p_x > 0 is negative;
the price of an input with p_x = 0 is then lowered to its cost. If p . q = 0, then q is 0 with an
upper end; without one it is 0 except where p_x = 0, where no price exceeds its cost. Other rows of
the cone are dropped, which makes it larger.

**A separable gain**, g(q) = l Sum_x h_x(r_x), has convex h_x. Sum_x h_x(r_x) + u . r is largest at
a vertex of {low <= r_x <= high, p . r = 1}: all entries but one, f, are at an end, and those with
p_x = 0 are at any. With p = n / N in counts, and j counts of others at the upper end,

    r_f  =  low + (share - j) (high - low) / n_f,    share = N (1 - low) / (high - low).

The best choice for each j is a 0-1 knapsack; every f is left out in turn, by halving. The largest
sum c makes u - c p safe. Limits are dropped, which makes the set of channels larger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from mechdesign.kernel.arithmetic import known, need, over_one_denominator, scaled
from mechdesign.kernel.gains import Gain, Vector
from mechdesign.kernel.generators import Lift, Listed
from mechdesign.kernel.oracles.common import GRID, lift_ends, natural
from mechdesign.kernel.proof import Cost, Ends, Oracle, Program
from mechdesign.kernel.statement import Statement

ONE = 1 << GRID


@dataclass(frozen=True)
class Knapsack(Oracle):
    """Linear costs, or a separable gain, under lifts at p; None for the only listed prior."""

    p: tuple[Fraction, ...] | None = None

    def prior(self, statement: Statement) -> Vector:
        """Return the prior: the only listed one, or that of the objective."""
        if self.p is not None:
            return self.p
        sets = [part.priors for part in statement.cone if isinstance(part, Lift)]
        listed = {p for priors in sets if isinstance(priors, Listed) for p in priors.priors}
        need(len(listed) < 2, "the prior is ambiguous")
        return listed.pop() if listed else natural(statement)

    def linear(self, statement: Statement) -> Callable[[Cost, Cost, Ends | None], Cost]:
        """Return the knapsack. K is rounded down, and ends outward: the cone grows."""
        p = self.prior(statement)
        low, high = lift_ends(statement, p)
        need(low <= ONE and (high is None or high >= ONE), "the bounds contradict each other")
        n, whole = over_one_denominator(p)
        bits = whole.bit_length()

        def price(cost: Cost, prices: Cost, region: Ends | None) -> Cost:
            least, most = [low] * len(n), [high] * len(n)
            if region is not None:
                need(p == natural(statement), "the region of a node is at another prior")
                least = [scaled(v, bits=GRID) for v in region[0]]
                most = [scaled(v, up=True, bits=GRID) for v in region[1]]
            u = [
                a if b > a and top is None and not m else b
                for a, b, m, top in zip(cost, prices, n, most, strict=True)
            ]
            d = [a - b << bits for a, b in zip(cost, u, strict=True)]
            rate = _rate(d, n, least, most, whole)
            level = rate * whole << GRID
            for v, m, a, b in zip(d, n, least, most, strict=True):
                e = v - rate * m
                level += e * (a if e >= 0 or b is None else b)
            bottom = whole << GRID + bits
            return [v + level * m // bottom for v, m in zip(u, n, strict=True)]

        return price

    def gain(self, statement: Statement, gain: Gain, prices: Cost) -> Cost:
        """Return u - c p: gains, and so c, are rounded up, and ends outward."""
        p, k = self.prior(statement), statement.k
        low, high = lift_ends(statement, p)
        words = "expected a gain that is a sum over inputs, and two bounds on the lift"
        high = known(high, words)
        need(gain.p == p and low < high, words)
        n, whole = over_one_denominator(p)
        room, width = whole * (ONE - low), high - low
        need(room >= 0, "the bounds contradict each other")
        worth = [_worth(gain.split(x), u) for x, u in enumerate(prices)]
        at = [(h(low), h(high)) for h in worth]
        base = sum([a if m else max(a, b) for (a, b), m in zip(at, n, strict=True)])
        best: int | None = None
        inside = [x for x in range(k) if n[x]]
        stack: list[tuple[list[int], Table]] = [(inside, [0] + [None] * min(whole, room // width))]
        while stack:
            inputs, table = stack.pop()
            if len(inputs) > 1:
                half = len(inputs) // 2
                for mine, others in (inputs[:half], inputs[half:]), (inputs[half:], inputs[:half]):
                    items = [(n[x], at[x][1] - at[x][0]) for x in others]
                    stack.append((mine, _with(table, items)))
                continue
            (f,) = inputs
            for j in range(max(0, -(-room // width) - n[f]), len(table)):  # low <= r_f <= high
                more = room - j * width  # r_f = low + more / n_f
                if (have := table[j]) is not None:
                    r = low + more // n[f]
                    # a convex function between two points is at most its larger value there
                    top = base - at[f][0] + have + max(worth[f](r), worth[f](r + 1))
                    best = top if best is None else max(best, top)
        most = known(best, "no lift in between fits")
        return [u - -(-most * m // whole) for u, m in zip(prices, n, strict=True)]

    def steps(self, statement: Statement, program: Program) -> int:
        k = statement.k
        if program.nodes is not None:
            return 20 * k * len(program.nodes)
        p = self.prior(statement)
        low, high = lift_ends(statement, p)
        _, whole = over_one_denominator(p)
        size = whole if high is None or high <= low else whole * max(0, ONE - low) // (high - low)
        return 2 * k * k.bit_length() * (min(whole, size) + 200)


def _rate(d: Cost, n: Cost, least: list[int], most: list[int | None], whole: int) -> int:
    """Return h, rounded down; without upper ends it is at most the least rate."""
    room = (whole << GRID) - sum(map(int.__mul__, n, least))
    rates = sorted((v // m, x) for x, (v, m) in enumerate(zip(d, n, strict=True)) if m)
    for rate, x in rates:
        top = most[x]
        if top is None or (room := room - n[x] * (top - least[x])) <= 0:
            return rate
    return rates[-1][0]


def _worth(split: Callable[[Fraction], int], price: int) -> Callable[[int], int]:
    """Return h_x(r) + u r at r over 2**GRID, rounded up."""
    return cache(lambda r: split(Fraction(r, ONE)) - (-price * r >> GRID))


Table = list[int | None]
"""The best profit for each total size; None if it is not attainable."""


def _with(table: Table, items: list[tuple[int, int]]) -> Table:
    """Return the table with more items, (size, profit), each of them taken or not."""
    for size, profit in items:
        before, table = table, list(table)
        for total in range(size, len(table)):
            less, have = before[total - size], table[total]
            if less is not None and (have is None or have < less + profit):
                table[total] = less + profit
    return table
