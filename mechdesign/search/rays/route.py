"""The route by extreme rays of the cone, for utilities that are a sum over outputs."""

from __future__ import annotations

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.route import Route
from mechdesign.utilities import ColumnUtility


class ExtremeRays(Route):
    """Mixes extreme rays of the cone, all of them or those of a local search."""

    name = "extreme-rays"
    summary = "a linear program over extreme rays of the cone, for a sum over outputs"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a sum over outputs; for the error of a scalar the search over decoders is better.

        A convex and homogeneous gain is largest at extreme rays. A gain that is a constant minus
        such an error may be so small that the search leaves a gap: then rays are tried after it.
        """
        utility = problem.utility
        if not isinstance(utility, ColumnUtility):
            return None
        own = utility.is_maximized or utility.scalar_values(problem.domain) is None
        reason = "the objective is a sum over outputs, best at extreme rays of the cone"
        return reason if named or own else None

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the linear program over rays."""
        from mechdesign.search.rays.extreme_rays import solve_by_rays  # imports scipy and HiGHS

        return solve_by_rays(problem, limits)
