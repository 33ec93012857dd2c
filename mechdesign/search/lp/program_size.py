"""The size of the linear program of a problem, which decides between routes."""

from __future__ import annotations

from functools import lru_cache

from mechdesign.errors import UnsupportedError
from mechdesign.problem import Problem

LARGE, MOST_FOR_HIGHS = 3_000, 200_000
"""Numbers of rows of the extended formulation for all outputs: from the first on, the simplex
method is slow and the interior-point method is tried first; up to the second, HiGHS is tried after
it."""


@lru_cache(maxsize=4)
def program_rows(problem: Problem) -> int:
    """Return the number of rows of the extended formulation of all outputs.

    It is 0 for a box or a ball of priors. Cached, as several routes need it.
    """
    from mechdesign.search.lp.extended_formulation import extended_formulation  # imports scipy

    n_outputs = len(problem.guesses)
    (first, *more) = problem.cone.families
    pairs = first.ratio_rows()
    if pairs is not None and pairs.near is not None and not more:
        # a row for each pair, as distances share few rows: there may be millions
        return pairs.n_checked * n_outputs
    try:
        return len(extended_formulation(problem.cone)) * n_outputs
    except UnsupportedError:
        return 0
