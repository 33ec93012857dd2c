"""The route by the library's own interior-point method for large linear programs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mechdesign.errors import UnsupportedError
from mechdesign.problem import Problem
from mechdesign.search.base import Path, RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import program_size
from mechdesign.search.route import LinearRoute, Verdict

if TYPE_CHECKING:
    from mechdesign.search.presolve.symmetry_group import Symmetry

__all__ = ["InteriorPoint"]


FEW = 6
"""Rows for each input up to which they may have the form of an arrow."""

ARROW_ARRAYS = 16
"""Arrays over the rows of all outputs, where these are an arrow."""

WHOLE_ARRAYS, USED_ARRAYS, INVERSES = 6.0, 16.0, 2.5
"""Else: arrays over all rows, and over those in use; and matrices for each output."""

USED_PAIRS = 20
"""Rows in use for each input."""


class InteriorPoint(LinearRoute):
    """Solves linear programs by Newton steps that are solved apart for each output.

    Parameters
    ----------
    symmetry
        Symmetries that the user has named.
    path
        Where the method was for a problem nearby.
    """

    name = "interior"
    summary = "an interior-point method for large linear programs, separable by outputs"

    def __init__(self, symmetry: Symmetry | None = None, path: Path | None = None) -> None:
        self._symmetry, self._path = symmetry, path

    def check(self, problem: Problem) -> Verdict:
        """Ask for a linear loss; large programs for an expected loss are recommended."""
        verdict = super().check(problem)
        if not verdict.holds:
            return verdict
        size = program_size(problem)
        if self._symmetry is not None and not size.is_expected:
            return Verdict(False, "symmetries of a worst case are for HiGHS")
        if size.is_large and size.is_expected:
            reason = f"{verdict.reason}; it is large, and falls apart by outputs"
            return replace(verdict, reason=reason)
        return replace(verdict, recommended=False)

    def memory(self, problem: Problem) -> float:
        """Return that of the arrays over rows, and of an inverse for each output if it is dense.

        Of bounds on ratios of two entries only rows in use have arrays of their own; all have
        multipliers.
        """
        from mechdesign.search.interior.arrow import ArrowRows  # scipy and HiGHS on demand
        from mechdesign.search.lp.column_rows import ColumnRows

        k, m = len(problem.domain), len(problem.outputs or problem.domain)
        rows = program_size(problem).rows / m
        if 0 < rows <= FEW * k:
            stated = ColumnRows(problem.cone)
            if ArrowRows.of(stated.matrix(), stated.equal, k) is not None:
                return 8.0 * m * ARROW_ARRAYS * (rows + k)
        used = min(rows, USED_PAIRS * k)
        return 8.0 * m * (WHOLE_ARRAYS * rows + USED_ARRAYS * used + INVERSES * k * k)

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the program; by HiGHS where the cone has no interior, or priors are too many."""
        from mechdesign.search.interior.solve import solve_interior  # scipy and HiGHS on demand
        from mechdesign.search.lp.solve import solve_linear

        try:
            return solve_interior(problem, limits, self._symmetry, self._path)
        except UnsupportedError:
            return solve_linear(problem, "auto", limits)

    def with_symmetry(self, symmetry: Symmetry) -> InteriorPoint:
        """Return the route for what the symmetries leave."""
        return InteriorPoint(symmetry)

    def started_at(self, path: Path | None) -> InteriorPoint:
        """Return the route that starts at a point of the central path of a problem nearby."""
        return InteriorPoint(path=path)
