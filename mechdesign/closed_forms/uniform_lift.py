"""Bounds on the lift at a uniform prior, for utilities that are symmetric in the inputs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.linalg import circulant

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, lift_rows_at, name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.symmetric import symmetric
from mechdesign.exact import exp_lower, exp_upper
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.problem import Problem

__all__ = ["UniformLift", "best_lift"]


class UniformLift(ClosedForm):
    """Each report raises the odds of some inputs as far as allowed, and lowers those of the rest.

    At a uniform prior, lifts r = q / (P . q) with l <= r_x <= u are a polytope with Sum_x r_x = k.
    At a vertex of it all entries but one are at an end, so that its vertices are all permutations
    of one vector: as many entries u as fit, one in between, the rest l. A gain g that is convex and
    the same for all permutations, with g(q_y) = lambda_y g(r_y), is at most g of that vector on
    every lift, hence Sum_y g(q_y) <= g of it, in all. The k cyclic shifts of the vector, each with
    probability 1/k, add up to the constant column, as its entries add up to k, and attain that.

    So it is for information, the accuracy of the best guess and the error of the histogram, with
    LIP, with any bounds on the lift (l = 0, or u beyond reach, where there is none) and with
    pointwise maximal leakage. The Hamming loss is 1 less the accuracy of a guess.

    Source: ours. Where e**eps >= k - 1 it is Jiang et al.'s randomized response for LIP.
    """

    name = "uniform lifts"
    source = "ours"

    def check(self, problem: Problem) -> Verdict:
        """Ask for a bound on the lift alone, uniform priors, and a symmetric utility."""
        if _sole_lift(problem) is None:
            return Verdict(False, "it is for bounds on the lift at a uniform prior", relevant=False)
        if not problem.utility.treats_inputs_alike(problem.domain, problem.outputs):
            return Verdict(
                False, "it is for utilities that are symmetric in the inputs", relevant=False
            )
        return Verdict(
            True,
            "at a uniform prior the extreme lifts are permutations of one, and its cyclic shifts "
            "are optimal for every utility that is symmetric in the inputs",
        )

    def certificate(self, problem: Problem) -> Certificate:
        """Return what proves it optimal."""
        return symmetric(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the cyclic shifts of the best lift."""
        family = _sole_lift(problem)
        if family is None:
            raise UnsupportedError("privacy", "bounds on the lift", problem.privacy)
        lift, k = best_lift(family), len(problem.domain)
        matrix = circulant(lift) / k
        if problem.expected_loss is not None:
            return Formula(matrix, problem.domain.labels)
        return Formula(matrix, name_outputs(problem, k))


def best_lift(family: LiftRows) -> FloatArray:
    """Return the vector whose permutations are the extreme lifts at a uniform prior, falling.

    Its length is the number of inputs.

    Examples
    --------
    >>> from mechdesign import LIP, Domain, Prior
    >>> best_lift(LIP(0.5).family(Domain.range(5), Prior.uniform(5))).round(5)
    array([1.64872, 1.53169, 0.60653, 0.60653, 0.60653])
    """
    k, bounds = family.size, dict(family.sides())
    low, high = Fraction(0), Fraction(k)
    if "lower" in bounds:
        low = exp_lower(-bounds["lower"].exponent(family.epsilon))
    if "upper" in bounds and (upper := bounds["upper"].exponent(family.epsilon)) <= math.log(k):
        high = exp_upper(upper)
    full = min(k - 1, int(k * (1 - low) / (high - low))) if high > low else 0
    between = k - full * high - (k - 1 - full) * low
    lift = np.full(k, float(low))
    lift[:full], lift[full] = float(high), float(between)
    return lift


def _sole_lift(problem: Problem) -> LiftRows | None:
    """Return the bounds on the lift, if there are no others and the priors are uniform."""
    binding = [family for family in problem.cone.families if family.binds()]
    if len(binding) != 1 or not problem.prior.is_uniform:
        return None
    return lift_rows_at(problem, binding[0])
