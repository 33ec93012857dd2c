"""Does an exact channel satisfy a privacy notion? In integers, with no tolerance.

A column q holds the integers Q(y|x) * 2**bits for one output y. Most notions bound, in every
column, either the ratio of two entries (`ratio_limits`) or the ratio of an entry to the output law
P . q (`check_lift`); the others bound sums over all columns (`whole`). A bound e**a is replaced by
a rational below it, so that a channel that passes is private, and one that fails by less than one
part in 2**150 may be refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from mechdesign.certify.statement import (
    Statement,
    distance,
    distribution,
    nonnegative,
    number,
    table_of,
)
from mechdesign.certify.whole import WHOLE, check_whole, tied_pairs
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower

__all__ = [
    "Limit",
    "PriorBounds",
    "check",
    "check_member",
    "extreme_law",
    "is_for_own_prior",
    "lift_limits",
    "prior_bounds",
    "ratio_limits",
]

Limit: TypeAlias = tuple[Fraction, Fraction]
"""(exponent, factor): the bound ``factor * e**exponent``."""

Column: TypeAlias = Sequence[int]

PriorBounds: TypeAlias = tuple[
    list[list[Fraction]],
    tuple[list[Fraction], list[Fraction]] | None,
    tuple[list[Fraction], Fraction] | None,
]
"""A list of priors, or a box (lower, upper), or a ball (center, radius)."""


def check(
    statement: Statement,
    table: dict[str, Any],
    columns: Sequence[Column],
    shift: Fraction | None = None,
) -> str | None:
    """Return what breaks the notion of ``table``, or None if the columns satisfy it.

    Parameters
    ----------
    statement
        The inputs and the prior that the notion may refer to.
    table
        The notion, as in a problem file.
    columns
        One list of integers for each output.
    shift
        If given, the claim to check instead: the notion with this epsilon, or, if the notion has
        none, with this much added to all its budgets.
    """
    if table["notion"] in WHOLE:
        return check_whole(statement, table, columns, shift)
    limits = ratio_limits(statement, table, shift)
    if limits is not None:
        return check_ratios(limits, columns)
    upper, lower = lift_limits(table, shift)
    return check_lift(statement, table, columns, upper, lower)


def ratio_limits(
    statement: Statement, table: dict[str, Any], shift: Fraction | None = None
) -> list[list[Limit | None]] | None:
    """Return the bound on q_x / q_x' for each pair, None where there is none.

    Returns None if the notion does not bound ratios of entries. A notion about the whole channel
    bounds none in a single column, unless it says no more than such bounds.
    """
    k, one = len(statement.labels), Fraction(1)
    notion = table["notion"]
    if notion == "context-aware":
        extra = shift or Fraction(0)
        rows = table["matrix"]
        table_of([[0 if e == "inf" else e for e in row] for row in rows], (k, k))
        return [[None if e == "inf" else (number(e) + extra, one) for e in row] for row in rows]
    if notion in WHOLE and not is_lift(table):
        pairs = tied_pairs(statement, table)
        return [[None if a is None else (a, one) for a in row] for row in pairs]
    if notion not in ("ldp", "high-low", "block", "metric", "differential-identifiability"):
        return None
    epsilon = nonnegative(table["epsilon"]) if shift is None else shift
    limits: list[list[Limit | None]] = [[(epsilon, one)] * k for _ in range(k)]
    if notion == "high-low":
        sensitive = _labels(statement, table["sensitive"])
        for x, label in enumerate(statement.labels):
            if label not in sensitive:
                limits[x] = [None] * k
    elif notion == "block":
        member = _blocks(statement, table)
        limits = [[(epsilon, one) if a == b else None for b in member] for a in member]
    elif notion == "metric":
        rows = _distances(statement, table["distance"])
        limits = [[(epsilon * d, one) for d in row] for row in rows]
    elif notion == "differential-identifiability":
        if 0 in statement.prior and k > 1:
            raise CertificateError(f"{notion} cannot hold where an input has prior 0")
        limits = [[(epsilon, b / a) for b in statement.prior] for a in statement.prior]
    return limits


def _labels(statement: Statement, labels: Any) -> list[Any]:
    """Return some labels, at least one, that are all inputs of the problem and all differ."""
    known = isinstance(labels, list) and labels and all(x in statement.labels for x in labels)
    if not known or len({statement.labels.index(x) for x in labels}) < len(labels):
        raise CertificateError(f"expected a list of inputs of the problem, found {labels!r:.60}")
    return list(labels)


def _blocks(statement: Statement, table: dict[str, Any]) -> list[Any]:
    """Return for each input something that is equal exactly within a block."""
    if "blocks" in table:
        together = [label for block in table["blocks"] for label in _labels(statement, block)]
        if len(_labels(statement, together)) < len(statement.labels):
            raise CertificateError("the blocks in the file do not divide the inputs")
        return [
            next(b for b, block in enumerate(table["blocks"]) if x in block)
            for x in statement.labels
        ]
    rows, columns = table["block_rows"], table["block_columns"]
    if not (isinstance(rows, int) and isinstance(columns, int) and min(rows, columns) > 0):
        raise CertificateError("the blocks in the file have no size")
    return [(r // rows, c // columns) for r, c in statement.labels]


def _distances(statement: Statement, kind: Any) -> list[list[Fraction]]:
    """Return distances rounded down, so that what passes is private at the true ones."""
    if isinstance(kind, list):
        return table_of(kind, (len(statement.labels), len(statement.labels)))
    if statement.points is None:
        raise CertificateError(f"the inputs have no coordinates for the distance {kind!r}")
    return [[distance(a, b, kind)[0] for b in statement.points] for a in statement.points]


def check_ratios(limits: list[list[Limit | None]], columns: Sequence[Column]) -> str | None:
    """Check q_x <= limit * q_x' for every bounded pair and every column.

    Pairs (x, x') of one x with one limit are checked at once against the least q_x' among them.
    """
    sets: dict[tuple[int, ...], int] = {}
    groups = []
    for x, row in enumerate(limits):
        members: dict[Limit, list[int]] = {}
        for other, limit in enumerate(row):
            if other != x and limit is not None:
                members.setdefault(limit, []).append(other)
        for (exponent, factor), others in members.items():
            bound = exp_lower(exponent) * factor
            # where q_x <= bound * q_x as well, x may join its set: then many rows share one set
            members_and_x = sorted([*others, x]) if bound >= 1 else others
            key = sets.setdefault(tuple(members_and_x), len(sets))
            groups.append((x, bound.numerator, bound.denominator, key))
    for y, q in enumerate(columns):
        least = [min(q[z] for z in members) for members in sets]
        for x, top, bottom, key in groups:
            if q[x] * bottom > top * least[key]:
                return f"output {y}: input {x} is too likely against another"
    return None


def is_lift(table: dict[str, Any]) -> bool:
    """Return whether approximate LIP, which has no delta then, is LIP."""
    return table["notion"] == "approximate-lip" and nonnegative(table["delta"]) == 0


def lift_limits(
    table: dict[str, Any], shift: Fraction | None = None
) -> tuple[Fraction | None, Fraction | None]:
    """Return the exponents that bound lift from above and inverse lift from above; None: free."""
    notion = table["notion"]
    if notion == "lift":
        extra = shift or Fraction(0)
        upper, lower = (
            None if table[side] == "inf" else nonnegative(table[side]) + extra
            for side in ("upper", "lower")
        )
        return upper, lower
    if notion not in ("lip", "pml", "bounded-prior-lip") and not is_lift(table):
        raise CertificateError(f"the privacy notion {notion!r} is not known to the checker")
    epsilon = nonnegative(table["epsilon"]) if shift is None else shift
    return epsilon, None if notion == "pml" else epsilon


def check_lift(
    statement: Statement,
    table: dict[str, Any],
    columns: Sequence[Column],
    upper: Fraction | None,
    lower: Fraction | None,
) -> str | None:
    """Check q_x <= e**upper P . q and P . q <= e**lower q_x for all x and all priors P allowed."""
    bounds = prior_bounds(statement, table)
    for y, q in enumerate(columns):
        if upper is not None and max(q) > exp_lower(upper) * extreme_law(bounds, q, -1):
            return f"output {y}: raises the odds of some input too much"
        if lower is not None and extreme_law(bounds, q, +1) > exp_lower(lower) * min(q):
            return f"output {y}: lowers the odds of some input too much"
    return None


def extreme_law(bounds: PriorBounds, q: Column, sign: int) -> Fraction:
    """Return the largest (sign +1) or smallest (-1) P . q over the priors of a notion."""
    listed, box, ball = bounds
    if box is not None:
        low, high = box
        left = 1 - sum(low)
        total = sum((p * v for p, v in zip(low, q, strict=True)), Fraction(0))
        for x in sorted(range(len(q)), key=lambda x: -sign * q[x]):
            step = min(high[x] - low[x], left)
            total += step * q[x]
            left -= step
        return total
    if ball is not None:
        center, left = ball
        total = sum((p * v for p, v in zip(center, q, strict=True)), Fraction(0))
        best = max(q, key=lambda v: sign * v)
        for x in sorted(range(len(q)), key=lambda x: sign * q[x]):
            step = min(center[x], left)
            total += step * (best - q[x])
            left -= step
        return total
    laws = [
        sum((p * v for p, v in zip(prior, q, strict=True) if p), Fraction(0)) for prior in listed
    ]
    return max(laws, key=lambda law: sign * law)


def prior_bounds(statement: Statement, table: dict[str, Any]) -> PriorBounds:
    """Return the priors of a notion: as a list, as a box (lower, upper), or as a ball."""
    k = len(statement.prior)
    if table["notion"] != "bounded-prior-lip":
        return [statement.prior], None, None
    if "lower" in table:
        low, high = table_of([table["lower"], table["upper"]], (2, k))
        if not sum(low) <= 1 <= sum(high) or any(a > b for a, b in zip(low, high, strict=True)):
            raise CertificateError("the box of priors in the file is empty")
        return [], (low, high), None
    if "center" in table:
        return [], None, (distribution(table["center"], k), nonnegative(table["radius"]))
    listed = [distribution(prior, k) for prior in table["priors"]]
    if not listed:
        raise CertificateError("the list of priors in the file is empty")
    return listed, None, None


def is_for_own_prior(statement: Statement, table: dict[str, Any]) -> bool:
    """Return whether a notion bounds the lift for the prior of the problem and no other."""
    if ratio_limits(statement, table) is not None:
        return False
    listed, box, ball = prior_bounds(statement, table)
    return box is None and ball is None and all(prior == statement.prior for prior in listed)


def check_member(bounds: PriorBounds, prior: list[Fraction], size: int) -> None:
    """Raise unless ``prior`` is one of those that the notion protects against."""
    listed, box, ball = bounds
    inside = len(prior) == size and min(prior) >= 0 and sum(prior) == 1
    if box is not None:
        low, high = box
        inside = inside and all(a <= p <= b for a, p, b in zip(low, prior, high, strict=True))
    elif ball is not None:
        center, radius = ball
        moved = sum((abs(p - c) for p, c in zip(prior, center, strict=True)), Fraction(0))
        inside = inside and moved <= 2 * radius
    else:
        inside = inside and prior in listed
    if not inside:
        raise CertificateError("a dual weight is on a prior that is not in the notion's set")
