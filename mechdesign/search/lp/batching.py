"""Batching: which problems can be solved together, as their programs have one shape.

An interior-point step for a small program is mostly overhead. For some dozen programs of one shape
it is the same few operations on longer arrays.
"""

from __future__ import annotations

from collections.abc import Hashable

from mechdesign.notions.rows.cone import Family
from mechdesign.problem import Problem

__all__ = ["most_together", "shape"]

MOST_ENTRIES = 28_000
"""Entries of the rows of all outputs of all problems up to which a batch stays in the cache."""

FEWEST_INPUTS = 3
"""On two inputs no row goes through the least entry."""

THINNEST = 1e-6
"""The least budget of a cone that has an inside to start from."""


def shape(problem: Problem) -> Hashable | None:
    """Return a key that problems share if they can be solved together; None for none.

    Such a problem has an expected loss, and notions whose rows have one entry and one auxiliary
    variable each.
    """
    if not problem.is_conic or problem.expected_loss is None or problem.outputs is None:
        return None
    patterns = [_pattern(family) for family in problem.cone.families]
    if None in patterns:
        return None
    return len(problem.domain), len(problem.outputs), *patterns


def _pattern(family: Family) -> Hashable | None:
    """Return what the places of the rows depend on, None where they do not suit.

    Those are the sides of bounds on the lift for one prior, and the pairs that have one bound,
    which are then stated by the least entry.
    """
    lifts, pairs = family.lift_rows(), family.ratio_rows()
    if lifts is not None and len(lifts.priors.members) == 1:
        sides = dict(lifts.sides())
        thin = any(bound.exponent(lifts.epsilon) < THINNEST for bound in sides.values())
        return None if thin else tuple(sides)
    if pairs is not None and len(pairs.bounds) == 1 and pairs.size >= FEWEST_INPUTS:
        thin = pairs.bounds[0].exponent(pairs.epsilon) < THINNEST
        return None if thin else pairs.index.tobytes()
    return None


def most_together(problem: Problem) -> int:
    """Return how many problems of this shape to solve together, at least 1."""
    k, m = len(problem.domain), len(problem.outputs or ())
    rows = 2 * k * len(problem.cone.families)
    return max(1, MOST_ENTRIES // (rows * m))
