"""The risk of estimating the distribution of the inputs from reports, and lower bounds on it.

Let M be the information matrix of the channel at the prior p (`inverse_information`),
v_x = (M**-1)_xx, and w_x = sqrt(v_x - p_x**2) the standard deviations. The risks of n reports are,
times n and times sqrt(n),

    l2-risk: Sum_x v_x - |p|**2               tv-risk: sqrt(1 / (2 pi)) Sum_x w_x.

Both have lower bounds that are linear in M, and so sums over outputs. For any vector a,

    v_x >= 2 a_x - a' M a,         and, where a_x = 1,         1 / v_x <= a' M a.

The first holds as 2 a_x - a' M a is largest over a at a = M**-1 e_x, where it is v_x. The second is
the inequality of Cauchy and Schwarz, 1 = a_x**2 <= (a' M a) (e_x' M**-1 e_x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul
from typing import Any

from mechdesign.certify.bounds.inverse_information import Inverse, inverse_information
from mechdesign.certify.bounds.one_budget import one_budget
from mechdesign.certify.bounds.outward import implied_ldp_budget
from mechdesign.certify.bounds.sums.products import reduced_gain_by_products
from mechdesign.certify.bounds.sums.rays import all_rays, single_budget_rays
from mechdesign.certify.bounds.sums.reduced_gains import reduced_gain_by_rays
from mechdesign.certify.fixed_point import (
    dot,
    over_one_denominator,
    product_steps,
    ratio,
    scaled_down,
    scaled_up,
    total,
)
from mechdesign.certify.problem import L2_RISK, Statement, distribution, number, read_potentials
from mechdesign.errors import CertificateError
from mechdesign.exact import PI, fraction_text, sqrt_lower, sqrt_upper
from mechdesign.resources import spend

__all__ = [
    "estimation_bound",
    "estimator",
    "is_l2",
    "reference_prior",
    "risk_of",
    "risk_value",
    "root_factor",
    "unconstrained_risk",
]

ZERO, ONE = Fraction(0), Fraction(1)
BITS = 100
"""Bits beyond the point that the data of a certificate is rounded to. Any data proves a bound."""

Column = Sequence[Fraction]


def reference_prior(statement: Statement, dual: dict[str, Any] | None = None) -> list[Fraction]:
    """Return the prior that the estimator is made for, and that the bound is for.

    It is that of the problem. For the worst case over all priors it is the one that the
    certificate names, the uniform one if it names none: the risk at any prior is at most the worst.
    """
    k = len(statement.prior)
    if not statement.is_worst_case:
        found = statement.prior
    elif dual is not None and dual.get("prior") is not None:
        found = distribution(dual["prior"], k)
    else:
        found = [Fraction(1, k)] * k
    if min(found) <= 0:
        raise CertificateError("the risk of estimation needs a prior without zeros")
    return found


def is_l2(statement: Statement) -> bool:
    """Return whether the risk is the sum of variances, not of standard deviations."""
    return bool(statement.utility["objective"] == L2_RISK)


def risk_of(
    statement: Statement, columns: Sequence[Column], prior: Sequence[Fraction], *, up: bool
) -> Fraction:
    """Return the risk of the best linear unbiased estimator at a prior, rounded as said."""
    variances = inverse_information(columns, prior).variances(up=up)
    squares = [max(ZERO, v - p * p) for v, p in zip(variances, prior, strict=True)]
    if is_l2(statement):
        return sum(squares, ZERO)
    root = sqrt_upper if up else sqrt_lower
    return root_factor(up=up) * sum((root(square) for square in squares), ZERO)


def root_factor(*, up: bool) -> Fraction:
    """Return a bound on sqrt(1 / (2 pi))."""
    return sqrt_upper(1 / (2 * PI[0])) if up else sqrt_lower(1 / (2 * PI[1]))


def risk_value(statement: Statement, columns: Sequence[Column], prior: list[Fraction]) -> Fraction:
    """Return the risk of a channel, rounded up.

    For the worst case: the largest risk over all priors of the unbiased estimator W made for
    ``prior``. At the prior p it has the variances c_x . p - p_x**2, c_x(z) = Sum_y Q[z,y] W_xy**2.
    Their sum is concave in p, and its largest value on the simplex is a formula. For the roots,
    sqrt(s) <= (s / w + w) / 2 with w the deviation at ``prior`` makes it one.
    """
    if not statement.is_worst_case:
        return risk_of(statement, columns, prior, up=True)
    if len(prior) == 1:
        return ZERO
    k = len(prior)
    second = _second_moments(columns, inverse_information(columns, prior))
    if is_l2(statement):
        linear = [sum((row[z] for row in second), ZERO) for z in range(k)]
        return _most_on_simplex(linear, [ONE] * k)
    deviations = []
    for row, p in zip(second, prior, strict=True):
        variance = max(ZERO, dot(row, prior) - p * p)
        deviations.append(max(_up(sqrt_upper(variance)), Fraction(1, 1 << BITS)))
    halves = [1 / (2 * w) for w in deviations]
    linear = [dot(halves, [row[z] for row in second]) for z in range(k)]
    most = _most_on_simplex([_up(b) for b in linear], halves)
    return root_factor(up=True) * (most + sum(deviations, ZERO) / 2)


def _second_moments(columns: Sequence[Column], inverse: Inverse) -> list[list[Fraction]]:
    """Return c_x(z) = Sum_y Q[z,y] W_xy**2, rounded up; one row for each x."""
    k = len(columns[0])
    moments = [[0] * k for _ in range(k)]
    for q, (readings, slack) in zip(columns, inverse.estimator(), strict=True):
        spend(3 * k * k * product_steps(1 << 2 * inverse.bits), "second moments")
        squares = [(abs(w) + slack) ** 2 for w in readings]
        for z, entry in enumerate(q):
            if entry:
                for x, square in enumerate(squares):
                    moments[x][z] -= -square * entry.numerator // entry.denominator
    unit = 1 << 2 * inverse.bits
    return [[_up(Fraction(entry, unit)) for entry in row] for row in moments]


def _most_on_simplex(b: list[Fraction], h: list[Fraction]) -> Fraction:
    """Return the largest Sum_x b_x p_x - h_x p_x**2 over distributions p, exactly, where h > 0.

    By the conditions of Karush, Kuhn and Tucker the optimum has p_x = max(0, b_x - t) / (2 h_x),
    where the multiplier t makes them sum to 1. Inputs enter in order of b, until t is above b.
    """
    order = sorted(range(len(b)), key=lambda x: b[x], reverse=True)
    top, bottom = -ONE, ZERO
    t = ZERO
    for n, x in enumerate(order):
        top, bottom = top + b[x] / (2 * h[x]), bottom + 1 / (2 * h[x])
        t = top / bottom
        if n + 1 == len(order) or b[order[n + 1]] <= t:
            break
    return t + sum((max(ZERO, b[x] - t) ** 2 / (4 * h[x]) for x in order), ZERO)


def estimator(columns: Sequence[Column], prior: Sequence[Fraction]) -> list[list[Fraction]]:
    """Return W_y = M**-1 q_y / (p . q_y) for each output y: p is estimated as the mean of W_Y."""
    inverse = inverse_information(columns, prior)
    unit = 1 << inverse.bits
    return [[Fraction(w, unit) for w in readings] for readings, _ in inverse.estimator()]


def estimation_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound on the risk that vectors a and potentials u prove.

    The risk at the reference prior is at least C - Sum_y g(q_y) with
    g(q) = Sum_x b_x (a_x . q)**2 / (p . q) and a_x the rows of ``dual["estimator"]``
    (`_linear_bound`). If g(q) <= u . q + c (p . q) on all extreme rays, then it holds on all
    private columns, as g is convex, and the sum over the columns is at most Sum_x u_x + c.

    ``dual["search"]`` names the rays: ``"rays"``, or ``"classes"`` of them. With ``"ldp-"`` before
    it they are those of local differential privacy at a budget that the notions imply, a larger
    cone, for where their own are too many. ``"products"`` needs no rays, but products of rows of
    the cone with multipliers.
    """
    if dual["search"] in ("ldp-rays", "ldp-classes"):
        budget = fraction_text(implied_ldp_budget(statement))
        statement = replace(statement, privacy=[{"notion": "ldp", "epsilon": budget}])
        dual = {**dual, "search": dual["search"].removeprefix("ldp-")}
    k, prior = len(statement.prior), reference_prior(statement, dual)
    u = read_potentials(statement, dual)
    rows = [[scaled_down(number(entry), BITS) for entry in row] for row in dual["estimator"]]
    if len(rows) != k or any(len(row) != k for row in rows):
        raise CertificateError("the certificate has not one row of the estimator for each input")
    constant, weights = _linear_bound(statement, prior, rows, dual.get("tangents"))
    if dual["search"] == "products":
        B = _quadratic_gain(rows, weights)
        largest = reduced_gain_by_products(statement, prior, u, B, dual)
    else:
        rays: Iterator[Sequence[int]] = (
            all_rays(statement, dual.get("priors"))
            if dual["search"] == "rays"
            else _representatives(statement, prior, u, rows, weights)
        )
        largest = reduced_gain_by_rays(rays, prior, u, _linear_gain(prior, rows, weights))
    least = constant - total(u) - largest
    if is_l2(statement):
        return least - sum((p * p for p in prior), ZERO)
    return root_factor(up=False) * max(ZERO, least)


