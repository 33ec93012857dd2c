"""Lower bounds on the variance of unbiased readings, for every private channel and all readings.

Readings v with Sum_y v_y q_y = f exactly for every input have a variance that does not change if a
constant is added to f and to v. So let f run from -1 to 1. For masses P of the inputs, the prior or
weights of a worst case, which is at least any mean, and for any slopes m and potentials u,

    Sum_y v_y**2 P . q_y  =  m . f + Sum_x u_x + Sum_y Sum_x q_xy c_x(v_y),
    c_x(v) = P_x v**2 - m_x v - u_x,

since the columns sum to 1 and, times v_y, to f. What is left to show is that private columns q have
Sum_x q_x c_x(v) >= 0, nearly, for **every real v**: the readings are not known. The file lists
probes v_0 < ... < v_n. Between two of them, at v = v_i + t d,

    c_x(v) = (1 - t) c_x(v_i) + t c_x(v_{i+1}) - t (1 - t) P_x d**2.                        (*)

**One budget.** If q_x <= e**eps q_z for protected x and all z of a block with least entry s,

    Sum_x q_x c_x(v)  >=  s W(v),    W(v) = Sum_x c_x(v) + (e**eps - 1) Sum_protected min(c_x(v), 0)

(`prices.one_budget`, also for the inputs that no budget protects). By (*) min(c_x(v), 0) is at
least its chord less t (1 - t) P_x d**2; and it is 0 on the interval where the parabola c_x is >= 0
at both ends and turns outside. So W is at least a parabola in t, whose least value is a formula;
it is exact where no c_x changes its sign inside. Beyond the last probe, at v_n + t, c_x is at least
c_x(v_n) + t c_x'(v_n), and W is at least W(v_n) if W', made likewise of the slopes c_x'(v_n), is
not negative.

**Any rows.** With multipliers at the probes, R_x(v) interpolated between them, R(v) . q <= 0 for
private q. With rows of Q that sum to 1,

    Sum_y Sum_x q_xy (P_x v_y**2 - m_x v_y)  >=  Sum_x min over v of C_x(v),
    C_x(v) = P_x v**2 - m_x v + R_x(v),

and C_x is its chord less t (1 - t) P_x d**2 again. Beyond the last probe V the multipliers grow
like s**2 at v = s V, s >= 1. There C_x = s**2 A - s m_x V with A = P_x V**2 + R_x(V), which grows
from s = 1 on if A >= 0 and 2 A >= m_x V. The same holds below the first probe.

All numbers are integers over powers of 2, rounded so that the bound can only fall.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from operator import mul
from typing import Any

from mechdesign.certify.bounds.decoders import least_on_interval
from mechdesign.certify.bounds.duality import BITS, SCALE, add_rows
from mechdesign.certify.bounds.prices.one_budget import budget_and_ceiling
from mechdesign.certify.fixed_point import product_steps, ratio, scaled_down, scaled_up
from mechdesign.certify.problem import Statement, number, read_masses, read_potentials
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["one_budget_readings_bound", "rows_readings_bound"]

PROBE_BITS = 80
"""Probes are rounded to so many bits beyond the point."""


class _Parabolas:
    """The parabolas P_x v**2 - m_x v at the probes, in units in which f runs from -1 to 1."""

    def __init__(self, statement: Statement, dual: dict[str, Any]) -> None:
        (values, unit), (masses, whole) = statement.whole_values, read_masses(statement, dual)
        middle, width = max(values) + min(values), max(values) - min(values)  # of twice a value
        self.half = Fraction(width, 2 * unit)
        if not width:
            raise CertificateError("a value that is the same for all inputs needs no such bound")
        self.a = [(mass << BITS) // whole for mass in masses]
        slopes = [number(m) for m in dual["slope"]]
        if len(slopes) != len(values):
            raise CertificateError("the certificate has not one slope for each input")
        self.m = [scaled_down(m, BITS) for m in slopes]
        length = product_steps(unit)
        steps = (50 + 10 * length) * (len(values) + len(dual["decoders"]))
        spend(steps, "the probes of readings")
        spend(10 * length * (length + product_steps(whole)) * len(values), "the mean of squares")
        f = [2 * value - middle for value in values]  # over the width
        second = ratio(sum(p * v * v for p, v in zip(masses, f, strict=True)), whole * width**2)
        self.offset = Fraction(sum(map(mul, self.m, f)), SCALE * width) - second
        decoders = map(number, dual["decoders"])
        probes = (
            (2 * unit * v.numerator - middle * v.denominator, v.denominator) for v in decoders
        )
        self.v = [(top << PROBE_BITS) // (width * bottom) for top, bottom in probes]
        rising = all(v < w for v, w in pairwise(self.v))
        if len(self.v) < 2 or not rising or not self.v[0] < 0 < self.v[-1]:
            raise CertificateError("the probes of readings do not rise from below 0 to above 0")

    def at(self, x: int, v: int) -> int:
        """Return P_x v**2 - m_x v, rounded down."""
        return (self.a[x] * v - (self.m[x] << PROBE_BITS)) * v >> 2 * PROBE_BITS

    def slope(self, x: int, v: int) -> int:
        """Return 2 P_x v - m_x over 2**(BITS + PROBE_BITS), exactly."""
        return 2 * self.a[x] * v - (self.m[x] << PROBE_BITS)

    def bound(self, least: int) -> Fraction:
        """Return the bound on the variance for a bound on the rest, in the unit of f squared."""
        return (self.offset + Fraction(least, SCALE)) * self.half**2


def one_budget_readings_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that slopes and potentials prove, where one budget bounds all ratios.

    Raises
    ------
    CertificateError
        If the notion is not one budget inside blocks, or the probes do not reach far enough.
    """
    budget, ceiling = budget_and_ceiling(statement)
    growth = scaled_up(ceiling, BITS) - SCALE
    costs = _Parabolas(statement, dual)
    u = [scaled_down(potential, BITS) for potential in read_potentials(statement, dual)]
    for x in budget.unbounded:
        u[x] = min(u[x], _least(costs.a[x], costs.m[x]))
    total = sum(u)
    for block, protected in zip(budget.blocks, budget.protected, strict=True):
        total += min(0, _least_of_block(costs, u, block, protected, growth))
    return costs.bound(total)


