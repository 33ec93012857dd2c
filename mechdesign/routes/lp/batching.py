"""Batching: which problems can be solved together, as their programs have one shape.

An interior-point step for a small program is mostly overhead. For some dozen programs of one shape
it is the same few operations on longer arrays.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import singledispatch

from mechdesign.notions.rows.cone import Family
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.notions.rows.pair_rows import PairRows
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


@singledispatch
def _pattern(_family: Family) -> Hashable | None:
    """Return what the places of the rows depend on, None where they do not suit."""
    return None


@_pattern.register
def _lift(family: LiftRows) -> Hashable | None:
    if len(family.priors.members) != 1:
        return None
    if any(bound.exponent(family.epsilon) < THINNEST for _, bound in family.sides()):
        return None
    return tuple(side for side, _ in family.sides())


@_pattern.register
def _pairs(family: PairRows) -> Hashable | None:
    """Return the pairs, where they have one bound and may go through the least entry."""
    if len(family.bounds) > 1 or family.size < FEWEST_INPUTS:
        return None
    thin = family.bounds[0].exponent(family.epsilon) < THINNEST
    return None if thin else family.index.tobytes()


def most_together(problem: Problem) -> int:
    """Return how many problems of this shape to solve together, at least 1."""
    k, m = len(problem.domain), len(problem.outputs or ())
    rows = 2 * k * len(problem.cone.families)
    return max(1, MOST_ENTRIES // (rows * m))
