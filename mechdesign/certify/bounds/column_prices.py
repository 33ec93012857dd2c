"""Bounds on a sum of gains: a price for each input that no private column is worth more than.

Let u be prices with g(q) <= u . q + c (P . q) for every private column q. As the columns of a
channel sum to 1, Sum_y g(q_y) <= Sum_x u_x + c. The least such c is found here by search: over all
extreme rays, as g is convex; over sums of counts, for lifts (`sums`); or over boxes (`boxes`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.boxes import surplus_by_boxes
from mechdesign.certify.bounds.gains import gain, offset
from mechdesign.certify.bounds.lift_sums import surplus_by_sums
from mechdesign.certify.bounds.rays import all_rays
from mechdesign.certify.problem import Statement, number
from mechdesign.errors import CertificateError

__all__ = ["columns_bound", "least_surplus"]

ZERO = Fraction(0)

Gain = Callable[[Sequence[Fraction] | Sequence[int]], Fraction]


def columns_bound(statement: Statement, dual: dict[str, Any]) -> Fraction:
    """Return the bound on the objective that prices prove.

    ``dual["potential"]`` are the prices u; ``dual["search"]`` says how c is found: ``"rays"``,
    ``"sums"``, or ``"boxes"`` with ``dual["tree"]``.
    """
    u = [number(p) for p in dual["potential"]]
    if len(u) != len(statement.prior):
        raise CertificateError("the certificate has not one price for each input")
    if dual["search"] == "rays":
        surplus = least_surplus(
            statement, u, lambda q: gain(statement, q, up=True), dual.get("priors")
        )
    elif dual["search"] == "sums":
        surplus = surplus_by_sums(statement, u)
    elif dual["search"] == "boxes":
        surplus = surplus_by_boxes(statement, u, dual["tree"])
    else:
        raise CertificateError(f"the search {dual['search']!r:.60} is not known to the checker")
    most = sum(u, ZERO) + surplus
    return most if statement.is_maximised else offset(statement) - most


def least_surplus(
    statement: Statement, u: list[Fraction], worth: Gain, priors: dict[str, Any] | None
) -> Fraction:
    """Return the least c with worth(q) <= u . q + c (P . q) on all extreme rays.

    On a ray that never occurs, P . q = 0, nothing is gained, and u . q >= 0 is needed.
    """
    surplus = None
    for q in all_rays(statement, priors):
        law = sum((p * v for p, v in zip(statement.prior, q, strict=True) if v), ZERO)
        paid = sum((price * v for price, v in zip(u, q, strict=True) if v), ZERO)
        if not law:
            if paid < 0:
                raise CertificateError("an output that never occurs has a price below 0")
            continue
        excess = (worth(q) - paid) / law
        surplus = excess if surplus is None else max(surplus, excess)
    if surplus is None:
        raise CertificateError("the cone has no ray")
    return surplus
