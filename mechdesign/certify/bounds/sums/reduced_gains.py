"""Upper bounds on a sum of gains by weak duality, from a potential for each input.

Let u be potentials, and c a number with

    g(q) - u . q  <=  c (P . q)    for every private column q.

The columns of a channel sum to 1, and their probabilities P . q sum to 1, so that

    Sum_y g(q_y)  <=  Sum_x u_x + c.

The least such c is the largest reduced gain (g(q) - u . q) / (P . q), as in column generation. A
certificate names the search that bounds it from above: over all extreme rays, since g is convex;
by a knapsack for bounds on one lift (`lift_knapsack`); over the sets that the rays of one budget
raise (`sets`); or by branch and bound (`boxes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from operator import mul
from typing import Any

from mechdesign.certify.bounds.sums.boxes import reduced_gain_by_boxes
from mechdesign.certify.bounds.sums.gains import gain, offset
from mechdesign.certify.bounds.sums.lift_knapsack import reduced_gain_by_knapsack
from mechdesign.certify.bounds.sums.rays import all_rays
from mechdesign.certify.bounds.sums.sets import rays_above
from mechdesign.certify.fixed_point import fraction_steps, over_one_denominator, total
from mechdesign.certify.problem import Statement, number, read_potentials
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["potentials_bound", "reduced_gain_by_rays"]

Gain = Callable[[Sequence[int]], Fraction]


def potentials_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound on the objective that potentials prove.

    ``dual["potential"]`` is u. ``dual["search"]`` names the search for c: ``"rays"``, ``"sums"``,
    ``"sets"`` with the claim ``dual["surplus"]`` and ``dual["intervals"]``, or ``"boxes"`` with the
    tree ``dual["tree"]``.
    """
    u, worth = read_potentials(statement, dual), partial(gain, statement, up=True)
    if dual["search"] == "rays":
        rays = all_rays(statement, dual.get("priors"))
        largest = reduced_gain_by_rays(rays, statement.prior, u, worth)
    elif dual["search"] == "sets":
        claim = number(dual["surplus"])
        rays = rays_above(statement, u, claim, dual["intervals"])
        largest = reduced_gain_by_rays(rays, statement.prior, u, worth, claim)
    elif dual["search"] == "sums":
        largest = reduced_gain_by_knapsack(statement, u)
    else:
        largest = reduced_gain_by_boxes(statement, u, dual["tree"], dual.get("priors"))
    most = total(u) + largest
    return most if statement.is_maximized else offset(statement) - most


def reduced_gain_by_rays(
    rays: Iterable[Sequence[int]],
    prior: list[Fraction],
    u: list[Fraction],
    worth: Gain,
    least: Fraction | None = None,
) -> Fraction:
    """Return the least c with worth(q) <= u . q + c (P . q) on the rays of a cone.

    With ``least`` it is not below that, and there may be no ray.

    As ``worth`` is convex and homogeneous, the inequality then holds on all columns of the cone,
    which are sums of rays. On a ray with P . q = 0 nothing is gained, and u . q >= 0 is needed.
    """
    masses, whole = over_one_denominator(prior)
    potentials, unit = over_one_denominator(u)
    largest = least
    steps = 2 * len(masses) + 2 * fraction_steps(unit.bit_length() + whole.bit_length())
    for q in rays:
        spend(steps, "the reduced gain of a ray")
        probability, cost = sum(map(mul, masses, q)), sum(map(mul, potentials, q))
        if not probability:
            if cost < 0:
                raise CertificateError("an output that never occurs has a reduced gain above 0")
            continue
        reduced = (worth(q) - Fraction(cost, unit)) * Fraction(whole, probability)
        largest = reduced if largest is None else max(largest, reduced)
    if largest is None:
        raise CertificateError("the cone has no ray")
    return largest
