"""The exact check that a channel satisfies a privacy notion, in integers and with no tolerance.

A column q holds the integers Q(y|x) * 2**bits for one output y. Most notions bound, in every
column, either the ratio of two entries, q_x <= e**a q_x' (`check_ratios`), or the lift, the ratio
of an entry to the probability P . q of the output (`check_lift`). Some bound sums over all columns
(`non_conic`), and a notion of the user's own is a list of rows (`linear_rows`).

Every bound e**a is replaced by a rational below it. So a channel that passes is private, and one
that is private by a margin of less than one part in 2**150 may be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from mechdesign.certify.fixed_point import product_steps
from mechdesign.certify.privacy.linear_rows import broken_row, is_linear, linear_rows
from mechdesign.certify.privacy.metric_pairs import distances_between, sufficient_pairs
from mechdesign.certify.privacy.non_conic import NON_CONIC, check_non_conic, implied_ratio_bound
from mechdesign.certify.privacy.prior_sets import (
    extreme_probability,
    over_one_denominator,
    prior_bounds,
)
from mechdesign.certify.privacy.sensitive_attribute import read_sensitive_attribute
from mechdesign.certify.problem import SECRET, Statement, nonnegative, plain_label, table_of
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower
from mechdesign.resources import entries_of, spend

__all__ = [
    "Bound",
    "Limit",
    "blocks_of",
    "check",
    "is_for_own_prior",
    "lift_limits",
    "places_of",
    "ratio_bound",
    "ratio_limits",
]

Limit: TypeAlias = tuple[Fraction, Fraction]
"""(exponent, factor): the bound ``factor * e**exponent``."""

Bound: TypeAlias = Callable[[int, int], Limit | None]
"""The bound on q_x / q_x' as a function of the pair; None where there is none."""

Column: TypeAlias = Sequence[int]


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
    if "secret" in table:
        attribute = read_sensitive_attribute(statement, table)
        spend(len(columns) * entries_of(attribute.rows), "columns of a secret")
        broken = check(attribute.statement, attribute.table, attribute.columns(columns), shift)
        return None if broken is None else f"of the sensitive attribute: {broken}"
    if table["notion"] in NON_CONIC:
        return check_non_conic(statement, table, columns, shift)
    if is_linear(table):
        return broken_row(linear_rows(statement, table, shift), columns)
    if table["notion"] == "metric" and isinstance(table["distance"], str):
        epsilon = nonnegative(table["epsilon"]) if shift is None else shift
        return check_sufficient_pairs(
            sufficient_pairs(statement, table["distance"]), epsilon, columns
        )
    if table["notion"] == "ldp":
        return check_all_ratios(nonnegative(table["epsilon"]) if shift is None else shift, columns)
    limits = ratio_limits(statement, table, shift)
    if limits is not None:
        return check_ratios(limits, columns)
    upper, lower = lift_limits(table, shift)
    return check_lift(statement, table, columns, upper, lower)


def ratio_limits(
    statement: Statement, table: dict[str, Any], shift: Fraction | None = None
) -> list[list[Limit | None]] | None:
    """Return the bound on q_x / q_x' for each pair, None where there is none.

    Returns None if the notion does not bound ratios of entries. A non-conic notion bounds them only
    where it implies such bounds, as with delta = 0 (`implied_ratio_bound`).
    """
    bound, inputs = ratio_bound(statement, table, shift), range(len(statement.labels))
    spend(0 if bound is None else 12 * len(inputs) ** 2, "bounds on all pairs of inputs")
    return None if bound is None else [[bound(x, other) for other in inputs] for x in inputs]


