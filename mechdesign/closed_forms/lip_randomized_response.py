"""Randomized response that draws from the prior, for LIP (Jiang et al. 2018)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, name_outputs, the_notion
from mechdesign.evidence.facets import erasure
from mechdesign.exact import exp_lower, short_text
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions import LIP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import ColumnUtility, EstimationRisk

__all__ = ["LIPRandomizedResponse", "in_region", "leakage_of_formula"]


class LIPRandomizedResponse(ClosedForm):
    """Report the truth with probability 1 - e**-eps, else a fresh draw from the prior.

        Q[x, x] = 1 - (1 - P_x) e**-eps,      Q[x, y] = P_y e**-eps

    Its largest lift is (e**eps - 1 + P_x) / (e**eps P_x), so it satisfies eps-LIP if and only if
    P_min >= 1/(e**eps + 1). The papers state it for every prior; off this region it is not private.

    Every channel with lifts >= e**-eps is this one followed by post-processing: with lambda its
    output distribution, (Q - e**-eps 1 lambda') / (1 - e**-eps) is a channel R with the same output
    distribution, and Q = U R. So on the region it is optimal for every loss in which only
    information counts. For a
    metric loss d, releasing the report z itself is the Bayes decision as long as
    e**-eps (c(z) - c(y)) <= (1 - e**-eps) d(z, y) with c(y) = Sum_x P_x d(x, y); by the triangle
    inequality c(z) - c(y) <= (1 - 2 P_z) d(z, y), and e**eps >= 2 - 2 P_z holds on the region.

    Source: Jiang et al. 2018 (CNS), Theorem 2; the region is ours.
    """

    name = "LIP randomized response"
    source = "Jiang et al. 2018 (CNS), Theorem 2"

    def check(self, problem: Problem) -> Verdict:
        """Ask for LIP, the region, and a utility that it is optimal for."""
        notion = problem.sole_notion(LIP)
        if notion is None:
            return Verdict(False, "it is for LIP alone", relevant=False)
        utility = problem.expected_loss
        informative = isinstance(problem.utility, ColumnUtility | EstimationRisk)
        metric = (
            utility is not None
            and problem.outputs == problem.domain.labels
            and (utility.loss(problem.domain, problem.outputs).is_metric)
        )
        if not informative and not metric:
            return Verdict(False, "optimal only for metric losses and for information")
        prior, epsilon = problem.prior, notion.epsilon
        if not in_region(prior, epsilon):
            return Verdict(False, _outside(problem, epsilon))
        return Verdict(
            True,
            f"P_min = {float(prior.minimum):.6g} is at least 1/(e^epsilon + 1) = "
            f"{_border(epsilon):.6g}, so it is private, and every private channel is "
            "it followed by post-processing",
        )

    def certificate(self, problem: Problem) -> Certificate | None:
        """Return what proves it optimal."""
        return erasure(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the channel, its outputs named like the inputs for a metric loss."""
        notion = the_notion(problem, LIP)
        shrink = math.exp(-notion.epsilon)
        keep = -math.expm1(-float(notion.epsilon))
        k = len(problem.domain)
        matrix = keep * np.eye(k) + shrink * np.tile(problem.prior.array, (k, 1))
        metric = problem.expected_loss is not None
        return Formula(matrix, problem.domain.labels if metric else name_outputs(problem, k))


def in_region(prior: Prior, epsilon: Fraction) -> bool:
    """Return whether P_min (e**epsilon + 1) >= 1, exactly."""
    return prior.minimum * (exp_lower(epsilon) + 1) >= 1


def _border(epsilon: Fraction) -> float:
    """Return 1 / (e**epsilon + 1)."""
    shrink = math.exp(-float(epsilon))
    return shrink / (1 + shrink)


def leakage_of_formula(prior: Prior, epsilon: Fraction) -> float:
    """Return what the formula leaks in nats: max(epsilon, ln of its largest lift).

    Examples
    --------
    At prior 0.01 and epsilon = 1 it leaks 4.15 times what it promises.

    >>> round(leakage_of_formula(Prior([0.01, 0.99]), Fraction(1)), 2)
    4.16
    """
    least = float(prior.minimum)
    if least == 0:
        return math.inf
    e = float(epsilon)
    return max(e, math.log((-math.expm1(-e) + least * math.exp(-e)) / least))


def _outside(problem: Problem, epsilon: Fraction) -> str:
    prior, e = problem.prior, float(epsilon)
    leak = leakage_of_formula(prior, epsilon)
    ratio = f" = {leak / e:.3g} epsilon" if e > 0 else ""
    claim = ""
    f = problem.utility.scalar_values(problem.domain)
    if f is not None:
        variance = prior.mean([v * v for v in f]) - prior.mean(f) ** 2
        claimed = float(variance) * (1 - math.expm1(-e) ** 2)
        claim = f", and the {claimed:.6g} that it claims is out of reach"
    return (
        f"outside its region: P_min = {short_text(prior.minimum)} is below 1/(e^epsilon + 1) = "
        f"{_border(epsilon):.6g}; the published formula would leak {leak:.6g}{ratio}{claim}"
    )
