"""A bound on a risk whose extreme rays are too many to list: that of a larger cone.

Where the notions bound the ratio of every two entries of a column, q_x <= e**budget q_z, private
channels are locally private at that budget. Under local differential privacy rays are known, so
that its least risk is found and proved: no channel that is private has less.
"""

from __future__ import annotations

import math

from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.cones.shortest_paths import closure

__all__ = ["relaxed"]

MOST_INPUTS = 12
"""Inputs up to which the rays of local differential privacy are as few as can be checked soon."""

LARGEST_BUDGET = 50.0
"""A larger budget hides next to nothing: the bound without any privacy is as good."""


def relaxed(problem: Problem, worst: Weights | None) -> Problem | None:
    """Return the problem under local differential privacy; None where there is no such budget.

    Parameters
    ----------
    problem
        With an :class:`~mechdesign.utilities.EstimationRisk`.
    worst
        For a worst case, the prior that the risk is bounded at; it is no less in the worst case.
    """
    budgets = []
    for family in problem.cone.families:
        ratios, lifts = family.ratio_rows(), family.lift_rows()
        if ratios is not None and all(bound.factor <= 1 for bound in ratios.bounds):
            budgets.append(float(closure(ratios.lengths()).max()))
        elif lifts is not None:
            exponents = [bound.exponent(lifts.epsilon) for _, bound in lifts.sides()]
            budgets.append(float(sum(exponents)) if len(exponents) == 2 else math.inf)
    budget = min(budgets, default=math.inf)
    if len(problem.domain) > MOST_INPUTS or not 0 < budget <= LARGEST_BUDGET:
        return None
    utility, prior = problem.utility, problem.prior
    if worst is not None:
        utility, prior = type(utility)(), Prior(worst)
    return Problem(problem.domain, LDP(budget), utility, prior=prior)
