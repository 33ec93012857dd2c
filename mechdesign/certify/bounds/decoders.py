"""A bound on the posterior-mean squared error of a scalar, from prices, for one band of columns.

A band is a notion under which a column q is private iff, for some size t,

    low_x t <= q_x <= high_x t    for every x:

bounds on the lift for the prior of the problem, where t is P . q, and local differential privacy,
where t is the least entry. Only inputs of positive prior matter: to leave the others out can but
lower the bound. Everything is in units in which f runs from 0 to 1 on them.

The error is Sum_y Sum_x P_x Q[x, y] (f_x - s_y)**2, s_y the posterior mean, between 0 and 1. As
the columns sum to 1, for any prices w it is

    Sum_x w_x + Sum_y Sum_x Q[x, y] (P_x (f_x - s_y)**2 - w_x) >= Sum_x w_x + min_s gamma(s)

with gamma(s) the least Sum_x r_x (P_x (f_x - s)**2 - w_x) over private r with P . r = 1. A column
with P . q = 0 has size 0, is 0 on the inputs that matter, and adds nothing.

At one decoder s, let T_x = P_x (f_x - s)**2 - w_x - level P_x for any number, the level. As r lies
in a band of size t, Sum_x r_x T_x >= t F with F = Sum_x min(low_x T_x, high_x T_x), and so
gamma(s) >= level + t F. For a lift t = P . r = 1. For local differential privacy, low is 1, so that
t is at most P . r = 1, and level + min(F, 0) is a bound.

Between decoders gamma(s) - s**2 is a minimum of functions linear in s, as P . r = 1: concave, and
so at least its chord. As s**2 is its chord less t (1 - t) d**2 at (1 - t) s_i + t s_{i+1}, with d
the width, gamma is at least that of its chord. The least of it over t is a formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from mechdesign.certify.fixed_point import BITS, SCALE, scaled_down, scaled_up
from mechdesign.certify.privacy.check import is_for_own_prior, lift_limits, ratio_limits
from mechdesign.certify.problem import POSTERIOR, Statement, number, values_of
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, exp_upper

__all__ = ["least_on_gap", "levels_bound"]

MOST_EXPONENT = 700
"""A bound on the lift beyond e to this is left out."""


def levels_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that prices of the inputs and levels at some decoders prove.

    ``dual["potential"]`` are the prices w, ``dual["decoders"]`` rise from 0 to 1, and
    ``dual["levels"]`` has a number for each of them: whatever they are, the bound holds.
    """
    if statement.utility["objective"] != POSTERIOR or statement.is_histogram:
        raise CertificateError("levels at decoders bound the error of a scalar only")
    if not len(dual["potential"]) == len(statement.prior) == len(statement.labels):
        raise CertificateError("the certificate has not one price for each input")
    decoders = [scaled_down(number(s)) for s in dual["decoders"]]
    levels = [scaled_down(number(level)) for level in dual["levels"]]
    rising = all(a <= b for a, b in pairwise(decoders))
    if len(decoders) < 2 or not rising or decoders[0] != 0 or decoders[-1] != SCALE:
        raise CertificateError("the decoders do not rise from 0 to 1")
    f = values_of(statement)
    support = [x for x, p in enumerate(statement.prior) if p]
    low, high = min(f[x] for x in support), max(f[x] for x in support)
    if low == high:
        return Fraction(0)
    prices = [scaled_down(number(dual["potential"][x])) for x in support]
    band = _Band(
        statement,
        [statement.prior[x] for x in support],
        [(f[x] - low) / (high - low) for x in support],
    )
    costs = [band.cost(s, a, prices) for s, a in zip(decoders, levels, strict=True)]
    gaps = zip(pairwise(decoders), pairwise(costs), strict=True)
    worst = min(least_on_gap(a, b, -(-((t - s) ** 2) >> BITS)) for (s, t), (a, b) in gaps)
    return Fraction(sum(prices) + worst, SCALE) * (high - low) ** 2


def least_on_gap(a: int, b: int, bend: int) -> int:
    """Return the least of (1 - t) a + t b - bend t (1 - t) over t in [0, 1], rounded down."""
    if abs(b - a) >= bend:
        return min(a, b)
    return ((2 * (a + b) - bend) * bend - (b - a) ** 2) // (4 * bend)


class _Band:
    """The columns that are private, and what they cost at least at one decoder."""

    def __init__(self, statement: Statement, prior: list[Fraction], f: list[Fraction]) -> None:
        self.tied, ends = _ends(statement, prior)
        self.ends = [(scaled_down(low), scaled_up(high)) for low, high in ends]
        self.prior = [(scaled_down(p), scaled_up(p)) for p in prior]
        self.first = [scaled_up(p * v) for p, v in zip(prior, f, strict=True)]
        self.second = [scaled_down(p * v * v) for p, v in zip(prior, f, strict=True)]

    def cost(self, s: int, level: int, prices: list[int]) -> int:
        """Return a bound on gamma(s), where s is not negative."""
        total, square, twice = 0, s * s, s << (BITS + 1)
        rows = zip(self.prior, self.first, self.second, prices, self.ends, strict=True)
        for (p, p_up), first, second, price, (low, high) in rows:
            # P (f - s)**2 = P f**2 - 2 s P f + s**2 P, then the price and the level
            excess = second - price + ((square * p - twice * first) >> 2 * BITS)
            excess += -level * (p_up if level > 0 else p) >> BITS
            total += excess * (low if excess > 0 else high) >> BITS
        return level + total if self.tied else level + min(total, 0)


def _ends(
    statement: Statement, prior: Sequence[Fraction]
) -> tuple[bool, list[tuple[Fraction, Fraction]]]:
    """Return whether the size is the law, and both ends of the band at each input."""
    if len(statement.privacy) != 1:
        raise CertificateError("prices at decoders need a single notion")
    (table,) = statement.privacy
    limits = ratio_limits(statement, table)
    if limits is not None:
        pairs = (limit for x, row in enumerate(limits) for z, limit in enumerate(row) if x != z)
        first = next(pairs)
        if first is None or first[1] != 1 or any(limit != first for limit in pairs):
            raise CertificateError("prices at decoders need one bound on all ratios")
        return False, [(Fraction(1), exp_upper(first[0]))] * len(prior)
    if not is_for_own_prior(statement, table):
        raise CertificateError("prices at decoders need the lift for the prior of the problem")
    upper, lower = lift_limits(table)
    low = Fraction(0) if lower is None else exp_lower(-lower)
    # the other lifts are at least low, and their mean is 1
    highest = [(1 - (1 - p) * low) / p for p in prior]
    if upper is not None and upper <= MOST_EXPONENT:
        limit = exp_upper(upper)
        highest = [min(limit, high) for high in highest]
    return True, [(low, high) for high in highest]
