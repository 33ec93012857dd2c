"""The universal channel of a simplicial cone, of which every private one is a post-processing."""

from __future__ import annotations

from functools import lru_cache

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, best_when_informed, decide
from mechdesign.closed_forms.universal import decide_cone
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.facets import simplicial
from mechdesign.kernel.certificate import Certificate
from mechdesign.problem import Problem

__all__ = ["Universal"]

MOST_INPUTS = 300

_decided = lru_cache(maxsize=4)(decide_cone)
"""One problem asks three times."""


class Universal(ClosedForm):
    """The universal channel of a cone that has as many facets as inputs.

    With f_i the k rows that imply all others, F their matrix and theta = F 1 their slacks on the
    constant column, S = F Q >= 0 for a private channel Q, and its rows add up to theta. So

        Q = U W,     U = F**-1 diag(theta),     W = diag(theta)**-1 S,

    and W is a channel: every private channel is U followed by post-processing. (The columns of U
    are the extreme rays of the cone, in the only proportion in which they add up to the constant.)
    So U is best for every utility that no post-processing raises, and, with the best decision on
    each of its reports, for every expected loss. Two inputs, randomized response for LIP, and one
    sensitive input in high-low LDP are cases of it; others are pointwise maximal leakage with
    epsilon <= -ln(1 - P_min), only bounds from below on the lift, and budgets of pairs that bound
    each entry from below by one other.

    Source: ours for more than two inputs; Acharya et al. 2020, Theorem 2, for two.
    """

    name = "universal channel"
    source = "ours; Acharya et al. 2020, Theorem 2, for two inputs"

    def check(self, problem: Problem) -> Verdict:
        """Ask for a cone of as many facets as inputs, and a utility that needs information only."""
        if not best_when_informed(problem):
            return Verdict(False, "it is best for information and expected losses", relevant=False)
        if len(problem.domain) > MOST_INPUTS:
            most = f"it is looked for on at most {MOST_INPUTS} inputs"
            return Verdict(False, most, relevant=False)
        found = _decided(problem.cone)
        if not found.simplicial:
            return Verdict(False, found.reason, relevant=False)
        return Verdict(
            True,
            "every private channel is the universal one followed by post-processing, so that it is "
            f"optimal for every data-processing utility: {found.reason}",
        )

    def certificate(self, problem: Problem) -> Certificate | None:
        """Return what proves it optimal."""
        facets = _decided(problem.cone).facets
        return simplicial(problem.compiled, [facet.row for facet in facets])

    def formula(self, problem: Problem) -> Formula:
        """Return the universal channel, and the Bayes decision on it for an expected loss."""
        matrix = _decided(problem.cone).matrix
        if matrix is None:
            raise UnsupportedError("privacy", "a cone of as many facets as inputs", problem.privacy)
        return decide(problem, matrix[:, matrix.max(axis=0) > 0])
