"""Where potentials of the inputs alone prove a bound on a linear loss.

For some cones the checker finds the least cost of a private column by itself, given its costs
(:mod:`mechdesign.kernel.oracles`). There no multipliers of rows are needed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mechdesign.notions.rows.lift_rows import LARGEST_EXPONENT, LiftRows
from mechdesign.problem import Problem
from mechdesign.search.cones.input_line import InputLine
from mechdesign.search.cones.one_budget import OneBudgetCone

__all__ = ["own_lift", "price_search"]


@lru_cache(maxsize=4)
def price_search(problem: Problem) -> str:
    """Return how the checker finds the least cost of a column; empty where it does not.

    Examples
    --------
    >>> from mechdesign import LDP, LIP, HammingLoss
    >>> prior = [0.2, 0.3, 0.5]
    >>> notions = (LDP(1), LIP(1))
    >>> [price_search(Problem(range(3), notion, HammingLoss(), prior=prior)) for notion in notions]
    ['one-budget', 'lifts']
    """
    if not problem.is_conic:
        return ""
    if InputLine.of_problem(problem) is not None:
        return "chain"
    form = OneBudgetCone.of(problem.cone)
    if form is not None:
        return "one-budget" if np.exp(-LARGEST_EXPONENT) < form.low < 1 else ""
    return "" if own_lift(problem) is None else "lifts"


def own_lift(problem: Problem) -> LiftRows | None:
    """Return the rows of the sole notion if they bound the lift for the problem's prior.

    None also where they allow one column only, or entries without a bound.
    """
    (only, *more), prior = problem.cone.families, problem.prior
    family = only.lift_rows()
    if more or family is None or not family.is_for(prior.probabilities):
        return None
    low, high = family.ends()
    if low >= 1 or high <= 1 or (high == np.inf and not prior.array.all()):
        return None
    return family