def _linear_bound(
    statement: Statement, prior: list[Fraction], rows: list[list[int]], tangents: Any
) -> tuple[Fraction, list[int]]:
    """Return C and b with Sum_x v_x, or Sum_x w_x, >= C - Sum_x b_x a_x' M a_x; b over 2**BITS.

    A deviation w is, with s = p**2, w**2 + s = v, and at any tangent t > 0 it is at least

        c - b / v,     b = (t**2 + s)**2 / (2 t),     c = t + (t**2 + s) / (2 t),

    since w - c + b / v = (w - t)**2 (w + (t**2 - s) / (2 t)) / v. The last factor must not be
    negative. No channel estimates better than the inputs themselves: w >= sqrt(p (1 - p)).
    """
    unit = 1 << BITS
    if is_l2(statement):
        return Fraction(2 * sum(row[x] for x, row in enumerate(rows)), unit), [unit] * len(rows)
    if len(tangents) != len(rows) or any(row[x] != unit for x, row in enumerate(rows)):
        raise CertificateError("the certificate has not one tangent and a 1 for each input")
    constant, weights = ZERO, []
    for p, tangent in zip(prior, tangents, strict=True):
        t, s = number(tangent), p * p
        if t <= 0:
            raise CertificateError("a tangent is not at a deviation above 0")
        slope = (t * t - s) / (2 * t)
        if slope < 0 and slope * slope > p - s:
            raise CertificateError("a tangent is at too small a deviation to be below the curve")
        constant += t + (t * t + s) / (2 * t)
        weights.append(scaled_up((t * t + s) ** 2 / (2 * t), BITS))  # b is subtracted: up is safe
    return constant, weights


