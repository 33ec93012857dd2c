"""The risk of estimating the distribution of the inputs from reports, and the least it can be.

With M the information of the channel at the prior p (`inverse`), v_x = (M**-1)_xx and deviations
w_x = sqrt(v_x - p_x**2), the risks are, times n and times sqrt(n),

    l2-risk: Sum_x v_x - |p|**2               tv-risk: sqrt(1 / (2 pi)) Sum_x w_x.

Both are bounded from below by what is linear in M, hence a sum over outputs. For any vector a,

    v_x >= 2 a_x - a' M a,         and, where a_x = 1,         1 / v_x <= a' M a.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.inverse_information import Inverse, inverse_information
from mechdesign.certify.bounds.rays import all_rays, one_budget, single_budget_rays
from mechdesign.certify.fixed_point import over_one_denominator
from mechdesign.certify.problem import L2_RISK, Statement, distribution, number
from mechdesign.errors import CertificateError
from mechdesign.exact import PI, sqrt_lower, sqrt_upper

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
"""Bits beyond the point that the data of a certificate is rounded to."""

Column = Sequence[Fraction]


def reference_prior(statement: Statement, dual: dict[str, Any] | None = None) -> list[Fraction]:
    """Return the prior that the estimator is made for, and the bound speaks of.

    It is that of the problem. For the worst case over all priors it is the one that the
    certificate names, the uniform one if it names none: the risk at any prior is at most the worst.
    """
    k = len(statement.prior)
    if not statement.utility.get("worst_case"):
        found = statement.prior
    elif dual is not None and dual.get("prior") is not None:
        found = distribution(dual["prior"], k)
    else:
        found = [Fraction(1, k)] * k
    if min(found) <= 0:
        raise CertificateError("the risk of estimation needs a prior without zeros")
    return found


def is_l2(statement: Statement) -> bool:
    """Return whether the risk is a sum of variances, not of their roots."""
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
    if not statement.utility.get("worst_case"):
        return risk_of(statement, columns, prior, up=True)
    if len(prior) == 1:
        return ZERO
    second = _second_moments(columns, inverse_information(columns, prior))
    k = len(prior)
    if is_l2(statement):
        linear = [sum((row[z] for row in second), ZERO) for z in range(k)]
        return _most_on_simplex(linear, [ONE] * k)
    deviations = []
    for row, p in zip(second, prior, strict=True):
        mean = sum((c * q for c, q in zip(row, prior, strict=True)), ZERO)
        deviations.append(max(_up(sqrt_upper(max(ZERO, mean - p * p))), Fraction(1, 1 << BITS)))
    halves = [1 / (2 * w) for w in deviations]
    linear = [
        sum((row[z] * half for row, half in zip(second, halves, strict=True)), ZERO)
        for z in range(k)
    ]
    most = _most_on_simplex([_up(b) for b in linear], halves)
    return root_factor(up=True) * (most + sum(deviations, ZERO) / 2)


def _second_moments(columns: Sequence[Column], inverse: Inverse) -> list[list[Fraction]]:
    """Return c_x(z) = Sum_y Q[z,y] W_xy**2, rounded up; one row for each x."""
    k = len(columns[0])
    total = [[0] * k for _ in range(k)]
    for q, readings, slack in zip(columns, inverse.estimator, inverse.slack, strict=True):
        squares = [(abs(w) + slack) ** 2 for w in readings]
        for z, entry in enumerate(q):
            if entry:
                for x, square in enumerate(squares):
                    total[x][z] -= -square * entry.numerator // entry.denominator
    unit = 1 << 2 * inverse.bits
    return [[_up(Fraction(entry, unit)) for entry in row] for row in total]


def _most_on_simplex(b: list[Fraction], h: list[Fraction]) -> Fraction:
    """Return the most of Sum_x b_x p_x - h_x p_x**2 over distributions p, h > 0, exactly.

    At the optimum p_x = max(0, b_x - t) / (2 h_x), with t such that they sum to 1.
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
    return [[Fraction(w, 1 << inverse.bits) for w in readings] for readings in inverse.estimator]


