"""The routes for posterior means and for unbiased readings: column generation at decoders."""

from __future__ import annotations

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import Route
from mechdesign.utilities import ReadingVariance


class DecoderGrid(Route):
    """Searches for the best decoder, the aggregator's estimates for the outputs."""

    name = "decoder-grid"
    summary = "a search over decoders, for the posterior-mean error of a scalar"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require the error of the best estimate of a scalar."""
        if problem.utility.scalar_values(problem.domain) is None:
            return None
        return "for fixed decoders the error is linear in the channel"

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Search until the bound is close enough."""
        from mechdesign.search.decoders.search import solve_decoders  # imports scipy

        return solve_decoders(problem, limits)


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
        from mechdesign.search.decoders.readings import solve_readings  # imports scipy

        return solve_readings(problem, limits)
