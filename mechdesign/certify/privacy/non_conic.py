"""Notions about the whole channel: the exact check, and what weights on them prove.

Four notions bound a sum over outputs, Sum_y h(q_y), with h convex and homogeneous:

    approximate-ldp      Sum_y (Q[x,y] - e**eps Q[x',y])_+ <= delta            for all x != x'
    approximate-lip      Sum_y (Q[x,y] - e**eps law_y)_+   <= e**eps delta     for all x
                         Sum_y (law_y - e**eps Q[x,y])_+   <= delta            for all x
    maximal-leakage      Sum_y max_x Q[x,y]                <= e**eps
    mutual-information   Sum_xy P_x Q[x,y] ln(Q[x,y] / law_y) <= eps

with law_y = Sum_x P_x Q[x,y]. A sum with e**eps rounded down, or a logarithm rounded up, is larger
than the truth, so that a channel that passes is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from mechdesign.certify.problem import Statement, nonnegative, number
from mechdesign.errors import CertificateError
from mechdesign.exact import exp_lower, exp_upper, log_upper

__all__ = ["EXCESS_SIDES", "WHOLE", "add_excess", "check_whole", "least_total", "tied_pairs"]

ZERO = Fraction(0)

WHOLE = ("approximate-ldp", "approximate-lip", "maximal-leakage", "mutual-information")
"""The notions that this file speaks of."""

EXCESS_SIDES = {
    "excess": "approximate-ldp",
    "excess-upper": "approximate-lip",
    "excess-lower": "approximate-lip",
    "largest": "maximal-leakage",
}
"""The sums that weights may be on, each with its notion."""

FINE = 1 << 100
"""Exponents are rounded up to whole multiples of 1 / FINE, levels are as they are."""

STEEPEST = 4096


def check_whole(
    statement: Statement,
    table: dict[str, Any],
    columns: Sequence[Sequence[int]],
    shift: Fraction | None = None,
) -> str | None:
    """Return what breaks a notion of :data:`WHOLE`, or None; ``shift`` stands for its epsilon."""
    notion = table["notion"]
    epsilon = nonnegative(table["epsilon"]) if shift is None else shift
    rows = list(zip(*columns, strict=True))
    whole, laws = sum(rows[0]), [_law(statement, q) for q in columns]
    if notion == "mutual-information":
        found = sum(map(partial(_information, statement), columns, laws), ZERO)
        return None if found <= epsilon * whole else "the output tells too much of the input"
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
        for other, against in enumerate(rows):
            if x != other and _excess(row, against, factor) > delta * whole:
                return f"input {x} is too likely on some outputs against {other}"
    return None


def _law(statement: Statement, q: Sequence[int]) -> Fraction:
    return sum((p * v for p, v in zip(statement.prior, q, strict=True) if p), ZERO)


def _excess(row: Sequence[Any], against: Sequence[Any], factor: Fraction) -> Fraction:
    """Return Sum_y (row_y - factor against_y)_+."""
    top, bottom = factor.numerator, factor.denominator
    parts = (a * bottom - b * top for a, b in zip(row, against, strict=True))
    return Fraction(sum((part for part in parts if part > 0), 0)) / bottom


def _information(statement: Statement, q: Sequence[int], law: Fraction) -> Fraction:
    """Return Sum_x P_x q_x ln(q_x / law) of one output, rounded up."""
    pairs = zip(statement.prior, q, strict=True)
    return sum((p * v * log_upper(v / law) for p, v in pairs if p and v), ZERO)


def tied_pairs(statement: Statement, table: dict[str, Any]) -> list[list[Fraction | None]]:
    """Return the bounds a that such a notion sets on every column, q_x <= e**a q_x'; mostly none.

    Without a delta, approximate LDP is LDP. Without a budget, the rows of Q are equal: the largest
    entries add up to 1 only if they are all the entries, and no information leaves only the law;
    the rows of inputs that never occur are not spoken of then.
    """
    notion, k = table["notion"], len(statement.prior)
    epsilon, bound = nonnegative(table["epsilon"]), None
    spoken = [True] * k
    if notion == "approximate-ldp" and nonnegative(table["delta"]) == 0:
        bound = epsilon
    elif notion in ("maximal-leakage", "mutual-information") and epsilon == 0:
        bound = ZERO
        if notion == "mutual-information":
            spoken = [p > 0 for p in statement.prior]
    return [[bound if a and b else None for b in spoken] for a in spoken]


def add_excess(
    statement: Statement, block: dict[str, Any], reduced: list[list[int]], scale: int
) -> int:
    """Add weights on a sum to the reduced costs, rounded down; return what they cost, rounded up.

    Each sum is Sum_y max over its rows of (e**-eps left . q_y - right . q_y)_+ <= limit, where e
    to the -eps has been multiplied in. For weights w >= 0 on its rows,

        Sum_y Sum_row w[row,y] (e**-eps left - right) . q_y  <=  limit max_y Sum_row w[row,y],

    so that adding the left side to the loss, and taking the right side away, is never a gain.
    """
    side, table = block["side"], statement.privacy[block["notion"]]
    if EXCESS_SIDES[side] != table["notion"]:
        raise CertificateError(f"a dual weight is on the side {side!r} of another notion")
    epsilon = nonnegative(table["epsilon"])
    shrink, shrink_up = exp_lower(-epsilon), exp_upper(-epsilon)
    k, m = len(reduced), len(reduced[0])
    sums: dict[tuple[int, int], dict[int, Fraction]] = {}
    by_output = [ZERO] * m
    places = (block["output"], block["x"], block["other"], block["weight"])
    for y, x, other, text in zip(*places, strict=True):
        w = nonnegative(text)
        if not (0 <= x < k and 0 <= y < m and 0 <= other < k):
            raise CertificateError("a dual weight is on a row that does not exist")
        key = (0, 0) if side == "largest" else (x, other if side == "excess" else 0)
        group = sums.setdefault(key, {})
        group[y] = group.get(y, ZERO) + w
        by_output[y] += w
        reduced[x][y] += _floor(-w if side == "excess-lower" else w * shrink, scale)
        if side == "excess":
            reduced[other][y] += _floor(-w, scale)
    if side in ("excess-upper", "excess-lower"):
        for y, w in enumerate(by_output):
            share = -w if side == "excess-upper" else w * shrink
            for z, p in enumerate(statement.prior):
                reduced[z][y] += _floor(share * p, scale)
    limit = Fraction(1)
    if side != "largest":
        limit = nonnegative(table["delta"]) * (1 if side == "excess-upper" else shrink_up)
    return -_floor(-sum((max(group.values()) for group in sums.values()), ZERO) * limit, scale)


def least_total(
    statement: Statement, information: dict[str, Any] | None, reduced: list[list[int]], scale: int
) -> Fraction:
    """Return a number that Sum_xy reduced[x, y] Q[x,y] is not below for any private channel Q.

    Without information it is Sum_x min_y reduced[x, y], as rows lie on simplices. With a price v of
    a nat, of all the notions that bound it together, let d = reduced / P_x where P_x > 0. For any
    levels b_x, with s = max_y Sum_x P_x exp((b_x - d[x,y]) / v),

        Sum_xy P_x Q[x,y] d[x,y] + v I(X; Y)  >=  Sum_x P_x b_x - v ln s.

    Proof: I is Sum_x P_x Sum_y Q[x,y] ln(Q[x,y] / law_y). Dividing by v, the left side less
    Sum_x P_x b_x is a relative entropy of the numbers P_x Q[x,y], which sum to 1, to the numbers
    P_x law_y exp((b_x - d[x,y]) / v), which sum to at most s; so it is at least -ln s. (Shannon
    1959; Berger 1971, Theorem 2.5.3.) As I is at most every budget, v times the budgets, each by
    its own price, is taken away.
    """
    if information is None:
        return Fraction(sum(min(row) for row in reduced), scale)
    price = spent = ZERO
    for place, text in information["multipliers"].items():
        table = statement.privacy[int(place)]
        if table["notion"] != "mutual-information":
            raise CertificateError("a price of information is on another notion")
        price += nonnegative(text)
        spent += nonnegative(text) * nonnegative(table["epsilon"])
    levels = [number(level) for level in information["levels"]]
    if not price or len(levels) != len(reduced):
        raise CertificateError("the certificate has no price of information, or not all levels")
    worst = [ZERO] * len(reduced[0])
    total = -spent
    for p, level, row in zip(statement.prior, levels, reduced, strict=True):
        if not p:
            total += Fraction(min(row), scale)
            continue
        total += p * level
        for y, cost in enumerate(row):
            worst[y] += p * _exp_up((level - Fraction(cost, scale) / p) / price)
    return total - price * log_upper(max(worst))


def _exp_up(exponent: Fraction) -> Fraction:
    if exponent > STEEPEST:
        raise CertificateError("the levels in the certificate are far above the costs")
    rounded = Fraction(-_floor(-exponent, FINE), FINE)
    return exp_upper(max(rounded, Fraction(-STEEPEST)))


def _floor(exact: Fraction, scale: int) -> int:
    return exact.numerator * scale // exact.denominator