def _linear_gain(
    prior: list[Fraction], rows: list[list[int]], weights: list[int]
) -> Callable[[Sequence[int]], Fraction]:
    """Return g(q) = Sum_x b_x (a_x . q)**2 / (p . q), exactly, as a function of a ray."""
    p, whole = over_one_denominator(prior)
    longest = max(max(map(abs, row)) for row in rows)
    steps = 2 * len(rows) ** 2 * product_steps(longest)

    def gain(q: Sequence[int]) -> Fraction:
        spend(steps + len(rows) * product_steps(max(q)), "the gain of a ray")
        squares = [sum(map(mul, row, q)) ** 2 for row in rows]
        return ratio(sum(map(mul, weights, squares)) * whole, sum(map(mul, p, q)) << 3 * BITS)

    return gain


def _quadratic_gain(rows: list[list[int]], weights: list[int]) -> list[list[Fraction]]:
    """Return B with g(q) = q' B q / (p . q), exactly."""
    longest = max(max(map(abs, row)) for row in rows)
    spend(len(rows) ** 3 * product_steps(longest), "a matrix of gains")
    columns = list(zip(*rows, strict=True))
    weighted = [list(map(mul, weights, column)) for column in columns]
    unit = 1 << 3 * BITS
    return [[Fraction(sum(map(mul, w, column)), unit) for column in columns] for w in weighted]


def _representatives(
    statement: Statement,
    prior: list[Fraction],
    u: list[Fraction],
    rows: list[list[int]],
    weights: list[int],
) -> Iterator[Sequence[int]]:
    """Yield one ray of each orbit, where the protected inputs of a block are exchangeable.

    Under one budget a ray is given by the protected inputs that it raises (`single_budget_rays`).
    If prior, potentials and rows do not change when such inputs are permuted, then neither does
    the reduced gain, and only the number of raised inputs matters.
    """
    budget = one_budget(statement)
    if budget is None:
        raise CertificateError("only under one budget are the rays known by classes")
    group = list(range(len(prior)))
    for inputs in budget.protected:
        for x in inputs:
            group[x] = inputs[0]
    seen: dict[tuple[int, int, bool], int] = {}
    for x, row in enumerate(rows):
        first = group[x]
        if (prior[x], u[x], weights[x]) != (prior[first], u[first], weights[first]):
            raise CertificateError("the certificate tells apart inputs that it says are alike")
        for z, entry in enumerate(row):
            if seen.setdefault((first, group[z], x == z), entry) != entry:
                raise CertificateError("the certificate tells apart inputs that it says are alike")
    yield from single_budget_rays(budget, alike=True)


def unconstrained_risk(statement: Statement) -> Fraction:
    """Return the risk of estimating from the inputs themselves: variances p_x (1 - p_x)."""
    spread = [p * (1 - p) for p in reference_prior(statement)]
    if is_l2(statement):
        return sum(spread, ZERO)
    return root_factor(up=False) * sum((sqrt_lower(s) for s in spread), ZERO)


def _up(value: Fraction) -> Fraction:
    return Fraction(scaled_up(value, BITS), 1 << BITS)
