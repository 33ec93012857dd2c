"""Subset selection by cyclic shifts: LDP at a uniform prior, utilities symmetric in the inputs."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import circulant

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import (
    ClosedForm,
    Formula,
    Verdict,
    name_outputs,
    the_notion,
)
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.symmetric import symmetric
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions import LDP
from mechdesign.problem import Problem
from mechdesign.utilities import ColumnUtility

__all__ = ["UniformSubsets"]


class UniformSubsets(ClosedForm):
    """Report one of k sets of j inputs, one that holds the own input more often by e**eps.

    The extreme rays of LDP have entries e**eps on some j inputs and 1 on the others. At a uniform
    prior a gain g that is the same for all permutations depends on j alone: with P . r = 1 it is
    g_j. As the gain of a channel is a mean of gains of rays, none has more than max_j g_j. The k
    cyclic shifts of j inputs in a row cover every input equally often, so that their columns are
    the same for all inputs in sum: a channel, and it attains that.

    So it is for information, the accuracy of the best guess (where j = 1, randomized response) and
    the error of the histogram. Subset selection of all sets of j gains as much, with more outputs.

    Source: Wang et al. 2016, for information; that k sets do is ours.
    """

    name = "subset selection by shifts"
    source = "Wang et al. 2016, for information"

    def check(self, problem: Problem) -> Verdict:
        """Ask for LDP alone, the uniform prior, and a symmetric utility."""
        if problem.sole_notion(LDP) is None:
            return Verdict(False, "it is for LDP alone", relevant=False)
        utility = problem.utility
        symmetric = utility.treats_inputs_alike(problem.domain, problem.outputs)
        if not (symmetric and isinstance(utility, ColumnUtility)):
            return Verdict(
                False, "it is for sums of gains that are symmetric in the inputs", relevant=False
            )
        if not problem.prior.is_uniform:
            return Verdict(False, "optimal only at the uniform prior")
        k, ray = len(problem.domain), _best_ray(problem, utility)
        return Verdict(
            True,
            f"at a uniform prior sets of {(ray == 1).sum()} of {k} inputs are worth the "
            "most among the extreme rays of LDP, for every utility that is symmetric in the inputs",
        )

    def certificate(self, problem: Problem) -> Certificate:
        """Return what proves it optimal."""
        return symmetric(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the cyclic shifts of the best set."""
        if not isinstance(problem.utility, ColumnUtility):
            raise UnsupportedError("objective", "a sum of gains", problem.utility.name)
        ray = _best_ray(problem, problem.utility)
        matrix = circulant(ray) / ray.sum()
        return Formula(matrix, name_outputs(problem, len(ray)))


def _best_ray(problem: Problem, utility: ColumnUtility) -> FloatArray:
    """Return the ray of 1 and then e**-eps that is worth the most for its probability."""
    low, k = math.exp(-the_notion(problem, LDP).epsilon), len(problem.domain)
    raised = np.arange(k)[:, None] <= np.arange(max(1, k - 1))[None, :]
    rays, prior = np.where(raised, 1.0, low), problem.prior.array
    return rays[:, np.argmax(utility.gain(rays, prior) / (prior @ rays))]
