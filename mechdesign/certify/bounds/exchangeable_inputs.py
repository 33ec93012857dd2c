"""How well a distribution can be estimated where a notion treats all inputs alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.estimation_risk import is_l2, reference_prior, root_factor
from mechdesign.certify.privacy.check import lift_limits
from mechdesign.certify.problem import Statement, number
from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_lower, exp_upper, sqrt_lower

__all__ = ["subset_selection"]

ZERO = Fraction(0)


def subset_selection(statement: Statement) -> Fraction:
    """LDP, or bounds on the lift at the uniform prior: equal shares of all permutations are best.

    At the uniform p, M 1 = k Sum_y q_y = k 1, so that 1 / k is one eigenvalue of M**-1, and the
    others' sum is least, (k - 1)**2 / (tr M - k), where they are equal. As tr M is
    Sum_y lambda_y |r_y|**2 with r_y = q_y / lambda_y, it is at most the largest |r|**2 of private
    columns with mean 1. So the l2-risk is at least L = (k - 1)**2 / (max |r|**2 - k). The tv-risk
    is convex in M where no variance is below p_x, as p_x = 1 / k is at most 3/4 (see the tangents
    in `estimation`). So the mean of M over all permutations of the inputs has no larger risk:
    there the squares of all deviations are equal, and at least L / k.
    """
    k = len(statement.labels)
    if not statement.is_risk or set(reference_prior(statement)) != {Fraction(1, k)}:
        raise CertificateError("subset selection needs a risk of estimation at a uniform prior")
    if k == 1:
        return ZERO
    squares = [_largest_square(statement, table) for table in statement.privacy]
    found = [square for square in squares if square is not None]
    if not found:
        raise CertificateError("subset selection needs LDP, or lifts at a uniform prior")
    if min(found) <= k:
        raise CertificateError("a budget of 0 lets nobody estimate anything")
    least = (k - 1) ** 2 / (min(found) - k)
    return least if is_l2(statement) else root_factor(up=False) * sqrt_lower(k * least)


def _largest_square(statement: Statement, table: dict[str, Any]) -> Fraction | None:
    """Return at least the largest |r|**2 of columns with mean 1 that a notion allows.

    It is convex, so largest at an extreme ray: under LDP j entries e**eps, the others 1; for lifts
    between two bounds as many at the upper as the mean allows, one in between, the others lowest.
    """
    k, notion = len(statement.labels), table["notion"]
    if notion == "ldp":
        top = exp_upper(min(number(table["epsilon"]), Fraction(LARGEST_EXPONENT)))
        if number(table["epsilon"]) > LARGEST_EXPONENT:
            return Fraction(k * k)
        return max((j * top * top + k - j) / (j * top + k - j) ** 2 * k * k for j in range(1, k))
    if notion not in ("lip", "lift", "pml") or len(set(statement.prior)) > 1:
        return None
    upper, lower = lift_limits(table)
    low = ZERO if lower is None else exp_lower(-lower)
    high = Fraction(k) if upper is None or upper > LARGEST_EXPONENT else exp_upper(upper)
    if low >= high:
        return Fraction(k)
    room = k * (1 - low) / (high - low)  # how many can be at the top
    raised = min(k, room.numerator // room.denominator)
    between = low + (room - raised) * (high - low) if raised < k else ZERO
    return raised * high**2 + between**2 + max(0, k - 1 - raised) * low**2
