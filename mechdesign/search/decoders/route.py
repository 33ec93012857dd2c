"""The route by a search over decoders, for the squared error of the best estimate of a scalar."""

from __future__ import annotations

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import Route


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
