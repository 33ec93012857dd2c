"""A bound on right guesses by maximal leakage: the budget pays for the likeliest inputs.

Saeidian, Cervia, Oechtering and Skoglund 2021 for the Hamming distortion; proved here again.
"""

from __future__ import annotations

from fractions import Fraction

from mechdesign.certify.problem import Statement, number
from mechdesign.errors import CertificateError
from mechdesign.exact import LARGEST_EXPONENT, exp_upper
from mechdesign.resources import spend

__all__ = ["LEAKAGE", "leakage_budget"]

LEAKAGE = "maximal-leakage"


def leakage_budget(statement: Statement) -> Fraction:
    """Return the loss, or the accuracy, of the best use of a bound on maximal leakage.

    Each output y is right at one input x(y) at most, and costs 1 or more at every other. Sum_y
    max_x Q(y|x) <= L = e**eps. Let c_x be the sum of Q(y|x) over the outputs with x(y) = x, the
    probability of a right output at x. Then c_x <= 1, and Sum_x c_x <= Sum_y max_x Q(y|x) <= L. So
    the accuracy Sum_x P_x c_x is at most what the floor(L) likeliest inputs have, and the fraction
    of L times the next one; in the worst case min_x c_x <= L / k. An input at which no output is
    right has c_x = 0. The loss is at least 1 - c_x at x. With L rounded up the bound only weakens.
    """
    budgets = [number(t["epsilon"]) for t in statement.privacy if t["notion"] == LEAKAGE]
    if not budgets:
        raise CertificateError("this theorem needs maximal leakage")
    left = exp_upper(min(*budgets, Fraction(LARGEST_EXPONENT)))
    losses, k = statement.losses, len(statement.prior)
    spend(20 * k * losses.n_outputs, "right outputs")
    right: set[int] = set()
    for y in range(losses.n_outputs):
        costs = losses.lower(y)
        cheap = [x for x, cost in enumerate(costs) if cost < losses.denominator]
        if len(cheap) > 1 or min(costs) < 0:
            raise CertificateError("this theorem needs outputs that are right at one input each")
        right.update(cheap)
    if statement.is_worst_case:
        return 1 - min(Fraction(1), left / k) if len(right) == k else Fraction(1)
    accuracy = Fraction(0)
    for p in sorted((statement.prior[x] for x in right), reverse=True):
        share = min(Fraction(1), left)
        accuracy, left = accuracy + p * share, left - share
    loss = 1 - accuracy
    return statement.ceiling - loss if statement.is_maximized else loss
