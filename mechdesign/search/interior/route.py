"""The route by the library's own interior-point method for large linear programs."""

from __future__ import annotations

from mechdesign.errors import UnsupportedError
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import LARGE, program_rows
from mechdesign.search.route import LinearRoute

FEW = 6
"""The number of rows per input up to which arrow form is possible."""

ARROW_ARRAYS = 16
"""Arrays over the rows of all outputs, in arrow form."""

WHOLE_ARRAYS, USED_ARRAYS, INVERSES = 6.0, 16.0, 2.5
"""Otherwise: arrays over all rows, and over active ones; and matrices for each output."""

USED_PAIRS = 20
"""Active rows for each input."""


class InteriorPoint(LinearRoute):
    """Solves linear programs by Newton steps with a separate block for each output."""

    name = "interior"
    summary = "an interior-point method for large linear programs, separable by outputs"

    uses_symmetry = True

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a linear loss, and a large program for an expected loss."""
        reason = super().suits(problem)
        if reason is None:
            return None
        if program_rows(problem) >= LARGE and not problem.utility.worst_case:
            return f"{reason}; it is large, and falls apart by outputs"
        return reason if named else None

    def memory(self, problem: Problem) -> float:
        """Return the memory of the arrays over rows, and of the inverses of dense outputs.

        For bounds on ratios of two entries only active rows have arrays; all have multipliers.
        """
        from mechdesign.search.interior.arrow import ArrowRows  # imports scipy and HiGHS
        from mechdesign.search.lp.extended_formulation import extended_formulation

        k, m = len(problem.domain), len(problem.outputs or problem.domain)
        rows = program_rows(problem) / m
        if 0 < rows <= FEW * k:
            stated = extended_formulation(problem.cone)
            if ArrowRows.of(stated.A, stated.equal, k) is not None:
                return 8.0 * m * ARROW_ARRAYS * (rows + k)
        used = min(rows, USED_PAIRS * k)
        return 8.0 * m * (WHOLE_ARRAYS * rows + USED_ARRAYS * used + INVERSES * k * k)

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the program; by HiGHS if the cone has no interior, or with too many priors."""
        from mechdesign.search.interior.solve import solve_interior  # imports scipy and HiGHS
        from mechdesign.search.lp.linear_program import solve_linear

        try:
            return solve_interior(problem, limits, limits.symmetry)
        except UnsupportedError:
            return solve_linear(problem, "auto", limits, limits.symmetry)