def ratio_bound(
    statement: Statement, table: dict[str, Any], shift: Fraction | None = None
) -> Bound | None:
    """Return the bound on q_x / q_x' as a function of x and x'; None as in `ratio_limits`.

    It is exact, but for irrational distances, which are rounded up: proofs about every private
    column need that. `check` looks at such pairs by `sufficient_pairs`, which rounds them down.
    """
    k, one = len(statement.labels), Fraction(1)
    notion = table["notion"]
    if notion == "context-aware":
        extra = shift or Fraction(0)
        given = table["matrix"]
        finite = table_of([[0 if e == "inf" else e for e in row] for row in given], (k, k))
        return lambda x, z: None if given[x][z] == "inf" else (finite[x][z] + extra, one)
    if notion in NON_CONIC and not is_lift(table):
        implied, counts = implied_ratio_bound(statement, table)
        same = None if implied is None else (implied, one)
        return lambda x, z: same if counts[x] and counts[z] else None
    if notion not in ("ldp", "high-low", "block", "metric", "differential-identifiability"):
        return None
    spend(10 * k, "the inputs of a notion")
    epsilon = nonnegative(table["epsilon"]) if shift is None else shift
    budget = (epsilon, one)
    if notion == "high-low":
        protected = places_of(statement, table["sensitive"])
        return lambda x, _: budget if x in protected else None
    if notion == "block":
        member = blocks_of(statement, table)
        return lambda x, z: budget if member[x] == member[z] else None
    if notion == "metric":
        distance = _distances(statement, table["distance"])
        return lambda x, z: (epsilon * distance(x, z), one)
    if notion == "differential-identifiability":
        prior = statement.prior
        if 0 in prior and k > 1:
            raise CertificateError(f"{notion} cannot hold where an input has prior 0")
        return lambda x, z: (epsilon, prior[z] / prior[x])
    return lambda _x, _z: budget


def places_of(statement: Statement, labels: list[Any]) -> dict[int, int]:
    """Return the place of each of some labels among them, by its place among the inputs.

    Raises
    ------
    CertificateError
        If one is no input, or two are the same.
    """
    found = {statement.places.get(plain_label(label), -1): n for n, label in enumerate(labels)}
    if -1 in found or len(found) < len(labels):
        raise CertificateError(f"expected a list of inputs of the problem, found {labels!r:.60}")
    return found


