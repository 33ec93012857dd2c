"""The identity channel, where no row of the notion binds."""

from __future__ import annotations

import numpy as np

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, best_outputs, decide
from mechdesign.evidence.unconstrained import nothing_constrained
from mechdesign.kernel.certificate import Certificate
from mechdesign.problem import Problem
from mechdesign.utilities import LinearUtility

__all__ = ["Unconstrained"]


class Unconstrained(ClosedForm):
    """The identity, followed by the best output for each input.

    Optimal for every utility when no row of the notions can be broken by any column, and the
    identity keeps the rules on the whole channel, as then every channel, a post-processing of it,
    does.
    """

    name = "identity"
    source = "no row binds"
    allows_non_conic = True
    allows_readings = True

    def check(self, problem: Problem) -> Verdict:
        """Ask every family whether some column breaks a row of it."""
        if any(family.binds() for family in problem.cone.families):
            return Verdict(False, "a row of the privacy notion binds", relevant=False)
        if not problem.is_conic:
            return Verdict(False, "the identity breaks the privacy notion", relevant=False)
        return Verdict(True, "no row of the privacy notion can be broken by any channel")

    def certificate(self, problem: Problem) -> Certificate:
        """Return what proves it optimal."""
        return nothing_constrained(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the identity, or the best output for each input."""
        identity, utility = np.eye(len(problem.domain)), problem.utility
        if not isinstance(utility, LinearUtility):
            return decide(problem, identity)
        loss = utility.loss(problem.domain, problem.outputs or ()).array
        return best_outputs(problem, identity, loss)
