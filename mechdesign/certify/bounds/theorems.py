"""How good can any private channel be? Bounds from theorems, evaluated in rationals.

Arguments of a few lines of proof each, that need no data from a solver. Where a real number enters,
the bound uses the rational that keeps the result below the truth. A closed form attains its bound
under its condition; the bound holds without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul
from typing import Any

from mechdesign.certify.bounds.estimation_risk import reference_prior, risk_of, unconstrained_risk
from mechdesign.certify.bounds.exchangeable_inputs import subset_selection
from mechdesign.certify.bounds.gains import gain, has_gain, offset, total_gain
from mechdesign.certify.bounds.rays import integer_rows
from mechdesign.certify.bounds.simplicial import universal_columns
from mechdesign.certify.fixed_point import over_one_denominator
from mechdesign.certify.privacy.check import lift_limits, prior_bounds, ratio_limits
from mechdesign.certify.privacy.linear_rows import is_linear, linear_rows
from mechdesign.certify.privacy.sensitive_attribute import all_equal, rank, read_secret
from mechdesign.certify.problem import ACCURACY, INFORMATION, POSTERIOR, SECRET, Statement, number
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, exp_upper

__all__ = ["THEOREMS", "best_after", "nothing_constrained"]

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
    if statement.utility.get("worst_case"):
        raise CertificateError("this theorem speaks of an expected loss, not of the worst case")
    losses, total = statement.losses, ZERO
    by_output = [losses.lower(y) for y in range(losses.n_outputs)]
    for q in columns:
        joint, whole = over_one_denominator(
            [p * v for p, v in zip(statement.prior, q, strict=True)]
        )
        given = [x for x, mass in enumerate(joint) if mass]
        least = min(sum(joint[x] * loss[x] for x in given) for loss in by_output)
        total += Fraction(least, whole * losses.denominator)
    return total


def nothing_constrained(statement: Statement) -> Fraction:
    """No channel beats the best output for every single input."""
    if statement.is_risk:
        return unconstrained_risk(statement)
    if has_gain(statement):
        k = len(statement.prior)
        return total_gain(
            statement, [[Fraction(x == y) for x in range(k)] for y in range(k)], up=True
        )
    least, unit = statement.losses.least(), statement.losses.denominator
    if statement.utility.get("worst_case"):
        return Fraction(max(least), unit)
    masses, whole = statement.masses
    return Fraction(sum(map(mul, masses, least)), whole * unit)


def equal_rows(statement: Statement) -> Fraction:
    """Where a bound e**0 ties all inputs, all rows of Q are equal, and the best is one output.

    q_x <= q_x' in every column, with both rows summing to 1, makes the two rows equal; q_x <= P . q
    (or >=) for all x makes every row equal to the output law. In general g . q <= 0 with g . 1 = 0
    makes g . q = 0 in every column, and k - 1 such rows that are independent leave only constants.
    """
    if not _all_tied(statement):
        raise CertificateError("the notions do not force all rows of the channel to be equal")
    return best_after(statement, [[ONE] * len(statement.prior)])


def _all_tied(statement: Statement) -> bool:
    class_of = list(range(len(statement.labels)))
    for table in statement.privacy:
        if table["notion"] == SECRET:
            secret = read_secret(statement, table)
            if _all_tied(secret.statement) and all_equal(secret):
                return True
            continue
        if is_linear(table):
            rows = [row.integers() for row in linear_rows(statement, table)]
            tight = [row for row in rows if not sum(row.values())]
            dense = [[row.get(x, 0) for x in range(len(class_of))] for row in tight]
            if rank(dense) == len(class_of) - 1:
                return True
            continue
        limits = ratio_limits(statement, table)
        if limits is None:
            if 0 in lift_limits(table):
                return True
            continue
        for x, row in enumerate(limits):
            for other, limit in enumerate(row):
                if limit == (ZERO, ONE):
                    old, new = class_of[x], class_of[other]
                    class_of = [new if c == old else c for c in class_of]
    return len(set(class_of)) == 1


def randomized_response(statement: Statement) -> Fraction:
    """k-ary randomized response is the best for Hamming loss, LDP and the uniform prior.

    In the column of output y, q_y <= e**eps q_x for every x, so Sum_x q_x >= q_y (1 + (k-1)
    e**-eps). Adding up over the outputs: k >= Sum_x Q(x|x) (1 + (k-1) e**-eps).
    """
    k = len(statement.labels)
    budgets = [number(t["epsilon"]) for t in statement.privacy if t["notion"] == "ldp"]
    plain = statement.utility["objective"] == "hamming" and not statement.utility.get("worst_case")
    if not budgets or not plain or set(statement.prior) != {Fraction(1, k)}:
        raise CertificateError("randomized response needs LDP, Hamming loss and a uniform prior")
    rest = (k - 1) * exp_lower(-min(budgets))
    return rest / (1 + rest)


def erasure(statement: Statement) -> Fraction:
    """Whoever bounds lifts from below sees X with probability 1 - t at most, t = e**-eps.

    q_x >= t P . q in every column makes (Q - t 1 lambda') / (1 - t) a channel R with output law
    lambda, so that Q is R after "report X with probability 1 - t, else a fresh draw from P" (Jiang
    et al.'s randomized response). No post-processing beats the Bayes decision on each report.
    """
    lows = []
    for table in statement.privacy:
        if table["notion"] in ("lip", "lift"):
            lower = lift_limits(table)[1]
            if lower is not None:
                lows.append(lower)
    if not lows:
        raise CertificateError("the erasure bound needs a lower bound on the lift")
    t, k = exp_lower(-min(lows)), len(statement.prior)
    return best_after(
        statement,
        [[t * p + (1 - t) * int(x == y) for x in range(k)] for y, p in enumerate(statement.prior)],
    )


def binary(statement: Statement) -> Fraction:
    """For two inputs every private channel is the universal one followed by post-processing.

    The cone q_0 <= A q_1, q_1 <= B q_0 has the two extreme rays (A, 1) and (1, B); scaled so that
    they add up to (1, 1) they are the columns of one channel U, and every column is a mixture of
    them. A and B are taken no smaller than they are, which only enlarges the cone.
    """
    if len(statement.labels) != 2:
        raise CertificateError("the binary theorem needs two inputs")
    a, b = _binary_limits(statement)
    columns: list[tuple[Fraction, Fraction]]
    if a == 1 or b == 1:  # q_0 <= q_1 in every column: equal rows
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
                limit = limits[x][1 - x]
                if limit is not None and limit[0] < 4096:
                    found[x].append(limit[1] * exp_upper(limit[0]))
            continue
        for prior in _binary_priors(statement, table):
            upper, lower = lift_limits(table)
            for x in (0, 1):
                own, other = prior[x], prior[1 - x]
                # q_x <= e**u (own q_x + other q_x')  and  own q_x + other q_x' <= e**l q_x'
                if upper is not None and upper < 4096 and exp_upper(upper) * own < 1:
                    u = exp_upper(upper)
                    found[x].append(u * other / (1 - u * own))
                if lower is not None and lower < 4096 and own > 0:
                    found[x].append((exp_upper(lower) - other) / own)
    a, b = (min(limits) if limits else None for limits in found)
    return a, b


def _binary_priors(statement: Statement, table: dict[str, Any]) -> list[list[Fraction]]:
    """Return priors whose convex hull is that of the notion: for two inputs, a segment."""
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


def simplicial(statement: Statement, facets: Any = None) -> Fraction:
    """Every private channel is a post-processing of the one that k rows of the notions make.

    The rows are named in the certificate; see `simplicial.py` for why.
    """
    if facets is None:
        raise CertificateError("the certificate names no facets of the cone")
    return best_after(statement, universal_columns(statement, facets))


def uniform_subsets(statement: Statement) -> Fraction:
    """LDP at a uniform prior: the best of k rays, if the inputs are worth the same.

    The extreme rays have entries e**eps on j inputs and 1 on the rest. A gain that is the same for
    all permutations depends on j alone, and that of a channel is a mean of gains of rays. With
    e**eps rounded up the cone only grows.
    """
    k = len(statement.prior)
    budgets = [number(t["epsilon"]) for t in statement.privacy if t["notion"] == "ldp"]
    if not budgets or k < 2 or set(statement.prior) != {Fraction(1, k)}:
        raise CertificateError("this theorem needs LDP and a uniform prior")
    if not _inputs_alike(statement):
        raise CertificateError("this theorem needs an objective to which inputs are alike")
    low = exp_lower(-min(budgets))
    rays = ([ONE] * j + [low] * (k - j) for j in range(1, k))
    most = max(gain(statement, ray, up=True) * k / sum(ray) for ray in rays)
    return most if statement.is_maximised else offset(statement) - most


def _inputs_alike(statement: Statement) -> bool:
    """Return whether the objective is a sum of gains that no permutation of the inputs changes."""
    objective = statement.utility["objective"]
    return objective in (INFORMATION, ACCURACY) or (
        objective == POSTERIOR and statement.is_histogram
    )


def uniform_lift(statement: Statement) -> Fraction:
    """At a uniform prior, one ray is worth the most, if the inputs are worth the same.

    Lifts r = q / (P . q) are a polytope, l <= r_x <= u with mean 1. At a vertex all entries but one
    are at an end, so that all vertices are permutations of one: as many u as fit, one entry in
    between, the rest l. A gain that is convex and the same for all permutations is largest there,
    and that of a channel is a mean of gains of lifts. With l rounded down and u up the polytope
    only grows. The Hamming loss is at least 1 less the accuracy of the best guess.
    """
    k, alike = len(statement.prior), _inputs_alike(statement)
    hamming = statement.utility["objective"] == "hamming" and not statement.utility.get(
        "worst_case"
    )
    if set(statement.prior) != {Fraction(1, k)} or not (alike or hamming):
        raise CertificateError("this theorem needs a uniform prior and inputs that are alike")
    low, high, bounded = ZERO, Fraction(k), False
    for table in statement.privacy:
        if (
            ratio_limits(statement, table) is None
            and statement.prior in (prior_bounds(statement, table)[0])
        ):
            bounded, (upper, lower) = True, lift_limits(table)
            low = low if lower is None else max(low, exp_lower(-lower))
            high = high if upper is None or upper > k else min(high, exp_upper(upper))
    if not bounded:
        raise CertificateError("this theorem needs bounds on the lift at the uniform prior")
    full = min(k - 1, int(k * (1 - low) / (high - low))) if high > low else 0
    ray = [high] * full + [k - full * high - (k - 1 - full) * low] + [low] * (k - 1 - full)
    if hamming:
        return 1 - max(ray) / k
    most = gain(statement, ray, up=True)
    return most if statement.is_maximised else offset(statement) - most


THEOREMS: dict[str, Callable[..., Fraction]] = {
    "nothing-constrained": nothing_constrained,
    "equal-rows": equal_rows,
    "randomized-response": randomized_response,
    "erasure": erasure,
    "binary-universal": binary,
    "simplicial": simplicial,
    "uniform-lift": uniform_lift,
    "uniform-subsets": uniform_subsets,
    "subset-selection": subset_selection,
}
"""Bounds that a certificate may name."""
