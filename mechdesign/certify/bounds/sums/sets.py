"""Upper bounds on the reduced gain of a ray under one budget, by a search over sets of inputs.

Let one budget protect the inputs A of a block B. A ray of the cone is 1 on a set S of protected
inputs, the raised ones, and e**-eps, rounded down to ``low``, on the rest of B. Its probability is

    t(S) = P . q = low P(B) + (1 - low) P(S).

For a gain that splits, Sum_x h_x(r_x) with r = q / t and every h_x convex, let

    G(t, S) = Sum_x t h_x(q_x / t) - u . q - c t,

so that the reduced gain of the ray is at most c if G(t(S), S) <= 0. Now let t be any number. Each
t h_x(q_x / t) is convex in t, as the perspective of a convex function. So if t(S) = (1 - s) a + s b
is in an interval [a, b], then G(t(S), S) <= (1 - s) G(a, S) + s G(b, S), and with any multipliers
m_a and m_b

    G(t(S), S)  <=  max over t = a, b of  G(t, S) + m_t (t(S) - t),  plus (b - a) (m_b - m_a)+ / 4,

since (1 - s) m_a (t(S) - a) + s m_b (t(S) - b) = s (1 - s) (b - a) (m_a - m_b). At a fixed t this
is a sum over inputs of a number that depends on whether x is raised. If some inputs are decided,
the best choice for all others is that of each alone, and where this is at most 0 at both ends, no
completion has a reduced gain above c. Nor is one in the interval where t would be too large or too
small whatever is chosen. So a walk through the choices, input by input, leaves few sets, if c is
the largest reduced gain or a little more. These are yielded, to be looked at one by one.

Inputs of one probability and one potential may change places: of them the first ones are raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from mechdesign.certify.bounds.one_budget import BITS as RAY_BITS, OneBudget, one_budget
from mechdesign.certify.bounds.sums.gains import coordinate_gain
from mechdesign.certify.fixed_point import product_steps, scaled_up
from mechdesign.certify.problem import Statement, number
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["rays_above"]

TOP = 1 << RAY_BITS
"""What a ray has where it is raised."""

NODE_STEPS, COUNTED_AT_ONCE = 15, 256
"""Steps for one choice in the walk; and how many choices are counted together."""

Ray = tuple[int, ...]


def rays_above(
    statement: Statement, u: list[Fraction], c: Fraction, intervals: list[Any]
) -> Iterator[Ray]:
    """Yield rays such that no other ray has a reduced gain above c.

    Parameters
    ----------
    statement, u
        The problem, and the potentials.
    intervals
        For each block with protected inputs, in the order of the first of them: the inner ends of
        intervals of t, which rise, and a multiplier for each of all ends.

    Raises
    ------
    CertificateError
        If the problem has not one budget, or the intervals are none.
    """
    budget = one_budget(statement)
    if budget is None or not 0 < budget.low < TOP:
        raise CertificateError("a search over sets needs one budget, neither 0 nor huge")
    if len(intervals) != len(budget.blocks):
        raise CertificateError("a search over sets needs intervals for each block")
    covered = {x for a in budget.protected for x in a}
    for x in range(budget.size):
        if x not in covered:
            yield tuple(int(z == x) for z in range(budget.size))
    for place, (ends, multipliers) in enumerate(intervals):
        search = _BlockSearch(statement, u, c, budget, place)
        inner = [number(end) for end in ends]
        if len(multipliers) != len(inner) + 2:
            raise CertificateError("a search over sets needs a multiplier for each end")
        bounds = [search.least, *inner, search.most]
        if any(a > b for a, b in pairwise(bounds)):
            raise CertificateError("the ends of intervals do not rise within those of the block")
        sides = (search.at(t, number(m)) for t, m in zip(bounds, multipliers, strict=True))
        for left, right in pairwise(sides):
            yield from search.rays(left, right)


@dataclass(frozen=True)
class _End:
    """G and m (t(S) - t) at one end of an interval, over ``SCALE`` and rounded up.

    Attributes
    ----------
    t, m
        The end and its multiplier.
    base
        The sum where no input is raised.
    profits
        What raising each protected input adds.
    """

    t: Fraction
    m: Fraction
    base: int
    profits: list[int]


class _BlockSearch:
    """The search over the sets of raised inputs of one block."""

    def __init__(
        self, statement: Statement, u: list[Fraction], c: Fraction, budget: OneBudget, place: int
    ) -> None:
        self.statement, self.u, self.c, self.budget = statement, u, c, budget
        self.block, self.inputs = budget.blocks[place], budget.protected[place]
        masses, whole = statement.masses
        self.masses = [masses[x] for x in self.inputs]
        self.low, self.step = Fraction(budget.low, TOP), Fraction(TOP - budget.low, TOP)
        self.unit = self.step / whole
        """What raising a count of one adds to t."""
        self.least = self.low * sum(masses[x] for x in self.block) / whole
        self.most = self.least + self.unit * sum(self.masses)
        self.node_steps = NODE_STEPS + 3 * product_steps(whole)
        if not self.least:
            raise CertificateError("a search over sets needs blocks that occur")

    def at(self, t: Fraction, m: Fraction) -> _End:
        """Return an end of intervals."""
        spend(40 * len(self.block), "an end of an interval")
        base, profits = scaled_up(m * (self.least - t) - self.c * t), []
        masses = dict(zip(self.inputs, self.masses, strict=True))
        for x in self.block:
            down = self._worth(x, self.low, t)
            base += down
            if x in masses:
                tilt = scaled_up(m * self.unit * masses[x])
                profits.append(self._worth(x, Fraction(1), t) - down + tilt)
        return _End(t, m, base, profits)

    def _worth(self, x: int, q: Fraction, t: Fraction) -> int:
        """Return t h_x(q / t) - u_x q, rounded up."""
        return scaled_up(t * coordinate_gain(self.statement, x, q / t) - self.u[x] * q)

    def rays(self, left: _End, right: _End) -> Iterator[Ray]:
        """Yield the rays with t(S) in an interval that its ends do not rule out."""
        n, u, masses = len(self.inputs), self.u, self.masses
        spend(50 * n, "an interval")
        slack = scaled_up((right.t - left.t) * max(Fraction(0), right.m - left.m) / 4)
        one, other, a, b = left.profits, right.profits, left.base + slack, right.base + slack
        root = max(start + sum(v for v in side if v > 0) for start, side in ((a, one), (b, other)))
        if root <= 0:
            return
        # those that hardly any set can do without, or have, come first, then those of large mass
        places = sorted(
            range(n),
            key=lambda i: (
                max(abs(one[i]), abs(other[i])) < root,
                -masses[i],
                u[self.inputs[i]],
            ),
        )
        kinds = [(masses[i], u[self.inputs[i]]) for i in places]
        after = [n] * n
        for d in reversed(range(n - 1)):
            after[d] = after[d + 1] if kinds[d] == kinds[d + 1] else d + 1
        one, other = [one[i] for i in places], [other[i] for i in places]
        mass = [masses[i] for i in places]
        rest_one, rest_other = (_suffix_sums([max(0, v) for v in side]) for side in (one, other))
        rest = _suffix_sums(mass)
        first = -(-(left.t - self.least) // self.unit) if left.t > self.least else 0
        last = (right.t - self.least) // self.unit
        stack, seen = [(0, a, b, 0, 0)], 0
        while stack:
            if not seen % COUNTED_AT_ONCE:
                spend(self.node_steps * COUNTED_AT_ONCE, "sets of raised inputs")
            seen += 1
            d, a, b, total, raised = stack.pop()
            if a + rest_one[d] <= 0 and b + rest_other[d] <= 0:
                continue
            if total > last or total + rest[d] < first:
                continue
            if d == n:
                yield self._ray([i for j, i in enumerate(places) if raised >> j & 1])
                continue
            stack.append((after[d], a, b, total, raised))
            stack.append((d + 1, a + one[d], b + other[d], total + mass[d], raised | 1 << d))

    def _ray(self, raised: list[int]) -> Ray:
        ray = [0] * self.budget.size
        for x in self.block:
            ray[x] = self.budget.low
        for i in raised:
            ray[self.inputs[i]] = TOP
        return tuple(ray)


def _suffix_sums(values: list[int]) -> list[int]:
    """Return the sums of values[d:] for every d, and 0."""
    return [*accumulate(reversed(values), initial=0)][::-1]
