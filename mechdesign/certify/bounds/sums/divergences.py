"""Divergences between the reports of two mixtures of inputs: Sum_y f(a_y, b_y).

Here a_y and b_y are the probabilities of report y under the mixtures, a . q and b . q for the
column q of y. Each f is convex and homogeneous, so that f(a . q, b . q) is a gain like others.
Logarithms and roots are rounded the way that is asked for. Two of them are infinite where b_y = 0
and a_y > 0: no bound is computed from such a column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.outward import ldp_budget
from mechdesign.certify.fixed_point import fraction_steps, product_steps, ratio
from mechdesign.certify.problem import Statement
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, log_lower, log_upper, sqrt_lower, sqrt_upper
from mechdesign.resources import spend

__all__ = ["binary_mechanism", "divergence", "is_infinite"]

Term = Callable[[Fraction, Fraction, bool], Fraction]


def _variation(a: Fraction, b: Fraction, _up: bool) -> Fraction:
    return abs(a - b) / 2


def _kullback_leibler(a: Fraction, b: Fraction, up: bool) -> Fraction:
    return a * (log_upper if up else log_lower)(a / b) if a else a


def _chi_squared(a: Fraction, b: Fraction, _up: bool) -> Fraction:
    return (a - b) ** 2 / b if b else b


def _hellinger(a: Fraction, b: Fraction, up: bool) -> Fraction:
    """Return (sqrt(a) - sqrt(b))**2 / 2 = (a + b) / 2 - sqrt(a b)."""
    return (a + b) / 2 - (sqrt_lower if up else sqrt_upper)(a * b)


TERMS: dict[str, Term] = {
    "total-variation": _variation,
    "kullback-leibler": _kullback_leibler,
    "chi-squared": _chi_squared,
    "squared-hellinger": _hellinger,
}
"""Each f, rounded up or down where it is irrational."""

INFINITE = ("kullback-leibler", "chi-squared")
"""Those that are infinite where b is 0 and a is not."""


def divergence(statement: Statement, q: Sequence[Any], *, up: bool) -> Fraction:
    """Return f(a . q, b . q) of a column.

    Raises
    ------
    CertificateError
        If it is infinite.
    """
    first, second, unit = statement.mixtures
    are_whole = type(q[0]) is int
    spend(2 * len(q) * (1 + product_steps(unit) if are_whole else 100), "a divergence")
    a, b = (
        ratio(sum(w * v for w, v in zip(side, q, strict=True) if w and v), unit)
        for side in (first, second)
    )
    objective = statement.utility["objective"]
    if a and not b and objective in INFINITE:
        raise CertificateError("a report that only one mixture sends makes the divergence infinite")
    spend(10 + 4 * fraction_steps(a.numerator.bit_length() + b.numerator.bit_length()), "a gain")
    return TERMS[objective](a, b, up)


def is_infinite(statement: Statement) -> bool:
    """Return whether the divergence of the mixtures themselves is infinite."""
    first, second, _ = statement.mixtures
    missing = any(a and not b for a, b in zip(first, second, strict=True))
    return missing and statement.utility["objective"] in INFINITE


def binary_mechanism(statement: Statement) -> Fraction:
    """Return the total variation that LDP leaves of that of the mixtures.

    The total variation between the laws a and b of the report is (a - b)(S) for a set S of reports,
    that is (first - second) . w with w_x = Pr(Y in S | x). Sums of columns are private: with t the
    least and u the largest entry of w, u <= e**eps t, and likewise for 1 - w, 1 - t <= e**eps (1 -
    u). Adding up e**eps times the first and the second, u - t <= (e**eps - 1) / (e**eps + 1); and
    (first - second) . w is at most u - t times the total variation of the mixtures. With e**-eps
    rounded down it only grows.
    """
    first, second, unit = statement.mixtures
    low = exp_lower(-ldp_budget(statement))
    apart = sum(max(a - b, 0) for a, b in zip(first, second, strict=True))
    return Fraction(apart, unit) * (1 - low) / (1 + low)
