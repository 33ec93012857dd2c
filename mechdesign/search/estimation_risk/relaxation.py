"""A bound on a risk with too many extreme rays to list, from a larger cone.

If the notions bound the ratio of any two entries of a column, q_x <= e**budget q_z, private
channels are locally differentially private at that budget, for which the rays are known. The least
risk under that notion is found and proved, and is a lower bound.
"""

from __future__ import annotations

import math

from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.cones.forms import closure

MOST_INPUTS = 12
"""The number of inputs up to which the checker lists the rays of LDP quickly."""

LARGEST_BUDGET = 50.0
"""With a larger budget the bound without privacy is as good."""


def relaxed(problem: Problem, worst: Weights | None) -> Problem | None:
    """Return the problem under local differential privacy; None if there is no such budget.

    Parameters
    ----------
    problem
        With an :class:`~mechdesign.utilities.EstimationRisk`.
    worst
        For a worst case, the prior at which the risk is bounded; the worst case is no smaller.
    """
    by_ratios = [rows for rows in problem.cone.ratios.values() if max(rows.scales) <= 1]
    budgets = [float(closure(rows.lengths()).max()) for rows in by_ratios]
    lifts = [rows.sides() for f in problem.cone.families if (rows := f.lift_rows()) is not None]
    budgets += [float(sum(sides.values())) for sides in lifts if len(sides) == 2]
    budget = min(budgets, default=math.inf)
    if len(problem.domain) > MOST_INPUTS or not 0 < budget <= LARGEST_BUDGET:
        return None
    utility, prior = problem.utility, problem.prior
    if worst is not None:
        utility, prior = type(utility)(), Prior(worst)
    return Problem(problem.domain, LDP(budget), utility, prior=prior)
