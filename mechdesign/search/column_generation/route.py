"""The route by column generation over the extreme rays of the cone."""

from __future__ import annotations

import os
from functools import lru_cache

from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import program_size
from mechdesign.search.route import LinearRoute

__all__ = ["ColumnGeneration"]

MIDDLE = 400
"""Rows of the extended formulation for all outputs from which on column generation comes first,
where its pricing is simple."""

BYTES = 128.0
"""For each pair of inputs: eight rays for each input, twice."""

ROW_BYTES, SOLVER_BYTES = 24.0, 2500.0
"""For a row of an output: its multiplier, now and at the best bound, and its place in a basis; for
a row or an input of the program of one output: what HiGHS holds, once for each thread."""


class ColumnGeneration(LinearRoute):
    """Solves a restricted master problem over rays, and prices further rays until none helps."""

    name = "columns"
    summary = "column generation over the extreme rays of the cone"

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Ask for an expected linear loss, and for rays that are simple to price."""
        reason = super().suits(problem)
        if reason is None or problem.utility.worst_case:
            return None
        if rays := _simple_rays(problem):
            return f"{reason}; {rays}"
        return reason if named else None

    def memory(self, problem: Problem) -> float:
        """Return that of the rays and the program over them, and of linear programs for rays."""
        from mechdesign.search.cones.pricing import pricer_of  # scipy on demand

        k, rows = len(problem.domain), program_size(problem).rows
        rays = BYTES * k**2
        if pricer_of(problem) is not None:
            return rays
        one = rows / len(problem.outputs or problem.domain) + k
        return rays + ROW_BYTES * rows + SOLVER_BYTES * one * (os.cpu_count() or 1)

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Generate columns until the bound is as close as asked."""
        from mechdesign.search.column_generation.search import solve_columns  # scipy on demand

        return solve_columns(problem, limits)


@lru_cache(maxsize=4)
def _simple_rays(problem: Problem) -> str | None:
    """Return why rays are simple to price; None where they are not, or the program is small."""
    size = program_size(problem)
    if size.rows < MIDDLE:
        return None
    from mechdesign.search.column_generation.search import suits  # scipy on demand

    return suits(problem, small=not size.is_large)
