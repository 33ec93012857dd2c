"""The route for risks of distribution estimation: a convex program over extreme rays."""

from __future__ import annotations

from dataclasses import replace

from mechdesign.evidence.simplicial import erasure
from mechdesign.kernel.certificate import Certificate
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import Route
from mechdesign.utilities import EstimationRisk


class Estimation(Route):
    """Minimizes a risk of estimation over mixtures of extreme rays, by Newton's method."""

    name = "estimation"
    summary = "a convex program over extreme rays of the cone, for a risk of estimation"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a risk of estimation."""
        if not isinstance(problem.utility, EstimationRisk):
            return None
        return "the risk is convex in the weights of the extreme rays of the cone"

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the program; if lifts are bounded from below, a theorem also bounds the risk."""
        from mechdesign.search.estimation_risk.solve import solve_estimation  # imports scipy

        raw = solve_estimation(problem, limits)
        lifts = any(notion.bounds_lift_from_below for notion in problem.privacy)
        return replace(raw, proofs=[_erasure, *raw.proofs]) if lifts else raw


def _erasure(problem: Problem) -> Certificate | None:
    return erasure(problem.compiled)
