"""Objectives that are sums of gains: Sum_y g(q_y) with g convex and positively homogeneous.

Mutual information, the accuracy of the Bayes guess, the gain of any guess, Fisher information and
divergences (`divergences`) are such sums. A posterior-mean squared error
is its value without any report less such a sum. No post-processing raises a sum of gains, since
g(q + q') <= g(q) + g(q').
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from mechdesign.certify.bounds.sums.divergences import divergence, is_infinite
from mechdesign.certify.fixed_point import fraction_steps, product_steps, ratio
from mechdesign.certify.problem import (
    ACCURACY,
    FISHER,
    INFORMATION,
    POSTERIOR,
    VULNERABILITY,
    Statement,
)
from mechdesign.exact import log_lower, log_upper
from mechdesign.resources import spend

__all__ = [
    "coordinate_gain",
    "error_or_gain",
    "gain",
    "has_gain",
    "is_unbounded",
    "offset",
    "total_gain",
]

ZERO = Fraction(0)

Column: TypeAlias = Sequence[Any]


def has_gain(statement: Statement) -> bool:
    """Return whether the objective is a sum of gains."""
    named = (POSTERIOR, INFORMATION, ACCURACY, VULNERABILITY, FISHER)
    return statement.utility["objective"] in named or statement.is_divergence


def is_unbounded(statement: Statement) -> bool:
    """Return whether the objective is infinite where every input has its own report."""
    return statement.is_divergence and is_infinite(statement)


def offset(statement: Statement) -> Fraction:
    """Return the objective of a channel without any gain: the second moment of f(X), or 0."""
    if statement.utility["objective"] != POSTERIOR:
        return ZERO
    if statement.is_histogram:
        return Fraction(1)  # the squared length of the indicator of X
    masses, whole = statement.masses
    values, unit = statement.whole_values
    spend(len(masses) * (product_steps(whole) + product_steps(unit)), "a second moment")
    squares = sum(p * f * f for p, f in zip(masses, values, strict=True))
    return ratio(squares, whole * unit * unit)


def error_or_gain(statement: Statement, error: Fraction) -> Fraction:
    """Return the objective at an error of the best estimate of f(X).

    Fisher information is the second moment of the score s(X) less the error of its estimate.
    """
    if statement.utility["objective"] != FISHER:
        return error
    masses, whole = statement.masses
    values, unit = statement.whole_values
    spend(len(masses) * (product_steps(whole) + product_steps(unit)), "a second moment")
    squares = sum(p * f * f for p, f in zip(masses, values, strict=True))
    return ratio(squares, whole * unit * unit) - error


def gain(statement: Statement, q: Column, *, up: bool) -> Fraction:
    """Return g(q), rounded up or down where it is irrational.

    With t = P . q, the probability of the output: (Sum_x P_x f_x q_x)**2 / t for the error of
    E[f(X)|Y] with f scalar; Sum_x (P_x q_x)**2 / t for that of the histogram;
    Sum_x P_x q_x ln(q_x / t) for information; max_x P_x q_x for the accuracy of the Bayes guess;
    max_w Sum_x g(w, x) P_x q_x for the gain of any; the sum of (Sum_x P_x s_x q_x)**2 / t over the
    scores s for Fisher information.
    """
    if statement.is_divergence:
        return divergence(statement, q, up=up)
    objective, (masses, whole) = statement.utility["objective"], statement.masses
    are_whole = type(q[0]) is int
    spend(len(q) * (2 * product_steps(whole) if are_whole else 100), "a gain")
    joint = {x: p * v for x, (p, v) in enumerate(zip(masses, q, strict=True)) if v and p}
    total = sum(joint.values())
    if not total:
        return ZERO
    spend(30 + 2 * fraction_steps(total.numerator.bit_length()), "a gain")
    if objective == ACCURACY:
        return Fraction(max(joint.values())) / whole
    if objective == VULNERABILITY:
        gains, unit = statement.guesses
        spend(len(gains) * len(joint) * (1 + product_steps(unit)), "a gain")
        best = max(sum(j * g[x] for x, j in joint.items()) for g in gains)
        return ratio(best, whole * unit)
    if objective == FISHER:
        scores, unit = statement.scores
        spend(len(scores) * len(joint) * (1 + product_steps(unit)), "a gain")
        moments = (sum(j * s[x] for x, j in joint.items()) for s in scores)
        return ratio(sum(m * m for m in moments), total * whole * unit * unit)
    if objective == INFORMATION:
        log, by_value = log_upper if up else log_lower, dict[Any, Any]()
        for x, j in joint.items():  # equal entries have one logarithm
            by_value[q[x]] = by_value.get(q[x], 0) + j
        spend(len(by_value) * fraction_steps(total.numerator.bit_length()), "a gain")
        logs = (j * log(Fraction(v) * whole / total) for v, j in by_value.items())
        return sum(logs, ZERO) / whole
    if statement.is_histogram:
        return ratio(sum(j * j for j in joint.values()), total * whole)
    values, unit = statement.whole_values
    spend(len(q) * product_steps(unit), "a gain")
    moment = sum(j * values[x] for x, j in joint.items())
    return ratio(moment * moment, total * whole * unit * unit)


def total_gain(
    statement: Statement, columns: Sequence[Column], *, up: bool, whole: int = 1
) -> Fraction:
    """Return the objective at columns over ``whole``, gains rounded as said."""
    total = sum((gain(statement, q, up=up) for q in columns), ZERO) / whole
    return total if statement.is_maximized else offset(statement) - total


def coordinate_gain(statement: Statement, x: int, r: Fraction) -> Fraction:
    """Return h_x(r) where g(q) = Sum_x h_x(q_x) for columns with P . q = 1, rounded up.

    Each h_x is convex: (P_x r)**2 for the histogram, P_x r ln r for information. No other objective
    splits so.
    """
    objective, p = statement.utility["objective"], statement.prior[x]
    spend(2 * fraction_steps(p.denominator.bit_length() + r.denominator.bit_length()), "a gain")
    if objective == INFORMATION:
        return p * r * log_upper(r) if p and r else ZERO
    return (p * r) ** 2
