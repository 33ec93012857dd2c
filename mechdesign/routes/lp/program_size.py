"""The size of the linear program of a problem, which decides between the routes for it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from mechdesign.problem import Problem

__all__ = ["LARGE", "MOST_FOR_HIGHS", "ProgramSize", "program_size"]

MIDDLE, LARGE, MOST_FOR_HIGHS = 400, 3_000, 200_000
"""Rows of the extended formulation for all outputs: from the first on, column generation comes
first where its pricing is simple; from the second on, the interior-point method comes first; up to
the third, HiGHS is tried after it."""


class ProgramSize(NamedTuple):
    """What decides how a linear program is solved.

    Attributes
    ----------
    rows
        Rows of the extended formulation, for all outputs.
    is_expected
        Whether the loss is an expected loss, not that of the worst case.
    simple_rays
        Why column generation suits it, if it does.
    """

    rows: int
    is_expected: bool
    simple_rays: str | None

    @property
    def is_large(self) -> bool:
        """Whether the simplex method would take long."""
        return self.rows >= LARGE


@lru_cache(maxsize=4)
def program_size(problem: Problem) -> ProgramSize:
    """Return the size for a problem with a linear form; cached, as several routes ask in turn."""
    from mechdesign.routes.column_generation.search import suits  # scipy on demand
    from mechdesign.routes.interior.conversion import program_rows

    loss, rows, rays = problem.utility.linear_form, program_rows(problem), None
    if problem.expected_loss is not None and rows >= MIDDLE:
        rays = suits(problem, small=rows < LARGE)
    return ProgramSize(rows, loss is not None and not loss.worst_case, rays)
