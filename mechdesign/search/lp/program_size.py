"""The size of the linear program of a problem, which decides between routes, and batches.

An interior-point step for a small program is mostly overhead. For dozens of programs of one shape
it is the same few operations on longer arrays.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from mechdesign.errors import UnsupportedError
from mechdesign.notions.rows.cone import Family
from mechdesign.problem import Problem

LARGE, MOST_FOR_HIGHS = 3_000, 200_000
"""Numbers of rows of the extended formulation for all outputs: from the first on, the simplex
method is slow and the interior-point method is tried first; up to the second, HiGHS is tried after
it."""

FEWEST_OUTPUTS = 8
"""The number of outputs that a channel may always have, however short the time is."""


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


MOST_ENTRIES = 28_000
"""The largest total number of row entries for which a batch stays in the cache."""

FEWEST_INPUTS = 3
"""With two inputs no row contains the least entry."""

THINNEST = 1e-6
"""The least budget of a cone with an interior."""


def shape(problem: Problem) -> Hashable | None:
    """Return a key that problems share if they can be solved together, or None.

    This requires an expected loss, and notions whose rows have one entry and one auxiliary variable
    each.
    """
    if not problem.is_conic or problem.expected_loss is None or problem.outputs is None:
        return None
    patterns = [_pattern(family) for family in problem.cone.families]
    if None in patterns:
        return None
    return len(problem.domain), len(problem.outputs), *patterns


def _pattern(family: Family) -> Hashable | None:
    """Return the data that determine the positions of the rows, or None if they do not fit.

    Those are the sides of bounds on the lift for one prior, and the pairs that have one bound,
    which are then stated by the least entry.
    """
    lifts, pairs = family.lift_rows(), family.ratio_rows()
    if lifts is not None and len(lifts.priors.members) == 1:
        sides = lifts.sides()
        thin = any(exponent < THINNEST for exponent in sides.values())
        return None if thin else tuple(sides)
    if pairs is not None and len(pairs.units) == 1 and pairs.size >= FEWEST_INPUTS:
        thin = pairs.exponents[0] < THINNEST
        return None if thin else pairs.index.tobytes()
    return None


def most_together(problem: Problem) -> int:
    """Return how many problems of this shape to solve together, at least 1."""
    k, m = len(problem.domain), len(problem.outputs or ())
    rows = 2 * k * len(problem.cone.families)
    return max(1, MOST_ENTRIES // (rows * m))
