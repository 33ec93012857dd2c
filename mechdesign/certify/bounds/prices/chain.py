"""Lower bounds on a linear loss by prices and dynamic programming, where inputs form a chain.

Put the inputs in a line. A notion may bound the ratio of any two neighbors both ways, as metric
privacy on numbers does. Then a private column q has

    down_x q_x  <=  q_{x+1}  <=  up_x q_x        for every x.

The chain bounds the reduced costs c_y . q_y of each output (`reduced_costs`) from below. A
recursion from the far end towards x shows that the inputs beyond x cost at least R_x q_x, with
R = 0 at the end and

    R_x = t down_x  if t >= 0,  t up_x  if t < 0,       t = c[x+1] + R_{x+1},

since then t q_{x+1} >= R_x q_x. The recursion from the other end gives L_x. At any input x, the
root,

    c . q  >=  W_x q_x,    W_x = c[x] + R_x + L_x.

Each output takes the root at which W_x is largest. The outputs rooted at x give it at most the
probability 1 in total, so that together they cost at least min(0, the least of their W_x), and

    loss  >=  Sum_x u_x + Sum_x min(0, min over outputs y rooted at x of W_x).

Costs, ``down`` and R, L are rounded down, and ``up`` is rounded up: all these lower the bound. As
the rows of Q sum to 1, ``down`` is at most 1 and ``up`` at least 1, or no channel is private. So R
and L fall without end once they are far below all costs; there they are cut off at :data:`LEAST`,
and so is what lies beyond. No output has its root there, unless the bound is below 0 anyhow.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from operator import add
from typing import Any

from mechdesign.certify.bounds.outward import ratio_ceiling, ratio_floor
from mechdesign.certify.bounds.prices.reduced_costs import BITS, SCALE, ReducedCosts
from mechdesign.certify.fixed_point import scaled_down, scaled_up
from mechdesign.certify.privacy.check import Bound, ratio_bound
from mechdesign.certify.privacy.metric_pairs import line_order
from mechdesign.certify.problem import Statement
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["chain_bound"]

Step = tuple[int, int]
"""Numbers (down, up) with down q_x <= q_z <= up q_x, over 2**BITS, rounded outward."""

LEAST = -(1 << 2048)
"""R and L are not told apart below it: costs and prices are smaller, 1e308 at most in all files.

Integers stay short, where factors of up to e**4096 would make each longer than the one before."""


def chain_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that the potentials ``dual["potential"]`` prove, whatever they are.

    Raises
    ------
    CertificateError
        If two neighbors do not bound each other both ways.
    """
    order, costs = line_order(statement), ReducedCosts(statement, dual)
    right = _steps(statement, order)
    left = _steps(statement, order[::-1])
    worst = [0] * len(order)
    for given in costs:
        spend(4 * len(order), "the chain bound")
        c = [given[x] for x in order]
        beyond = _beyond(c, right)
        before = _beyond(c[::-1], left)[::-1]
        total = list(map(add, c, map(add, beyond, before)))
        most = max(total)
        root = total.index(most)
        worst[root] = min(worst[root], most)
    return costs.bound(sum(worst))


def _beyond(c: list[int], steps: list[Step]) -> list[int]:
    """Return R: what lies after x in the list costs at least R_x q_x. Rounded down.

    From the first one below LEAST on, all are LEAST.
    """
    total, found = 0, [0]
    for cost, (down, up) in zip(reversed(c), reversed(steps), strict=False):
        total += cost
        total = total * (down if total >= 0 else up) >> BITS
        if total < LEAST:
            found += [LEAST] * (len(c) - len(found))
            break
        found.append(total)
    return found[::-1]


def _steps(statement: Statement, order: list[int]) -> list[Step]:
    """Return the bounds of all notions on each input and the next one in the order."""
    bounds = [ratio_bound(statement, table) for table in statement.privacy]
    return [_step([b for b in bounds if b is not None], x, z) for x, z in pairwise(order)]


def _step(bounds: list[Bound], x: int, z: int) -> Step:
    """Return the strictest ``down q_x <= q_z <= up q_x`` of all notions."""
    down = max((scaled_down(ratio_floor(bound(x, z)), BITS) for bound in bounds), default=0)
    ceilings = [ratio_ceiling(bound(z, x)) for bound in bounds]
    up = [scaled_up(ceiling, BITS) for ceiling in ceilings if ceiling is not None]
    if not up:
        raise CertificateError(f"the notions do not bound inputs {x} and {z} by each other")
    return min(down, SCALE), max(min(up), SCALE)
