"""The size of the linear program of a problem, which decides between routes."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from mechdesign.errors import UnsupportedError
from mechdesign.problem import Problem

__all__ = ["MOST_FOR_HIGHS", "ProgramSize", "program_size"]

LARGE, MOST_FOR_HIGHS = 3_000, 200_000
"""Numbers of rows of the extended formulation for all outputs: from the first on, the
interior-point method is tried first; up to the second, HiGHS is tried after it."""


class ProgramSize(NamedTuple):
    """The sizes that decide how a linear program is solved.

    Attributes
    ----------
    rows
        Rows of the extended formulation, for all outputs; 0 for a box or a ball of priors.
    is_expected
        Whether the loss is expected rather than worst-case.
    """

    rows: int
    is_expected: bool

    @property
    def is_large(self) -> bool:
        """Whether the simplex method would be slow."""
        return self.rows >= LARGE


@lru_cache(maxsize=4)
def program_size(problem: Problem) -> ProgramSize:
    """Return the size for a problem with a linear form; cached, as several routes need it."""
    from mechdesign.search.lp.extended_formulation import extended_formulation  # imports scipy

    loss = problem.utility.linear_form
    n_outputs = len(problem.guesses)
    (first, *more) = problem.cone.families
    pairs = first.ratio_rows()
    try:
        if more or pairs is None or pairs.near is None:
            rows = len(extended_formulation(problem.cone)) * n_outputs
        else:  # a row for each pair, as distances share few rows: there may be millions
            rows = pairs.n_checked * n_outputs
    except UnsupportedError:
        rows = 0
    return ProgramSize(rows, loss is not None and not loss.worst_case)
