"""Mangat's randomized response for any number of inputs, one of them sensitive."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.closed_forms.base import (
    ClosedForm,
    Formula,
    Verdict,
    best_when_informed,
    decide,
    the_notion,
)
from mechdesign.evidence.facets import NamedRow, simplicial
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions import HighLowLDP
from mechdesign.problem import Problem

__all__ = ["KaryMangat"]


class KaryMangat(ClosedForm):
    """High-low LDP with one sensitive input: it always gives the answer that others give sometimes.

        Q[s, 0] = 1,        Q[x, 0] = e**-eps,        Q[x, x] = 1 - e**-eps    for x other than s

    The rows are q_s <= e**eps q_x for the k - 1 other inputs, and with q_s >= 0 they imply q >= 0.
    A column is q = q_s (1, e**-eps, ...) + Sum_x (q_x - e**-eps q_s) e_x, a mixture of k rays with
    weights >= 0; so every private channel is that of the rays, scaled to add up to 1, followed by
    post-processing. It is optimal for every data-processing utility, and with the best decision on
    each report for every expected loss.

    Source: ours; Mangat 1994 for two inputs.
    """

    name = "k-ary Mangat"
    source = "ours; Mangat 1994 for two inputs"

    def check(self, problem: Problem) -> Verdict:
        """Ask for high-low LDP alone, one sensitive input, and a utility that needs information."""
        notion = problem.sole_notion(HighLowLDP)
        if notion is None or len(problem.domain) < 2:
            return Verdict(False, "it is for high-low LDP alone", relevant=False)
        if len(notion.sensitive) > 1:
            return Verdict(False, "it is for one sensitive input", relevant=False)
        if not best_when_informed(problem):
            return Verdict(False, "it is best for information and expected losses", relevant=False)
        return Verdict(
            True,
            "with one sensitive input every private channel is this one followed by "
            "post-processing, so that it is optimal for every data-processing utility",
        )

    def formula(self, problem: Problem) -> Formula:
        """Return the channel, and the Bayes decision on it for an expected loss."""
        sensitive, notion = _sensitive(problem)
        shrink, keep = math.exp(-notion.epsilon), -math.expm1(-notion.epsilon)
        matrix = keep * np.eye(len(problem.domain))
        matrix[:, sensitive] = shrink
        matrix[sensitive, sensitive] = 1.0
        return decide(problem, matrix[:, matrix.max(axis=0) > 0])

    def certificate(self, problem: Problem) -> Certificate | None:
        """Return the rays of the pairs' rows and q_s >= 0."""
        s, _ = _sensitive(problem)
        rows: list[NamedRow] = [(0, "ratio", s, x, None) for x in range(len(problem.domain))]
        rows[s] = (None, "positive", s, None, None)
        return simplicial(problem.compiled, rows)


def _sensitive(problem: Problem) -> tuple[int, HighLowLDP]:
    """Return the place of the sensitive input, and the notion."""
    notion = the_notion(problem, HighLowLDP)
    return problem.domain.index(notion.sensitive[0], "sensitive"), notion
