"""Rational bounds on ratios and lifts of private columns, rounded outward.

What is proved of every column within the rounded bounds is proved of every private column. The
checks of privacy round the same bounds inward, so that neither relies on the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from mechdesign.certify.privacy.check import Limit, lift_limits, ratio_limits
from mechdesign.certify.privacy.linear_rows import is_linear
from mechdesign.certify.problem import SECRET, Statement, number
from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_lower, exp_upper
from mechdesign.resources import spend

__all__ = [
    "bounded_pairs",
    "implied_ldp_budget",
    "ldp_budget",
    "lift_exponent",
    "lift_range",
    "ratio_ceiling",
    "ratio_floor",
]


def ratio_ceiling(limit: Limit | None) -> Fraction | None:
    """Return a rational at least ``factor * e**a``; None where there is no bound, or a huge one."""
    if limit is None or limit[0] > LARGEST_EXPONENT:
        return None
    return exp_upper(limit[0]) * limit[1]


def ratio_floor(limit: Limit | None) -> Fraction:
    """Return a rational at most q_z / q_x where ``q_x <= factor * e**a q_z``; 0 without a bound."""
    return Fraction(0) if limit is None else exp_lower(-limit[0]) / limit[1]


def lift_range(table: dict[str, Any]) -> tuple[Fraction, Fraction | None]:
    """Return l and u with ``l <= q_x / (P . q) <= u`` on private columns; u None if unbounded."""
    upper, lower = lift_limits(table)
    low = Fraction(0) if lower is None else exp_lower(-lower)
    return low, None if upper is None else ratio_ceiling((upper, Fraction(1)))


def lift_exponent(table: dict[str, Any], side: Any) -> Fraction:
    """Return the exponent of the rows on one side of the lift, ``"upper"`` or ``"lower"``."""
    upper, lower = lift_limits(table)
    exponent = {"upper": upper, "lower": lower}.get(side)
    if exponent is None:
        raise CertificateError(f"a certificate names the side {side!r:.60} with no row")
    return exponent


def bounded_pairs(limits: list[list[Limit | None]]) -> Iterator[tuple[int, int, Limit]]:
    """Yield every pair of different inputs (x, z) with a bound on q_x / q_z, and that bound."""
    for x, row in enumerate(limits):
        for z, limit in enumerate(row):
            if limit is not None and z != x:
                yield x, z, limit


def implied_ldp_budget(statement: Statement) -> Fraction:
    """Return a budget at which every private column is locally private, q_x <= e**budget q_z.

    Bounds on ratios chain, q_x <= e**a q_y <= e**(a + b) q_z; lifts for a prior P, or one of a set,
    give q_x <= e**upper P . q <= e**(upper + lower) q_z.

    Raises
    ------
    CertificateError
        If no notion gives one.
    """
    found: list[Fraction] = []
    for table in statement.privacy:
        if table["notion"] == SECRET or is_linear(table):
            continue
        limits = ratio_limits(statement, table)
        if limits is None:
            upper, lower = lift_limits(table)
            found += [] if upper is None or lower is None else [upper + lower]
        elif all(limit is None or limit[1] <= 1 for row in limits for limit in row):
            longest = _longest_chain(limits)
            found += [] if longest is None else [longest]
    if not found:
        raise CertificateError("the notions bound no ratio of all pairs of inputs")
    return min(found)


def _longest_chain(limits: list[list[Limit | None]]) -> Fraction | None:
    """Return the largest exponent of a pair, each the least of its chains; None if one has none."""
    k = len(limits)
    a: list[list[Fraction | None]] = [
        [Fraction(0) if x == z else None if m is None else m[0] for z, m in enumerate(row)]
        for x, row in enumerate(limits)
    ]
    for y in range(k):  # Floyd and Warshall
        spend(10 * k * k, "chains of ratios")
        for x in range(k):
            first = a[x][y]
            for z, second in enumerate(a[y]):
                if first is None or second is None:
                    continue
                direct = a[x][z]
                if direct is None or first + second < direct:
                    a[x][z] = first + second
    entries = [entry for row in a for entry in row]
    return None if None in entries else max(entry for entry in entries if entry is not None)


def ldp_budget(statement: Statement) -> Fraction:
    """Return the least budget of local differential privacy that the problem asks for."""
    budgets = [number(t["epsilon"]) for t in statement.privacy if t["notion"] == "ldp"]
    if not budgets:
        raise CertificateError("this theorem needs local differential privacy")
    return min(budgets)
