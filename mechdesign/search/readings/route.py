"""The route for unbiased readings: column generation over pairs of a ray and a reading."""

from __future__ import annotations

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import Route
from mechdesign.utilities import ReadingVariance


class UnbiasedReadings(Route):
    """Minimizes the variance of unbiased readings over mixtures of rays with their readings."""

    name = "readings"
    summary = "column generation over rays and readings, for the variance of unbiased readings"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require the variance of unbiased readings."""
        if not isinstance(problem.utility, ReadingVariance):
            return None
        return "for fixed readings the variance is linear in the channel"

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Search until the bound is close enough."""
        from mechdesign.search.readings.solve import solve_readings  # imports scipy

        return solve_readings(problem, limits)
