"""Lower bounds on the posterior-mean squared error of a scalar, for notions that are bands.

A notion is a band if a column q is private if and only if, for some size t,

    low_x t <= q_x <= high_x t    for every x.

Bounds on the lift for the prior of the problem are a band with t = P . q. Local differential
privacy is one with t the least entry. Only inputs of positive prior matter, and leaving the others
out can only lower the bound. Everything is in units in which f runs from 0 to 1 on the support.

The error is Sum_y Sum_x P_x Q[x, y] (f_x - s_y)**2 with s_y the posterior mean, between 0 and 1. As
the columns sum to 1, for any potentials u of the inputs it is

    Sum_x u_x + Sum_y Sum_x Q[x, y] (P_x (f_x - s_y)**2 - u_x) >= Sum_x u_x + min_s gamma(s)

where gamma(s) is the least Sum_x r_x (P_x (f_x - s)**2 - u_x) over private r with P . r = 1. A
column with P . q = 0 has size 0. It is 0 on the support, and adds nothing.

At one decoder s, let T_x = P_x (f_x - s)**2 - u_x - v P_x, with any multiplier v of P . r = 1. As r
lies in a band of size t, Sum_x r_x T_x >= t F with F = Sum_x min(low_x T_x, high_x T_x), and so
gamma(s) >= v + t F. For a lift t = P . r = 1. For local differential privacy low is 1, so that t is
at most P . r = 1, and v + min(F, 0) is a bound.

Between two decoders, gamma(s) - s**2 is a minimum of functions that are linear in s, since
P . r = 1. It is concave, and so at least its chord. At (1 - t) s_i + t s_{i+1}, s**2 is its own
chord less t (1 - t) d**2 with d the width. So gamma is at least its chord less t (1 - t) d**2, and
the least of that over t in [0, 1] is a formula (`least_on_interval`).

All numbers are integers over 2**160. F is rounded down, and with it the bound.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from mechdesign.certify.bounds.outward import bounded_pairs, lift_range
from mechdesign.certify.bounds.sums.gains import error_or_gain
from mechdesign.certify.fixed_point import BITS, SCALE, scaled_down, scaled_up
from mechdesign.certify.privacy.check import is_for_own_prior, ratio_limits
from mechdesign.certify.problem import Statement, number, read_potentials
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_upper
from mechdesign.resources import spend

__all__ = ["band_bound", "least_on_interval"]


def band_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that potentials of the inputs and multipliers at some decoders prove.

    ``dual["potential"]`` is u, ``dual["decoders"]`` rise from 0 to 1, and ``dual["levels"]`` has
    the multiplier v at each of them. The bound holds whatever they are.
    """
    potentials = [scaled_down(u) for u in read_potentials(statement, dual)]
    decoders = [scaled_down(number(s)) for s in dual["decoders"]]
    multipliers = [scaled_down(number(v)) for v in dual["levels"]]
    rising = all(a <= b for a, b in pairwise(decoders))
    if len(decoders) < 2 or not rising or decoders[0] != 0 or decoders[-1] != SCALE:
        raise CertificateError("the decoders do not rise from 0 to 1")
    f = statement.values
    support = [x for x, p in enumerate(statement.prior) if p]
    low, high = min(f[x] for x in support), max(f[x] for x in support)
    if low == high:
        return error_or_gain(statement, Fraction(0))
    u = [potentials[x] for x in support]
    band = _ColumnBand(
        statement,
        [statement.prior[x] for x in support],
        [(f[x] - low) / (high - low) for x in support],
    )
    costs = [band.cost(s, v, u) for s, v in zip(decoders, multipliers, strict=True)]
    intervals = zip(pairwise(decoders), pairwise(costs), strict=True)
    # d**2 is rounded up, as it is taken away
    worst = min(least_on_interval(a, b, -(-((t - s) ** 2) >> BITS)) for (s, t), (a, b) in intervals)
    return error_or_gain(statement, Fraction(sum(u) + worst, SCALE) * (high - low) ** 2)


def least_on_interval(a: int, b: int, curvature: int) -> int:
    """Return the least of (1 - t) a + t b - curvature t (1 - t) over t in [0, 1], rounded down.

    The parabola has its vertex at t = (1 - (b - a) / curvature) / 2, if that is in the interval.
    """
    if abs(b - a) >= curvature:
        return min(a, b)
    return ((2 * (a + b) - curvature) * curvature - (b - a) ** 2) // (4 * curvature)


class _ColumnBand:
    """The band of the private columns, and their least cost at one decoder."""

    def __init__(self, statement: Statement, prior: list[Fraction], f: list[Fraction]) -> None:
        self.is_lift, ends = _ends(statement, prior)
        self.ends = [(scaled_down(low), scaled_up(high)) for low, high in ends]
        self.prior = [(scaled_down(p), scaled_up(p)) for p in prior]
        self.first = [scaled_up(p * v) for p, v in zip(prior, f, strict=True)]
        self.second = [scaled_down(p * v * v) for p, v in zip(prior, f, strict=True)]

    def cost(self, s: int, v: int, u: list[int]) -> int:
        """Return a lower bound on gamma(s), where s is not negative."""
        total, square, twice = 0, s * s, s << (BITS + 1)
        spend(8 * len(u), "the cost at a decoder")
        rows = zip(self.prior, self.first, self.second, u, self.ends, strict=True)
        for (p, p_up), first, second, potential, (low, high) in rows:
            # T = P f**2 - 2 s P f + s**2 P - u - v P, each term rounded down: P f from above, as
            # it is taken away, and P from the side that makes v P the largest
            excess = second - potential + ((square * p - twice * first) >> 2 * BITS)
            excess += -v * (p_up if v > 0 else p) >> BITS
            total += excess * (low if excess > 0 else high) >> BITS
        return v + total if self.is_lift else v + min(total, 0)


def _ends(
    statement: Statement, prior: list[Fraction]
) -> tuple[bool, list[tuple[Fraction, Fraction]]]:
    """Return whether the size is P . q, and both ends of the band at each input."""
    (table,) = statement.privacy
    limits = ratio_limits(statement, table)
    if limits is not None:
        found, k = [limit for _, _, limit in bounded_pairs(limits)], len(limits)
        if len(found) != k * (k - 1) or len(set(found)) != 1 or found[0][1] != 1:
            raise CertificateError("multipliers at decoders need one bound on all ratios")
        return False, [(Fraction(1), exp_upper(found[0][0]))] * len(prior)
    if not is_for_own_prior(statement, table):
        raise CertificateError("multipliers at decoders need the lift for the prior of the problem")
    low, most = lift_range(table)
    # the other lifts are at least low, and their mean is 1
    highest = [(1 - (1 - p) * low) / p for p in prior]
    return True, [(low, high if most is None else min(most, high)) for high in highest]
