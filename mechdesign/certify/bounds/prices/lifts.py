"""Lower bounds on a linear loss by prices, where a notion bounds the lift for the problem's prior.

A column q with l = P . q satisfies low l <= q_x <= high l. So q = l r with P . r = 1 and every r_x
between low and high, and r = low + s with

    0 <= s_x <= high - low,    Sum_x P_x s_x = 1 - low.

The reduced cost (`reduced_costs`) of r is low Sum_x c_x + c . s. The least c . s is a fractional
knapsack: s fills up inputs in rising order of c_x / P_x. The bound needs its dual only. For any
rate h, as Sum_x h P_x s_x = h (1 - low),

    c . s  =  h (1 - low) + Sum_x (c_x - h P_x) s_x
          >=  h (1 - low) + (high - low) Sum_x min(0, c_x - h P_x),

and the best h is c_x / P_x of the input at which the knapsack is full. With K_y the sum of both
parts, for output y, the costs of a private channel are Sum_y c_y . q_y >= Sum_y l_y K_y, and as the
probabilities l_y of the outputs sum to 1,

    loss  >=  Sum_x u_x + min_y K_y.

Without an upper bound, r_x is at most 1 / P_x; the same proof holds with the least c_x / P_x as h,
where no difference is negative. The entries of inputs of prior 0 are then unbounded: their prices
are lowered until c_x >= 0.

``low`` is rounded down and ``high`` up, which enlarges the set of r; costs are rounded down.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.outward import lift_range
from mechdesign.certify.bounds.prices.reduced_costs import BITS, SCALE, ReducedCosts
from mechdesign.certify.fixed_point import product_steps, scaled_down, scaled_up
from mechdesign.certify.privacy.check import is_for_own_prior
from mechdesign.certify.problem import Statement
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["lifts_bound"]


def lifts_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that the potentials ``dual["potential"]`` prove, whatever they are.

    Raises
    ------
    CertificateError
        If the sole notion is none that bounds the lift for the prior of the problem.
    """
    (table, *more) = statement.privacy
    if more or not is_for_own_prior(statement, table):
        raise CertificateError("these potentials need bounds on the lift for one prior alone")
    least, most = lift_range(table)
    low = scaled_down(least, BITS)
    width = None if most is None else scaled_up(most, BITS) - low
    costs = ReducedCosts(statement, dual)
    masses, whole = statement.masses
    never = [x for x, p in enumerate(masses) if not p]
    if width is None and never:
        costs.lower(never)
    likely = [(x, p) for x, p in enumerate(masses) if p]
    steps, found = 2 * product_steps(whole) * len(masses), []
    for c in costs:
        spend(steps, "the costs of lifts")
        rates = [c[x] * whole // p for x, p in likely]
        if width is None:
            below, rate = 0, min(rates)
        else:
            below, rate = _knapsack(c, likely, rates, (SCALE - low) * whole, width, whole)
            below += sum([c[x] for x in never if c[x] < 0])
        found.append(low * sum(c) + (width or 0) * below + rate * (SCALE - low))
    return costs.bound(min(found) >> BITS)


def _knapsack(
    c: list[int],
    likely: list[tuple[int, int]],
    rates: list[int],
    room: int,
    width: int,
    whole: int,
) -> tuple[int, int]:
    """Return Sum_x min(0, c_x - h P_x), rounded down, and the rate h at which the knapsack is full.

    ``rates`` are c_x / P_x, rounded down; ``room`` is 1 - low in the unit of width times a mass.
    """
    mass, filled = 0, []
    for place in sorted(range(len(rates)), key=rates.__getitem__):
        x, p = likely[place]
        if width * (mass + p) >= room:
            break
        mass += p
        filled.append((x, p))
    rate = rates[place]
    return sum([min(0, c[x] * whole - rate * p) for x, p in filled]) // whole, rate
