"""Perfect privacy: at budget 0 the output is independent of the input."""

from __future__ import annotations

import numpy as np

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, decide
from mechdesign.evidence.facets import equal_rows
from mechdesign.kernel.certificate import Certificate
from mechdesign.problem import Problem
from mechdesign.utilities import LinearUtility

__all__ = ["IndependentRelease"]


class IndependentRelease(ClosedForm):
    """One output, whatever the input.

    Where a bound e**0 ties all inputs, every private channel has equal rows: q_x <= q_x' in every
    column, with both rows summing to 1, makes them equal, and so does q_x <= P . q for every x.
    An expected loss is then a mean over outputs of Sum_x P_x D(x, y), least at one of them.
    """

    name = "independent release"
    source = "perfect privacy"
    allows_non_conic = True

    def check(self, problem: Problem) -> Verdict:
        """Join the inputs that bounds of exactly 1 tie."""
        if len(set(problem.cone.equal_classes(exact=True).tolist())) > 1:
            return Verdict(False, "not all inputs are tied by a budget of 0", relevant=False)
        if isinstance(problem.utility, LinearUtility) and problem.utility.worst_case:
            return Verdict(False, "a worst case may want a mixture of outputs", relevant=False)
        return Verdict(True, "a budget of 0 makes all rows of every private channel equal")

    def certificate(self, problem: Problem) -> Certificate | None:
        """Return what proves it optimal."""
        return equal_rows(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the constant channel on the best output."""
        return decide(problem, np.ones((len(problem.domain), 1)))
