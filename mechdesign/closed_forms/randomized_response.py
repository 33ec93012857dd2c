"""k-ary randomized response, for LDP (Kairouz, Bonawitz and Ramage 2016)."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, the_notion
from mechdesign.evidence.symmetric import symmetric
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions import LDP
from mechdesign.problem import Problem

__all__ = ["RandomizedResponse"]


class RandomizedResponse(ClosedForm):
    """Report the truth with odds e**eps against any other one answer (GRR).

        Q[x, x] = e**eps / (e**eps + k - 1),      Q[x, y] = 1 / (e**eps + k - 1)

    Optimal for Hamming loss under LDP at the uniform prior: in the column of output y,
    q_y <= e**eps q_x for all x, so Sum_x q_x >= q_y (1 + (k-1) e**-eps), and adding up over y,
    Sum_x Q[x, x] <= k / (1 + (k-1) e**-eps), which it attains.

    Source: Kairouz, Bonawitz and Ramage 2016 (the mechanism, k-RR).
    """

    name = "k-ary randomized response"
    source = "Kairouz, Bonawitz and Ramage 2016"

    def check(self, problem: Problem) -> Verdict:
        """Ask for LDP alone, the expected Hamming loss on the domain, and the uniform prior."""
        if problem.sole_notion(LDP) is None:
            return Verdict(False, "it is for LDP alone", relevant=False)
        symmetric = problem.utility.treats_inputs_alike(problem.domain, problem.outputs)
        own = problem.outputs == problem.domain.labels
        if problem.expected_loss is None or not (symmetric and own):
            return Verdict(False, "optimal only for the Hamming loss on the domain")
        if not problem.prior.is_uniform:
            return Verdict(False, "optimal only at the uniform prior")
        return Verdict(True, "LDP, Hamming loss and a uniform prior")

    def certificate(self, problem: Problem) -> Certificate:
        """Return what proves it optimal."""
        return symmetric(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the channel."""
        notion = the_notion(problem, LDP)
        k = len(problem.domain)
        shrink = math.exp(-notion.epsilon)
        matrix = np.where(np.eye(k, dtype=bool), 1.0, shrink) / (1 + (k - 1) * shrink)
        return Formula(matrix, problem.domain.labels)
