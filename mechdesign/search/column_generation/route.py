"""The route by column generation over the extreme rays of the cone."""

from __future__ import annotations

from functools import lru_cache

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import LARGE, program_rows
from mechdesign.search.route import LinearRoute

MIDDLE = 400
"""The number of rows of the extended formulation from which column generation with simple pricing
is tried first."""

BYTES = 128.0
"""Bytes per pair of inputs: eight rays for each input, twice."""

ROW_BYTES, SOLVER_BYTES = 24.0, 2500.0
"""Bytes for a row of an output: its multiplier, now and at the best bound, and its place in a
basis; and for a row or an input of the program of one output."""


class ColumnGeneration(LinearRoute):
    """Solves a restricted master problem over rays, and prices rays until none improves it."""

    name = "columns"
    summary = "column generation over the extreme rays of the cone"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require an expected linear loss, and rays that are simple to price."""
        reason = super().suits(problem)
        if reason is None or problem.utility.worst_case:
            return None
        if rays := _simple_rays(problem):
            return f"{reason}; {rays}"
        return reason if named else None

    def memory(self, problem: Problem) -> float:
        """Return the memory of the rays, their program, and the linear programs for rays."""
        from mechdesign.search.cones.pricing import pricer_of  # imports scipy

        k, rows = len(problem.domain), program_rows(problem)
        rays = BYTES * k**2
        if pricer_of(problem) is not None:
            return rays
        one = rows / len(problem.outputs or problem.domain) + k
        return rays + ROW_BYTES * rows + SOLVER_BYTES * one

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Generate columns until the bound is close enough."""
        from mechdesign.search.column_generation.search import solve_columns  # imports scipy

        return solve_columns(problem, limits)


@lru_cache(maxsize=4)
def _simple_rays(problem: Problem) -> str | None:
    """Return why rays are simple to price; None if they are not, or the program is small."""
    rows = program_rows(problem)
    if rows < MIDDLE:
        return None
    from mechdesign.search.column_generation.search import suits  # imports scipy

    return suits(problem, small=rows < LARGE)