def blocks_of(statement: Statement, table: dict[str, Any]) -> list[Any]:
    """Return a mark for each input, that of its block; the marks rise in the order of blocks.

    Raises
    ------
    CertificateError
        If not every input is in one block, or blocks of a size do not divide the grid.
    """
    if "blocks" in table:
        marks = [b for b, block in enumerate(table["blocks"]) for _ in block]
        place = places_of(statement, [label for block in table["blocks"] for label in block])
        if len(place) < len(statement.labels):
            raise CertificateError("the blocks in the file do not divide the inputs")
        return [marks[place[x]] for x in range(len(marks))]
    if statement.points is None or statement.spacing is None or len(statement.points[0]) != 2:
        raise CertificateError("blocks of rows and columns need a grid")
    rows, columns = table["block_rows"], table["block_columns"]
    height, width = (last + 1 for last in statement.labels[-1])
    if height % rows or width % columns:
        raise CertificateError("the blocks in the file do not divide its grid")
    return [(r // rows, c // columns) for r, c in statement.labels]


def _distances(statement: Statement, kind: Any) -> Callable[[int, int], Fraction]:
    """Return distances, those of points rounded up: every private column keeps these bounds."""
    if isinstance(kind, list):
        table = table_of(kind, (len(statement.labels), len(statement.labels)))
        return lambda x, z: table[x][z]
    return distances_between(statement, kind, up=True)


def check_sufficient_pairs(
    by_distance: dict[Fraction, list[tuple[int, int]]],
    epsilon: Fraction,
    columns: Sequence[Column],
) -> str | None:
    """Check q_x <= e**(epsilon d) q_x' for the pairs of `metric_pairs`, which imply all others."""
    rows = []
    for distance, pairs in by_distance.items():
        bound = exp_lower(epsilon * distance)
        rows.append((bound.numerator, bound.denominator, pairs))
    for y, q in enumerate(columns):
        spend(sum(len(pairs) for _, _, pairs in rows), "pairs of inputs")
        for top, bottom, pairs in rows:
            for x, other in pairs:
                if q[x] * bottom > top * q[other]:
                    return f"output {y}: input {x} is too likely against {other}"
    return None


def check_all_ratios(epsilon: Fraction, columns: Sequence[Column]) -> str | None:
    """Check q_x <= e**epsilon q_x' for all pairs: for the largest entry and the least."""
    bound = exp_lower(epsilon)
    for y, q in enumerate(columns):
        spend(len(q), "ratios of entries")
        if len(q) > 1 and max(q) * bound.denominator > bound.numerator * min(q):
            return f"output {y}: input {q.index(max(q))} is too likely against another"
    return None


def check_ratios(limits: list[list[Limit | None]], columns: Sequence[Column]) -> str | None:
    """Check q_x <= limit * q_x' for every bounded pair and every column.

    All pairs (x, x') of one x with the same limit are one comparison, with the least q_x'.
    """
    sets: dict[tuple[int, ...], int] = {}
    groups = []
    for x, row in enumerate(limits):
        spend(10 * len(row), "bounds on all pairs of inputs")
        members: dict[Limit, list[int]] = {}
        for other, limit in enumerate(row):
            if other != x and limit is not None:
                members.setdefault(limit, []).append(other)
        for (exponent, factor), others in members.items():
            bound = exp_lower(exponent) if factor == 1 else exp_lower(exponent) * factor
            # q_x <= bound * q_x holds for bound >= 1: with x in its set, many rows share one set
            members_and_x = sorted([*others, x]) if bound >= 1 else others
            key = sets.setdefault(tuple(members_and_x), len(sets))
            groups.append((x, bound.numerator, bound.denominator, key))
    size = sum(map(len, sets)) + len(groups)
    for y, q in enumerate(columns):
        spend(size, "ratios of entries")
        least = [min(q[z] for z in members) for members in sets]
        for x, top, bottom, key in groups:
            if q[x] * bottom > top * least[key]:
                return f"output {y}: input {x} is too likely against another"
    return None


def is_lift(table: dict[str, Any]) -> bool:
    """Return whether a notion is approximate LIP with delta = 0, which is LIP."""
    return table["notion"] == "approximate-lip" and nonnegative(table["delta"]) == 0


def lift_limits(
    table: dict[str, Any], shift: Fraction | None = None
) -> tuple[Fraction | None, Fraction | None]:
    """Return the exponents that bound lift and inverse lift from above; None where unbounded."""
    notion = table["notion"]
    if notion in ("lift", "bounded-prior-lift"):
        extra = shift or Fraction(0)
        upper, lower = (
            None if table[side] == "inf" else nonnegative(table[side]) + extra
            for side in ("upper", "lower")
        )
        return upper, lower
    one_sided = notion in ("pml", "bounded-prior-pml")
    if not one_sided and notion not in ("lip", "bounded-prior-lip") and not is_lift(table):
        raise CertificateError(f"the privacy notion {notion!r} is not known to the checker")
    epsilon = nonnegative(table["epsilon"]) if shift is None else shift
    return epsilon, None if one_sided else epsilon


def check_lift(
    statement: Statement,
    table: dict[str, Any],
    columns: Sequence[Column],
    upper: Fraction | None,
    lower: Fraction | None,
) -> str | None:
    """Check q_x <= e**upper P . q and P . q <= e**lower q_x for all x and all priors P allowed."""
    bounds, whole = over_one_denominator(prior_bounds(statement, table))
    rises, falls = (None if e is None else exp_lower(e) for e in (upper, lower))
    size = 2 * len(statement.prior) * (len(bounds[0]) + 3)
    for y, q in enumerate(columns):
        spend(size * product_steps(whole), "extreme probabilities")
        if rises is not None:
            probability = extreme_probability(bounds, q, -1, whole)
            if max(q) * whole * rises.denominator > rises.numerator * probability:
                return f"output {y}: raises the odds of some input too much"
        if falls is not None:
            probability = extreme_probability(bounds, q, +1, whole)
            if probability * falls.denominator > falls.numerator * min(q) * whole:
                return f"output {y}: lowers the odds of some input too much"
    return None


def is_for_own_prior(statement: Statement, table: dict[str, Any]) -> bool:
    """Return whether a notion bounds the lift for the prior of the problem only."""
    if ratio_bound(statement, table) is not None:
        return False
    if table["notion"] == SECRET or is_linear(table):
        return False
    listed, box, ball = prior_bounds(statement, table)
    return box is None and ball is None and all(prior == statement.prior for prior in listed)
