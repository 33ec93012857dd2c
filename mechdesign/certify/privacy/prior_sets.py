"""Sets of priors of a notion: a list, a box or a ball, and the extreme probabilities over them.

The largest and the smallest P . q over a box, or a ball in total variation, are linear programs
over the simplex with one more constraint. A greedy rule solves them exactly: it moves probability
to the inputs with the largest, or the smallest, entries of q first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any, TypeAlias

from mechdesign.certify import fixed_point as fixed
from mechdesign.certify.problem import (
    LINEAR,
    SECRET,
    Statement,
    distribution,
    nonnegative,
    table_of,
)
from mechdesign.errors import CertificateError

__all__ = [
    "OF_PRIORS",
    "PriorBounds",
    "check_member",
    "extreme_probability",
    "has_member",
    "over_one_denominator",
    "prior_bounds",
    "read_members",
]

OF_PRIORS = ("bounded-prior-lip", "bounded-prior-pml", "bounded-prior-lift")
"""Notions that name the priors that they hold for."""

PriorBounds: TypeAlias = tuple[
    list[list[Fraction]],
    tuple[list[Fraction], list[Fraction]] | None,
    tuple[list[Fraction], Fraction] | None,
]
"""A list of priors, or a box (lower, upper), or a ball (center, radius)."""


def prior_bounds(statement: Statement, table: dict[str, Any]) -> PriorBounds:
    """Return the priors of a notion: as a list, as a box (lower, upper), or as a ball.

    A notion of a sensitive attribute, and one that is a list of rows, have no prior of the inputs:
    the list is empty.
    """
    k = len(statement.prior)
    if table["notion"] in (SECRET, LINEAR):
        return [], None, None
    if table["notion"] not in OF_PRIORS:
        return [statement.prior], None, None
    # where two budgets are called lower and upper, the ends of a box are in a table of their own
    stated = table.get("priors", table)
    if isinstance(stated, list):
        return [distribution(prior, k) for prior in stated], None, None
    if "lower" in stated:
        low, high = table_of([stated["lower"], stated["upper"]], (2, k))
        rises = all(a <= b for a, b in zip(low, high, strict=True))
        if not rises or not fixed.total(low) <= 1 <= fixed.total(high):
            raise CertificateError("the box of priors in the file is empty")
        return [], (low, high), None
    return [], None, (distribution(stated["center"], k), nonnegative(stated["radius"]))


def over_one_denominator(bounds: PriorBounds) -> tuple[Any, int]:
    """Return the same priors as integers, and the one denominator that these are over."""
    listed, box, ball = bounds
    if box is not None:
        ends, whole = fixed.over_one_denominator([*box[0], *box[1]])
        half = len(ends) // 2
        return ([], (ends[:half], ends[half:]), None), whole
    if ball is not None:
        (*center, radius), whole = fixed.over_one_denominator([*ball[0], ball[1]])
        return ([], None, (center, radius)), whole
    flat, whole = fixed.over_one_denominator([p for prior in listed for p in prior])
    size = len(listed[0])
    return ([flat[n : n + size] for n in range(0, len(flat), size)], None, None), whole


def extreme_probability(bounds: Any, q: Sequence[int], sign: int, one: int = 1) -> Any:
    """Return the largest (sign +1) or smallest (-1) P . q over the priors of a notion.

    They may be integers that sum to ``one``; the result is scaled as they are.
    """
    listed, box, ball = bounds
    if box is not None:
        low, high = box
        left = one - sum(low)
        total = sum(map(mul, low, q))
        for x in sorted(range(len(q)), key=lambda x: -sign * q[x]):
            step = min(high[x] - low[x], left)
            total += step * q[x]
            left -= step
        return total
    if ball is not None:
        center, left = ball
        total = sum(map(mul, center, q))
        best = max(q, key=lambda v: sign * v)
        for x in sorted(range(len(q)), key=lambda x: sign * q[x]):
            step = min(center[x], left)
            total += step * (best - q[x])
            left -= step
        return total
    return max((sum(map(mul, prior, q)) for prior in listed), key=lambda total: sign * total)


def has_member(bounds: PriorBounds, prior: list[Fraction]) -> bool:
    """Return whether a distribution is one of those that the notion protects against."""
    listed, box, ball = bounds
    if box is not None:
        return all(a <= p <= b for a, p, b in zip(box[0], prior, box[1], strict=True))
    if ball is not None:
        center, radius = ball
        return fixed.total([abs(p - c) for p, c in zip(prior, center, strict=True)]) <= 2 * radius
    return prior in listed


def check_member(bounds: PriorBounds, prior: list[Fraction]) -> None:
    """Raise unless a distribution is one of those that the notion protects against."""
    if not has_member(bounds, prior):
        raise CertificateError("a multiplier is of a prior that is not in the notion's set")


def read_members(statement: Statement, table: dict[str, Any], given: Any) -> list[list[Fraction]]:
    """Return the priors that a certificate names; each must be in the set of the notion."""
    bounds = prior_bounds(statement, table)
    found = [distribution(prior, len(statement.prior)) for prior in given]
    for prior in found:
        check_member(bounds, prior)
    return found
