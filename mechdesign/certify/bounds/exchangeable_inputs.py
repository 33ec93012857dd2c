"""Lower bounds on the risk of estimating a distribution, where all inputs are exchangeable.

Under local differential privacy subset selection (Ye and Barg 2018) attains the bound.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.certify.bounds.estimation_risk import is_l2, reference_prior, root_factor
from mechdesign.certify.bounds.outward import lift_range
from mechdesign.certify.problem import Statement, number
from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_upper, sqrt_lower
from mechdesign.resources import spend

__all__ = ["subset_selection"]

ZERO = Fraction(0)


def subset_selection(statement: Statement) -> Fraction:
    """Return the risk of mixing all permutations of one column, under LDP or bounds on the lift.

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
    squares = [_largest_square(statement, table) for table in statement.privacy]
    found = [square for square in squares if square is not None]
    if not found:
        raise CertificateError("subset selection needs LDP, or lifts at a uniform prior")
    if min(found) <= k:
        raise CertificateError("with a budget of 0 the risk is infinite")
    least = (k - 1) ** 2 / (min(found) - k)
    return least if is_l2(statement) else root_factor(up=False) * sqrt_lower(k * least)


def _largest_square(statement: Statement, table: dict[str, Any]) -> Fraction | None:
    """Return an upper bound on |r|**2 over private columns r with mean 1; None if not known.

    |r|**2 is convex, and so largest at an extreme ray. Under LDP a ray has j entries e**eps and the
    others 1. For lifts between two bounds it has as many entries at the upper bound as the mean
    allows, one in between, and the others at the lower bound.
    """
    k, notion = len(statement.labels), table["notion"]
    if notion == "ldp":
        top = exp_upper(min(number(table["epsilon"]), Fraction(LARGEST_EXPONENT)))
        if number(table["epsilon"]) > LARGEST_EXPONENT:
            return Fraction(k * k)
        spend(200 * k, "subsets")
        return max((j * top * top + k - j) / (j * top + k - j) ** 2 * k * k for j in range(1, k))
    if notion not in ("lip", "lift", "pml") or not statement.is_uniform:
        return None
    low, most = lift_range(table)
    high = Fraction(k) if most is None else most
    if low >= high:
        return Fraction(k)
    room = k * (1 - low) / (high - low)  # how many can be at the top
    raised = min(k, room.numerator // room.denominator)
    between = low + (room - raised) * (high - low) if raised < k else ZERO
    return raised * high**2 + between**2 + max(0, k - 1 - raised) * low**2
