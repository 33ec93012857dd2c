"""Bounds on the lift P(x|y) / P(x): LIP, pointwise maximal leakage, and a budget for each side."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mechdesign.exact import fraction_text
from mechdesign.notions.base import BudgetNotion, Notion, budget, is_infinite


class LIP(BudgetNotion):
    """Local information privacy: e**-epsilon <= P(x|y) / P(x) <= e**epsilon for every x and y.

    With the output probability lambda = P . q of a column q: q_x <= e**epsilon lambda and
    lambda <= e**epsilon q_x. An input of prior 0 is protected like any other.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: Jiang et al. 2018 (CNS), Definition 3.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(LIP(1).leakage(warner, Prior([0.5, 0.5])), 6)  # ln 2, from below
    0.693147
    """

    name = "lip"
    title = "local information privacy"
    example = """
epsilon = 1.0               # nats; P(x|y)/P(x) stays between e^-epsilon and e^epsilon
"""
    on_interval = "mixture"
    needs_prior = True
    bounds_lift_from_below = True


class PML(BudgetNotion):
    """Pointwise maximal leakage: P(x|y) / P(x) <= e**epsilon for every x and y.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: Saeidian, Cervia, Oechtering and Skoglund 2023. It bounds the lift from above only, so
    an output may rule an input out. An input of prior 0 is protected like any other.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> identity = Channel.from_matrix([[1, 0], [0, 1]])
    >>> round(PML(1).leakage(identity, Prior([0.5, 0.5])), 6)  # ln 2
    0.693147
    """

    name = "pml"
    title = "pointwise maximal leakage"
    example = """
epsilon = 1.0               # nats; P(x|y)/P(x) <= e^epsilon
"""
    on_interval = "mixture"
    needs_prior = True


class AsymmetricLift(Notion):
    """Asymmetric LIP: e**-lower <= P(x|y) / P(x) <= e**upper for every x and y.

    Parameters
    ----------
    lower, upper
        Budgets in nats, in [0, inf]; ``inf`` removes a bound.

    Notes
    -----
    Source: Zarrabian, Ding and Sadeghi 2023 (asymmetric LIP). There is no epsilon, so the leakage
    is the largest excess of a log lift over its budget, at most 0 when the channel is private.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> uniform = Prior([0.5, 0.5])
    >>> [AsymmetricLift(0.7, lower).holds(warner, uniform) for lower in (0.41, 0.4)]
    [True, False]
    """

    name = "lift"
    on_interval = "mixture"
    needs_prior = True
    title = "lift bounds, LIP with a budget for each side"
    example = """
lower = 1.0                 # nats; P(x|y)/P(x) >= e^-lower; may be inf
upper = 0.5                 # nats; P(x|y)/P(x) <= e^upper; may be inf
"""

    def __init__(self, lower: Any, upper: Any) -> None:
        self.lower = _side(lower, "lower")
        self.upper = _side(upper, "upper")
        self.bounds_lift_from_below = self.needs_prior and self.lower is not None

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        return {
            "notion": self.name,
            "lower": "inf" if self.lower is None else fraction_text(self.lower),
            "upper": "inf" if self.upper is None else fraction_text(self.upper),
        }


def _side(value: Any, key: str) -> Fraction | None:
    return None if is_infinite(value) else budget(value, key)
