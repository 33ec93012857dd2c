"""Lower bounds on a linear loss by prices, where one budget bounds all ratios inside blocks.

Let c be the reduced costs of one output (`reduced_costs`), q its column, B a block of inputs, A the
protected inputs in it, q_x <= e**eps q_z for x in A and z in B, and t the least entry of q in B. An
entry in A lies between t and e**eps t, and so

    c_x q_x  >=  t (c_x + (e**eps - 1) min(c_x, 0))        for x in A.

An input that is protected nowhere has an entry that may be as large as it likes. Its price is
lowered until c_x >= 0 for every output; any prices will do. Then c_x q_x >= t c_x for x in B
outside A, and c_x q_x >= 0 outside all blocks. Added up over the block,

    Sum_{x in B} c_x q_x  >=  t W,     W = Sum_{x in B} c_x + (e**eps - 1) Sum_{x in A} min(c_x, 0).

Now t is at most q_x for any one x in B, and the entries of x sum to 1 over the outputs. So the
least entries t_y of all outputs sum to at most 1, and Sum_y t_y W_y >= min(0, min_y W_y):

    loss  >=  Sum_x u_x + Sum_B min(0, min over outputs of W).

At the prices of an optimum no W is negative: W is the cost of a ray, that with e**eps where c_x < 0
in A and 1 elsewhere in B.

Costs are rounded down, and e**eps up where it is multiplied by what is not positive.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.one_budget import OneBudget, one_budget
from mechdesign.certify.bounds.outward import ratio_ceiling
from mechdesign.certify.bounds.prices.reduced_costs import BITS, SCALE, ReducedCosts
from mechdesign.certify.fixed_point import scaled_up
from mechdesign.certify.problem import Statement
from mechdesign.errors import CertificateError
from mechdesign.resources import spend

__all__ = ["budget_and_ceiling", "one_budget_bound"]


def budget_and_ceiling(statement: Statement) -> tuple[OneBudget, Fraction]:
    """Return the blocks of the one budget eps, and e**eps or a little more.

    Raises
    ------
    CertificateError
        If the notion is not one budget inside blocks, or one so large that nothing is bounded.
    """
    budget = one_budget(statement)
    ceiling = None if budget is None else ratio_ceiling((budget.exponent, Fraction(1)))
    if budget is None or ceiling is None:
        raise CertificateError("these potentials need one budget inside blocks of inputs")
    return budget, ceiling


def one_budget_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound that the potentials ``dual["potential"]`` prove, whatever they are.

    Raises
    ------
    CertificateError
        If the notion is not one budget inside blocks, or one so large that nothing is bounded.
    """
    budget, ceiling = budget_and_ceiling(statement)
    growth = scaled_up(ceiling, BITS) - SCALE
    costs = ReducedCosts(statement, dual)
    if budget.unbounded:
        costs.lower(budget.unbounded)
    parts = list(zip(budget.blocks, budget.protected, strict=True))
    worst = [0] * len(parts)
    for c in costs:
        spend(len(c), "the costs of raised sets")
        for n, (block, protected) in enumerate(parts):
            negative = sum([c[x] for x in protected if c[x] < 0])
            least = sum([c[x] for x in block]) + (growth * negative >> BITS)
            worst[n] = min(worst[n], least)
    return costs.bound(sum(worst))
