"""Bounds on every private channel by theorems of a few lines each, evaluated in rationals.

They need no data from a solver. Each docstring is the proof. For every real number that enters, the
bound uses the rational on the side that weakens it: e**eps rounded up and e**-eps rounded down
enlarge the set of private channels. A closed form attains its bound under a condition of its own;
the bound itself is valid without that condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul
from typing import Any

from mechdesign.certify.bounds.estimation_risk import reference_prior, risk_of, unconstrained_risk
from mechdesign.certify.bounds.outward import bounded_pairs, lift_range, ratio_ceiling
from mechdesign.certify.bounds.simplicial import universal_columns
from mechdesign.certify.bounds.sums.gains import has_gain, total_gain
from mechdesign.certify.bounds.sums.rays import integer_rows
from mechdesign.certify.fixed_point import over_one_denominator, product_steps, ratio
from mechdesign.certify.privacy.check import lift_limits, ratio_limits
from mechdesign.certify.privacy.linear_rows import is_linear, linear_rows
from mechdesign.certify.privacy.prior_sets import prior_bounds
from mechdesign.certify.privacy.sensitive_attribute import rank, read_sensitive_attribute
from mechdesign.certify.problem import SECRET, Statement
from mechdesign.errors import CertificateError
from mechdesign.resources import entries_of, spend

__all__ = [
    "best_after",
    "binary",
    "equal_rows",
    "erasure",
    "nothing_constrained",
    "simplicial",
]

ZERO, ONE = Fraction(0), Fraction(1)


def best_after(statement: Statement, columns: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the best objective of anything that is a post-processing of a channel.

    An expected loss is best where each report is turned into the output of least expected loss; a
    sum of gains, and the risk of an estimate, are best where nothing is thrown away.
    """
    if statement.is_risk:
        return risk_of(statement, columns, reference_prior(statement), up=False)
    if has_gain(statement):
        return total_gain(statement, columns, up=True)
    losses, total = statement.losses, ZERO
    spend(2 * losses.n_outputs * len(statement.prior), "losses")
    by_output = [losses.lower(y) for y in range(losses.n_outputs)]
    for q in columns:
        spend(40 * len(q), "the loss after a report")
        joint, whole = over_one_denominator(
            [p * v for p, v in zip(statement.prior, q, strict=True)]
        )
        given = [x for x, mass in enumerate(joint) if mass]
        spend(
            2 * len(given) * len(by_output) * product_steps(whole, losses.denominator),
            "the loss after a report",
        )
        least = min(sum(joint[x] * loss[x] for x in given) for loss in by_output)
        total += ratio(least, whole * losses.denominator)
    return total


def nothing_constrained(statement: Statement) -> Fraction:
    """Return the objective if every input gets its own best output: no channel beats it."""
    if statement.is_read:
        return ZERO  # X itself is an output, read as f(X)
    if statement.is_risk:
        return unconstrained_risk(statement)
    if has_gain(statement):
        k = len(statement.prior)
        return total_gain(statement, [[int(x == y) for x in range(k)] for y in range(k)], up=True)
    least, unit = statement.losses.least(), statement.losses.denominator
    if statement.is_worst_case:
        return Fraction(max(least), unit)
    masses, whole = statement.masses
    return ratio(sum(map(mul, masses, least)), whole * unit)


def equal_rows(statement: Statement) -> Fraction:
    """Return the objective of the best single output, if the notions make all rows of Q equal.

    q_x <= q_x' in every column, with both rows summing to 1, makes the two rows equal. q_x <= P . q
    (or >=) for all x makes every row equal to the output distribution. In general g . q <= 0 with
    g . 1 = 0 makes g . q = 0 in every column, and k - 1 independent rows of this kind leave only
    constant columns.
    """
    class_of, equations = _ties(statement)
    classes = set(class_of)
    spend(2 * len(equations) * len(classes) * len(class_of), "rows of equality")
    by_class = [
        [sum(g for g, c in zip(row, class_of, strict=True) if c == one) for one in classes]
        for row in equations
    ]
    if rank(by_class) < len(classes) - 1:
        raise CertificateError("the notions do not force all rows of the channel to be equal")
    return best_after(statement, [[ONE] * len(statement.prior)])


def _ties(statement: Statement) -> tuple[list[int], list[list[int]]]:
    """Return what the notions tie: the class of each input, and equations g . q = 0.

    Inputs of a class have equal entries in every column. What a notion ties about a sensitive
    attribute are equations on w = B q, so that the rows g B are equations on q.
    """
    k = len(statement.labels)
    class_of, equations = list(range(k)), list[list[int]]()
    for table in statement.privacy:
        if table["notion"] == SECRET:
            attribute = read_sensitive_attribute(statement, table)
            secret_class, found = _ties(attribute.statement)
            first = [secret_class.index(c) for c in secret_class]
            found += [
                [int(t == s) - int(t == first[s]) for t in range(len(first))]
                for s in range(len(first))
                if s != first[s]
            ]
            spend(2 * len(found) * entries_of(attribute.rows), "rows of equality")
            equations += [attribute.on_inputs(row) for row in found]
            continue
        if is_linear(table):
            # e**a is rational for a = 0 alone; another exponent may be too small to tell from it
            rows = [row.integers() for row in linear_rows(statement, table) if not row.exponent]
            tight = [row for row in rows if not sum(row.values())]
            spend(10 * len(tight) * k, "rows of equality")
            equations += [[row.get(x, 0) for x in range(k)] for row in tight]
            continue
        limits = ratio_limits(statement, table)
        if limits is None:
            if 0 in lift_limits(table):
                class_of = [0] * k
            continue
        for x, other, limit in bounded_pairs(limits):
            if limit == (ZERO, ONE):
                old, new = class_of[x], class_of[other]
                if old == new:
                    continue
                spend(len(class_of), "classes of equal inputs")
                class_of = [new if c == old else c for c in class_of]
    return class_of, equations


