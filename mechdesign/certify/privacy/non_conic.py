"""Non-conic notions, which bound a sum over all outputs: exact checks, and terms of dual bounds.

Such a notion is no cone of columns. Beside those of `guesses`, four bound Sum_y h(q_y) with h
convex and homogeneous:

    approximate-ldp      Sum_y (Q[x,y] - e**eps Q[x',y])_+ <= delta            for all x != x'
    approximate-lip      Sum_y (Q[x,y] - e**eps law_y)_+   <= e**eps delta     for all x
                         Sum_y (law_y - e**eps Q[x,y])_+   <= delta            for all x
    maximal-leakage      Sum_y max_x Q[x,y]                <= e**eps
    mutual-information   Sum_xy P_x Q[x,y] ln(Q[x,y] / law_y) <= eps

where law_y = Sum_x P_x Q[x,y] is the output distribution. With e**eps rounded down, or logarithms
rounded up, a sum is no smaller than its true value, so that a channel that passes is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from mechdesign.certify.fixed_point import dot, fraction_steps, scaled_down, scaled_up
from mechdesign.certify.privacy.guesses import GUESSES, add_guess_rows, check_guesses
from mechdesign.certify.problem import Statement, check_indices, nonnegative, number
from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_lower, exp_upper, log_upper
from mechdesign.resources import spend

__all__ = [
    "EXCESS_SIDES",
    "NON_CONIC",
    "add_excess_rows",
    "check_non_conic",
    "implied_ratio_bound",
    "least_reduced_cost",
]

ZERO = Fraction(0)

NON_CONIC = (
    "approximate-ldp",
    "approximate-lip",
    "maximal-leakage",
    "mutual-information",
    *GUESSES,
)
"""The non-conic notions."""

EXCESS_SIDES = {
    "excess": "approximate-ldp",
    "excess-upper": "approximate-lip",
    "excess-lower": "approximate-lip",
    "largest": "maximal-leakage",
    **{side: notion for notion, side in GUESSES.items()},
}
"""The sums that may have multipliers, each with its notion."""

EXPONENT_BITS = 100
"""Exponents are rounded up to so many bits beyond the point: short ones are quick to bound."""


def check_non_conic(
    statement: Statement,
    table: dict[str, Any],
    columns: Sequence[Sequence[int]],
    shift: Fraction | None = None,
) -> str | None:
    """Return what breaks a non-conic notion, or None; ``shift`` stands for its epsilon if given."""
    notion = table["notion"]
    if notion in GUESSES:
        return check_guesses(statement, table, columns, shift)
    epsilon = nonnegative(table["epsilon"]) if shift is None else shift
    rows = list(zip(*columns, strict=True))
    length = statement.masses[1].bit_length()
    spend(len(rows) * len(columns) * fraction_steps(length), "output probabilities")
    whole, laws = sum(rows[0]), [dot(statement.prior, q) for q in columns]
    if notion == "mutual-information":
        found = sum(map(partial(_information, statement), columns, laws), ZERO)
        return None if found <= epsilon * whole else "the output reveals too much of the input"
    factor = exp_lower(epsilon)
    if notion == "maximal-leakage":
        largest = sum(max(q) for q in columns)
        return None if largest <= factor * whole else "the largest entries add up to too much"
    delta = nonnegative(table["delta"])
    for x, row in enumerate(rows):
        if notion == "approximate-lip":
            if _excess(row, laws, factor) > factor * delta * whole:
                return f"input {x} is too likely on some outputs"
            if _excess(laws, row, factor) > delta * whole:
                return f"input {x} is too unlikely on some outputs"
            continue
        spend((20 + 6 * len(columns)) * len(rows), "sums over outputs")
        for other, against in enumerate(rows):
            if x != other and _excess(row, against, factor) > delta * whole:
                return f"input {x} is too likely on some outputs against {other}"
    return None


def _excess(row: Sequence[Any], against: Sequence[Any], factor: Fraction) -> Fraction:
    """Return Sum_y (row_y - factor against_y)_+."""
    top, bottom = factor.numerator, factor.denominator
    parts = (a * bottom - b * top for a, b in zip(row, against, strict=True))
    return Fraction(sum((part for part in parts if part > 0), 0)) / bottom


def _information(statement: Statement, q: Sequence[int], law: Fraction) -> Fraction:
    """Return Sum_x P_x q_x ln(q_x / law) of one output, rounded up."""
    spend(3 * len(q) * fraction_steps(law.denominator.bit_length()), "information")
    pairs = zip(statement.prior, q, strict=True)
    return sum((p * v * log_upper(v / law) for p, v in pairs if p and v), ZERO)


def implied_ratio_bound(
    statement: Statement, table: dict[str, Any]
) -> tuple[Fraction | None, list[bool]]:
    """Return the bound a with q_x <= e**a q_x' that such a notion implies, and on which inputs.

    With delta = 0, approximate LDP is LDP. With a budget of 0, maximal leakage makes the rows of Q
    equal, as the largest entries sum to 1 only if all rows are the same. So does mutual
    information, for inputs of positive prior. Otherwise there is no such bound.
    """
    notion, everywhere = table["notion"], [True] * len(statement.prior)
    epsilon = nonnegative(table.get("epsilon", "0"))
    if notion == "approximate-ldp" and nonnegative(table["delta"]) == 0:
        return epsilon, everywhere
    if notion == "maximal-leakage" and epsilon == 0:
        return ZERO, everywhere
    if notion == "mutual-information" and epsilon == 0:
        return ZERO, [p > 0 for p in statement.prior]
    return None, everywhere


def add_excess_rows(
    statement: Statement, block: dict[str, Any], reduced: list[list[int]], bits: int
) -> int:
    """Add multipliers of a sum to the reduced costs, rounded down; return their cost, rounded up.

    Each sum is Sum_y max over its rows of (e**-eps left . q_y - right . q_y)_+ <= limit, where e
    to the -eps has been multiplied in. For multipliers w >= 0 of its rows,

        Sum_y Sum_row w[row,y] (e**-eps left - right) . q_y  <=  limit max_y Sum_row w[row,y],

    so that the loss plus the left side less the right side is at most the loss.
    """
    side, table = block["side"], statement.privacy[block["notion"]]
    if table["notion"] in GUESSES:
        return add_guess_rows(statement, block, reduced, bits)
    epsilon = nonnegative(table["epsilon"])
    shrink, shrink_up = exp_lower(-epsilon), exp_upper(-epsilon)
    k, m = len(reduced), len(reduced[0])
    sums: dict[tuple[int, int], dict[int, Fraction]] = {}
    by_output = [ZERO] * m
    for name, size in (("output", m), ("x", k), ("other", k)):
        check_indices(block[name], size, "a dual weight is on a row")
    places = (block["output"], block["x"], block["other"], block["weight"])
    for y, x, other, text in zip(*places, strict=True):
        w = nonnegative(text)
        key = (0, 0) if side == "largest" else (x, other if side == "excess" else 0)
        group = sums.setdefault(key, {})
        group[y] = group.get(y, ZERO) + w
        by_output[y] += w
        reduced[x][y] += scaled_down(-w if side == "excess-lower" else w * shrink, bits)
        if side == "excess":
            reduced[other][y] += scaled_down(-w, bits)
    if side in ("excess-upper", "excess-lower"):
        for y, w in enumerate(by_output):
            spend(len(reduced) * fraction_steps(w.denominator.bit_length()), "dual rows")
            share = -w if side == "excess-upper" else w * shrink
            for z, p in enumerate(statement.prior):
                reduced[z][y] += scaled_down(share * p, bits)
    limit = Fraction(1)
    if side != "largest":
        limit = nonnegative(table["delta"]) * (1 if side == "excess-upper" else shrink_up)
    return scaled_up(sum((max(group.values()) for group in sums.values()), ZERO) * limit, bits)


def least_reduced_cost(
    statement: Statement, information: dict[str, Any] | None, reduced: list[list[int]], bits: int
) -> Fraction:
    """Return a lower bound on Sum_xy reduced[x, y] Q[x,y] over all private channels Q.

    Without information it is Sum_x min_y reduced[x, y], as rows lie on simplices. Let v
    be the sum of the multipliers of all bounds on the mutual information, and d = reduced / P_x
    where P_x > 0. For any potentials b_x, with s = max_y Sum_x P_x exp((b_x - d[x,y]) / v),

        Sum_xy P_x Q[x,y] d[x,y] + v I(X; Y)  >=  Sum_x P_x b_x - v ln s.

    Proof: I is Sum_x P_x Sum_y Q[x,y] ln(Q[x,y] / law_y). Dividing by v, the left side less
    Sum_x P_x b_x is a relative entropy of the numbers P_x Q[x,y], which sum to 1, to the numbers
    P_x law_y exp((b_x - d[x,y]) / v), which sum to at most s; so it is at least -ln s. (Shannon
    1959; Berger 1971, Theorem 2.5.3.) As I is at most every budget, the budgets, each times its own
    multiplier, are subtracted.
    """
    if information is None:
        return Fraction(sum(min(row) for row in reduced), 1 << bits)
    multiplier = spent = ZERO
    for place, text in information["multipliers"].items():
        table = statement.privacy[int(place)]
        multiplier += nonnegative(text)
        spent += nonnegative(text) * nonnegative(table["epsilon"])
    potentials = [number(b) for b in information["levels"]]
    if not multiplier or len(potentials) != len(reduced):
        raise CertificateError(
            "the certificate has no multiplier, or not all potentials, of information"
        )
    worst = [ZERO] * len(reduced[0])
    total = -spent
    for p, potential, row in zip(statement.prior, potentials, reduced, strict=True):
        if not p:
            total += Fraction(min(row), 1 << bits)
            continue
        length = p.denominator.bit_length() + multiplier.denominator.bit_length() + bits
        spend(4 * len(row) * fraction_steps(length), "reduced costs")
        total += p * potential
        for y, cost in enumerate(row):
            worst[y] += p * _exp_up((potential - Fraction(cost, 1 << bits) / p) / multiplier)
    return total - multiplier * log_upper(max(worst))


def _exp_up(exponent: Fraction) -> Fraction:
    """Return e**exponent, rounded up: the bound subtracts a logarithm of sums of it."""
    if exponent > LARGEST_EXPONENT:
        raise CertificateError("the potentials in the certificate are far above the costs")
    rounded = Fraction(scaled_up(exponent, EXPONENT_BITS), 1 << EXPONENT_BITS)
    return exp_upper(max(rounded, Fraction(-LARGEST_EXPONENT)))