def estimation_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound on the risk that vectors a and prices u prove.

    The risk at the reference prior is at least C - Sum_y g(q_y) with
    g(q) = Sum_x b_x (a_x . q)**2 / (p . q) and a_x the rows of ``dual["estimator"]``
    (`_linear_bound`); and g(q) <= u . q + c (p . q) on all extreme rays, hence on all columns, as g
    is convex, makes the sum at most Sum u + c.
    """
    k, prior = len(statement.prior), reference_prior(statement, dual)
    u = [number(price) for price in dual["potential"]]
    rows = [[_down(number(entry)) for entry in row] for row in dual["estimator"]]
    if len(u) != k or len(rows) != k or any(len(row) != k for row in rows):
        raise CertificateError("the certificate has not one price and one row for each input")
    constant, weights = _linear_bound(statement, prior, rows, dual.get("tangents"))
    if dual["search"] == "rays":
        rays: Iterator[Sequence[int]] = all_rays(statement, dual.get("priors"))
    elif dual["search"] == "classes":
        rays = _representatives(statement, prior, u, rows, weights)
    else:
        raise CertificateError(f"the search {dual['search']!r:.60} is not known to the checker")
    least = constant - sum(u, ZERO) - _surplus(rays, prior, u, rows, weights)
    if is_l2(statement):
        return least - sum((p * p for p in prior), ZERO)
    return root_factor(up=False) * max(ZERO, least)


def _linear_bound(
    statement: Statement, prior: list[Fraction], rows: list[list[int]], tangents: Any
) -> tuple[Fraction, list[int]]:
    """Return C and b with Sum_x v_x, or Sum_x w_x, >= C - Sum_x b_x a_x' M a_x; b over 2**BITS.

    A deviation w is, with s = p**2, w**2 + s = v, and at any tangent t > 0 it is at least

        c - b / v,     b = (t**2 + s)**2 / (2 t),     c = t + (t**2 + s) / (2 t),

    since w - c + b / v = (w - t)**2 (w + (t**2 - s) / (2 t)) / v. The last factor must not be below
    0: as nobody estimates better than from the inputs themselves, w >= sqrt(p (1 - p)).
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
        weights.append(-_down(-((t * t + s) ** 2) / (2 * t)))
    return constant, weights


def _surplus(
    rays: Iterator[Sequence[int]],
    prior: list[Fraction],
    u: list[Fraction],
    rows: list[list[int]],
    weights: list[int],
) -> Fraction:
    """Return the least c with g(q) <= u . q + c (p . q) on the rays."""
    p, whole = over_one_denominator(prior)
    prices, unit = over_one_denominator(u)
    least = None
    for q in rays:
        at = [x for x, entry in enumerate(q) if entry]
        law = sum(p[x] * q[x] for x in at)
        gain = 0
        for weight, row in zip(weights, rows, strict=True):
            gain += weight * sum(row[x] * q[x] for x in at) ** 2
        paid = Fraction(sum(prices[x] * q[x] for x in at), unit)
        excess = (Fraction(gain * whole, law << 3 * BITS) - paid) * Fraction(whole, law)
        least = excess if least is None else max(least, excess)
    if least is None:
        raise CertificateError("the cone has no ray")
    return least


def _representatives(
    statement: Statement,
    prior: list[Fraction],
    u: list[Fraction],
    rows: list[list[int]],
    weights: list[int],
) -> Iterator[Sequence[int]]:
    """Yield one ray of each class, where nothing tells apart the protected inputs of a block.

    Under one budget a ray is given by the protected inputs that it raises (`single_budget_rays`).
    If prior, prices and rows stay the same when such inputs are permuted, so does the surplus, and
    only how many are raised counts.
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
    """Nobody estimates better than from the inputs themselves: variances p_x (1 - p_x)."""
    spread = [p * (1 - p) for p in reference_prior(statement)]
    if is_l2(statement):
        return sum(spread, ZERO)
    return root_factor(up=False) * sum((sqrt_lower(s) for s in spread), ZERO)


def _down(value: Fraction) -> int:
    return (value.numerator << BITS) // value.denominator


def _up(value: Fraction) -> Fraction:
    return Fraction(-_down(-value), 1 << BITS)