def erasure(statement: Statement) -> Fraction:
    """Return the objective of a report that is X with probability 1 - t, else a fresh draw from P.

    Here t = e**-eps is a lower bound on the lift: q_x >= t P . q in every column. With lambda the
    output distribution, it makes R = (Q - t 1 lambda') / (1 - t) a channel with the same output
    distribution. So Q is R after the report above (the randomized response of Jiang et al.), and no
    post-processing beats the Bayes decision on each report.
    """
    lifts = [table for table in statement.privacy if table["notion"] in ("lip", "lift")]
    bounded = [table for table in lifts if lift_limits(table)[1] is not None]
    if not bounded:
        raise CertificateError("the erasure bound needs a lower bound on the lift")
    t, k = max(lift_range(table)[0] for table in bounded), len(statement.prior)
    return best_after(
        statement,
        [[t * p + (1 - t) * int(x == y) for x in range(k)] for y, p in enumerate(statement.prior)],
    )


def binary(statement: Statement) -> Fraction:
    """Return the objective of the universal channel of two inputs.

    Every private channel is a post-processing of it.

    The cone q_0 <= A q_1, q_1 <= B q_0 has the two extreme rays (A, 1) and (1, B); scaled so that
    they sum to (1, 1) they are the columns of one channel U, and every column is a nonnegative
    combination of them. A and B are rounded up, which only enlarges the cone.
    """
    if len(statement.labels) != 2:
        raise CertificateError("the binary theorem needs two inputs")
    a, b = _binary_limits(statement)
    columns: list[tuple[Fraction, Fraction]]
    if a == 1 or b == 1:  # q_0 <= q_1 in every column, or >=: equal rows, as both sum to 1
        columns = [(ONE, ONE)]
    elif a is None and b is None:
        columns = [(ONE, ZERO), (ZERO, ONE)]
    elif a is None and b is not None:
        columns = [(1 - 1 / b, ZERO), (1 / b, ONE)]
    elif b is None and a is not None:
        columns = [(ONE, 1 / a), (ZERO, 1 - 1 / a)]
    elif a is not None and b is not None:
        first, second = (b - 1) / (a * b - 1), (a - 1) / (a * b - 1)
        columns = [(first * a, first), (second, second * b)]
    return best_after(statement, columns)


def _binary_limits(statement: Statement) -> tuple[Fraction | None, Fraction | None]:
    """Return rationals at least the bounds on q_0 / q_1 and q_1 / q_0; None where unbounded."""
    found: tuple[list[Fraction], list[Fraction]] = ([], [])
    for table in statement.privacy:
        if table["notion"] == SECRET or is_linear(table):
            alone = replace(statement, privacy=[table])
            for row in integer_rows(alone):
                for x in (0, 1):
                    if row[x] > 0:
                        found[x].append(max(ONE, Fraction(-row[1 - x], row[x])))
            continue
        limits = ratio_limits(statement, table)
        if limits is not None:
            for x in (0, 1):
                ceiling = ratio_ceiling(limits[x][1 - x])
                if ceiling is not None:
                    found[x].append(ceiling)
            continue
        least, most = lift_range(table)
        for prior in _binary_priors(statement, table):
            for x in (0, 1):
                own, other = prior[x], prior[1 - x]
                # q_x <= most (own q_x + other q_z)  and  least (own q_x + other q_z) <= q_z
                if most is not None and most * own < 1:
                    found[x].append(most * other / (1 - most * own))
                if least and own > 0:
                    found[x].append((1 / least - other) / own)
    a, b = (min(limits) if limits else None for limits in found)
    return a, b


def _binary_priors(statement: Statement, table: dict[str, Any]) -> list[list[Fraction]]:
    """Return the extreme priors of a notion on two inputs: the ends of a segment, or a list.

    Every lift bound is linear in the prior, so that it holds on the set if it holds at the ends.
    """
    listed, box, ball = prior_bounds(statement, table)
    if box is not None:
        low, high = box
        ends = [max(low[0], 1 - high[1]), min(high[0], 1 - low[1])]
    elif ball is not None:
        center, radius = ball
        ends = [max(ZERO, center[0] - radius), min(ONE, center[0] + radius)]
    else:
        return listed
    return [[end, 1 - end] for end in ends]


def simplicial(statement: Statement, facets: list[Any]) -> Fraction:
    """Return the objective of the universal channel that k rows of the notions determine.

    The certificate names the rows; the proof is in the docstring of `simplicial`.
    """
    return best_after(statement, universal_columns(statement, facets))
