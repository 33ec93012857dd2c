"""Subset selection for distribution estimation under bounds on the lift, at the uniform prior."""

from __future__ import annotations

from mechdesign.closed_forms.balanced_subsets import balanced_arrangements
from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict, lift_rows_at
from mechdesign.closed_forms.subset_selection import (
    LARGEST_LOW,
    MOST_INPUTS,
    NOT_A_RISK,
    TOO_LARGE,
    TOO_SMALL,
    write_out,
)
from mechdesign.closed_forms.uniform_lift import best_lift
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.symmetric import subset_selection
from mechdesign.kernel.certificate import Certificate
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.problem import Problem
from mechdesign.utilities import EstimationRisk

__all__ = ["LiftSubsetSelection"]


class LiftSubsetSelection(ClosedForm):
    """All arrangements of one vector of lifts: some as high as allowed, one between, the rest low.

    At the uniform prior a report's lifts r lie between two bounds and have mean 1. All vertices of
    that polytope are arrangements of one vector, and so have one |r|**2; mixed evenly they make all
    eigenvalues of M but one equal, which is best (see `subset_selection` in the checker). This is
    where the published formula for LIP fails, too: k > e**eps + 1.

    Source: ours.
    """

    name = "subset selection by lifts"
    source = "ours; the vertices are of Jiang et al. 2021 (TIFS)"

    def check(self, problem: Problem) -> Verdict:
        """Ask for bounds on the lift at the uniform prior, and a risk of estimation."""
        family = _sole_lift(problem)
        if family is None or not isinstance(problem.utility, EstimationRisk):
            return NOT_A_RISK
        if not problem.prior.is_uniform:
            return Verdict(False, "optimal only at the uniform prior")
        if len(problem.domain) > MOST_INPUTS:
            return TOO_LARGE
        low, high = family.ends()
        if low > LARGEST_LOW or high < 1 / LARGEST_LOW:
            return TOO_SMALL
        lift = best_lift(family)
        raised = int((lift == lift[0]).sum())
        reason = (
            f"at the uniform prior all vectors of lifts have the same entries, {raised} at the top"
        )
        return Verdict(True, reason)

    def certificate(self, problem: Problem) -> Certificate | None:
        """Return what proves it optimal."""
        return subset_selection(problem.compiled)

    def formula(self, problem: Problem) -> Formula:
        """Return the channel."""
        family = _sole_lift(problem)
        if family is None:
            raise UnsupportedError("privacy", "bounds on the lift alone", problem.privacy)
        columns, weights = balanced_arrangements(tuple(best_lift(family).tolist()))
        return write_out(problem, columns * weights)


def _sole_lift(problem: Problem) -> LiftRows | None:
    """Return the bounds on the lift for the problem's prior, if that is all that is asked."""
    (family, *more) = problem.cone.families
    return None if more else lift_rows_at(problem, family)
