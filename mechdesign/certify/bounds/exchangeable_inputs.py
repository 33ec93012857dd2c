"""Bounds where all inputs are exchangeable: the prior is uniform, and no notion tells them apart.

Divide a private column by its mean. What is left, r with mean 1, is a mixture of permutations of a
few columns, each given by its levels, which say how many entries have which value:

* under local differential privacy j entries are e**eps and the others 1, as in subset selection;
* between bounds l <= r_x <= u on the lift, as many entries are u as the mean allows, one is in
  between, and the others are l: at a vertex of this polytope all entries but one are at an end.

A convex function is largest at one of them. Bounds are rounded outward, so that the set only grows.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from mechdesign.certify.bounds.estimation_risk import is_l2, reference_prior, root_factor
from mechdesign.certify.bounds.outward import ldp_budget, lift_range
from mechdesign.certify.bounds.sums.gains import gain, offset
from mechdesign.certify.privacy.check import ratio_bound
from mechdesign.certify.privacy.prior_sets import prior_bounds
from mechdesign.certify.problem import Statement
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, sqrt_lower
from mechdesign.resources import spend

__all__ = ["subset_selection", "uniform_lift", "uniform_subsets"]

Levels: TypeAlias = list[tuple[int, Fraction]]
"""How many entries of a column have which value."""

ZERO, ONE = Fraction(0), Fraction(1)


def uniform_subsets(statement: Statement) -> Fraction:
    """Return the best objective under LDP: that of subset selection, of the best size.

    For the Hamming loss it is that of k-ary randomized response (Kairouz, Oh and Viswanath 2016).
    """
    return _best(statement, _under_ldp(statement))


def uniform_lift(statement: Statement) -> Fraction:
    """Return the objective of all permutations of the vertex between bounds on the lift."""
    found = _between_lifts(statement)
    if not found:
        raise CertificateError("this theorem needs bounds on the lift at the uniform prior")
    return _best(statement, found)


def _best(statement: Statement, columns: list[Levels]) -> Fraction:
    """Return the objective where the gain of every column is the largest of some.

    The gain of a channel is a mean of gains of columns with mean 1, and must not change if inputs
    are permuted. The Hamming loss is at least 1 less the accuracy of the Bayes guess, which gains
    the largest entry over k.
    """
    k = len(statement.prior)
    if not statement.is_uniform:
        raise CertificateError("this theorem needs a uniform prior")
    if statement.utility["objective"] == "hamming":
        tops = (max(value for count, value in levels if count) for levels in columns)
        return 1 - max(top / _sum(levels) for top, levels in zip(tops, columns, strict=True))
    spend(100 * k * len(columns), "rays")
    rays = ([value for count, value in levels for _ in range(count)] for levels in columns)
    most = max(gain(statement, ray, up=True) * k / sum(ray) for ray in rays)
    return most if statement.is_maximized else offset(statement) - most


def subset_selection(statement: Statement) -> Fraction:
    """Return the risk of mixing all permutations of one column, under LDP or bounds on the lift.

    Under local differential privacy subset selection (Ye and Barg 2018) attains it.

    At the uniform prior, M 1 = k Sum_y q_y = k 1, so that 1 / k is an eigenvalue of M**-1. The sum
    of the k - 1 others is at least (k - 1)**2 / (tr M - k), by the inequality of the arithmetic and
    harmonic means. With t_y = P . q_y and r_y = q_y / t_y, tr M = Sum_y t_y |r_y|**2 is at most the
    largest |r|**2 of private columns with mean 1. So the l2-risk is at least
    L = (k - 1)**2 / (max |r|**2 - k).

    The tv-risk is convex in M where no variance is below p_x, as p_x = 1 / k is at most 3/4 (see
    the tangents in `estimation_risk`). So averaging M over all permutations of the inputs does not
    raise it. All squared deviations are then equal, and at least L / k.
    """
    k = len(statement.labels)
    if set(reference_prior(statement)) != {Fraction(1, k)}:
        raise CertificateError("subset selection needs a uniform prior")
    if k == 1:
        return ZERO
    named = {table["notion"] for table in statement.privacy}
    sets = [_under_ldp(statement) if "ldp" in named else [], _between_lifts(statement)]
    if not any(sets):
        raise CertificateError("subset selection needs LDP, or lifts at a uniform prior")
    most = min(max(map(_square, columns)) for columns in sets if columns)
    if most <= k:
        raise CertificateError("with a budget of 0 the risk is infinite")
    least = (k - 1) ** 2 / (most - k)
    return least if is_l2(statement) else root_factor(up=False) * sqrt_lower(k * least)


def _under_ldp(statement: Statement) -> list[Levels]:
    """Return the extreme columns of the least budget of LDP, by the number of raised entries."""
    k, low = len(statement.prior), exp_lower(-ldp_budget(statement))
    spend(200 * k, "subsets")
    return [[(j, ONE), (k - j, low)] for j in range(1, max(k, 2))]


def _between_lifts(statement: Statement) -> list[Levels]:
    """Return the extreme column between all bounds on the lift at a uniform prior, if any."""
    k, low, high, bounded = len(statement.prior), ZERO, Fraction(len(statement.prior)), False
    for table in statement.privacy if statement.is_uniform else []:
        if (
            ratio_bound(statement, table) is None
            and statement.prior in (prior_bounds(statement, table)[0])
        ):
            bounded, (least, most) = True, lift_range(table)
            low, high = max(low, least), high if most is None else min(high, most)
    full = min(k - 1, int(k * (1 - low) / (high - low))) if high > low else 0
    between = k - full * high - (k - 1 - full) * low
    return [[(full, high), (1, between), (k - 1 - full, low)]] if bounded else []


def _sum(levels: Levels) -> Fraction:
    return sum((count * value for count, value in levels), ZERO)


def _square(levels: Levels) -> Fraction:
    """Return |r|**2 of a column that is divided by its mean."""
    count = sum(count for count, _ in levels)
    squares = sum((count * value * value for count, value in levels), ZERO)
    return squares * (count / _sum(levels)) ** 2
