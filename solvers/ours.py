"""Our routes, as solvers: the value is that of the repaired, exactly private channel."""

from __future__ import annotations

from mechdesign import design
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.problem import Problem
from solvers.base import FailedError, Solver, SolverResult, UnsuitableError, stopwatch

__all__ = ["by_route"]


def by_route(route: str, name: str | None = None) -> Solver:
    """Return the solver that takes one route of ours.

    Parameters
    ----------
    route
        As in ``mechdesign solve --route``.
    name
        What to call it; default the route.
    """

    def solve(problem: Problem) -> SolverResult:
        with stopwatch() as seconds:
            try:
                solution = design(problem, route=route)
            except UnsupportedError as error:
                raise UnsuitableError(str(error)) from None
            except SolverError as error:
                raise FailedError(str(error)) from None
            return SolverResult(
                float(solution.value), solution.channel.matrix, seconds(), name or route
            )

    return solve