def _least(a: int, m: int) -> int:
    """Return the least of a v**2 - m v over all v, rounded down."""
    if a:
        return -(m * m // (4 * a)) - 1
    if m:
        raise CertificateError("an input that no budget protects has a slope and no mass")
    return 0


def _least_of_block(
    costs: _Parabolas, u: list[int], block: tuple[int, ...], protected: list[int], growth: int
) -> int:
    """Return a lower bound on W(v) for all real v."""
    guarded = set(protected)

    def raised(c: dict[int, int]) -> int:
        negative = sum([v for x, v in c.items() if v < 0 and x in guarded])
        return sum(c.values()) + (growth * negative >> BITS)

    found, before, total = list[int](), dict[int, int](), 0
    curvature = sum([costs.a[x] for x in block])
    for n, v in enumerate(costs.v):
        spend(20 * len(block), "the costs of readings")
        c = {x: costs.at(x, v) - u[x] for x in block}
        here = raised(c)
        if n:
            w = costs.v[n - 1]
            bent = [
                costs.a[x]
                for x in protected
                if c[x] < 0 or before[x] < 0 or (costs.slope(x, w) < 0 < costs.slope(x, v))
            ]
            whole = curvature + (growth * sum(bent) >> BITS) + 1
            square = -(-whole * (v - w) ** 2 >> 2 * PROBE_BITS)
            found.append(least_on_interval(total, here, square))
        before, total = c, here
    for end, sign in ((costs.v[0], -1), (costs.v[-1], 1)):
        if raised({x: sign * costs.slope(x, end) for x in block}) < 0:
            raise CertificateError("the probes of readings do not reach far enough")
    return min(found)


def rows_readings_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that slopes, and multipliers of rows at the probes, prove.

    Raises
    ------
    CertificateError
        If a multiplier is negative or on no row, or the probes do not reach far enough.
    """
    costs = _Parabolas(statement, dual)
    k = len(costs.a)
    spend(20 * k * len(costs.v), "the costs of readings")
    reduced = [[costs.at(x, v) for v in costs.v] for x in range(k)]
    for block in dual["rows"]:
        add_rows(statement, block, reduced)
    squares = [(w - v) ** 2 for v, w in pairwise(costs.v)]
    total = 0
    for x, row in enumerate(reduced):
        curvatures = [-(-costs.a[x] * d >> 2 * PROBE_BITS) for d in squares]
        ends = zip(pairwise(row), curvatures, strict=True)
        total += min(least_on_interval(a, b, curvature) for (a, b), curvature in ends)
        for n in (0, -1):
            linear = costs.m[x] * costs.v[n] >> PROBE_BITS
            if row[n] + linear < 0 or 2 * row[n] + linear < 0:
                raise CertificateError("the probes of readings do not reach far enough")
    return costs.bound(total)
