"""Lift bounds: local information privacy with a budget for each side."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self

from mechdesign.domain import Domain
from mechdesign.exact import fraction_text
from mechdesign.notions.base import Notion, budget, is_infinite, prior_for
from mechdesign.notions.rows.cone import Bound
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorList, PriorSet

__all__ = ["AsymmetricLift"]


class AsymmetricLift(Notion):
    """Asymmetric LIP: e**-lower <= P(x|y) / P(x) <= e**upper for every x and y.

    Parameters
    ----------
    lower, upper
        Budgets in nats, in [0, inf]; ``inf`` leaves a side free.

    Notes
    -----
    Source: Zarrabian, Ding and Sadeghi 2023 (asymmetric LIP). There is no epsilon, so the leakage
    is the largest excess of a log lift over its budget, at most 0 when the channel is private.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> uniform = Prior([0.5, 0.5])
    >>> [AsymmetricLift(0.7, lower).holds(warner, uniform) for lower in (0.41, 0.4)]
    [True, False]
    """

    name = "lift"
    title = "lift bounds, LIP with a budget for each side"
    on_interval = "mixture"
    example = """
lower = 1.0                 # nats; P(x|y)/P(x) >= e^-lower; may be inf
upper = 0.5                 # nats; P(x|y)/P(x) <= e^upper; may be inf
"""
    needs_prior = True

    def __init__(self, lower: Any, upper: Any) -> None:
        self.lower = _side(lower, "lower")
        self.upper = _side(upper, "upper")

    @property
    def bounds_lift_from_below(self) -> bool:
        """Whether ``lower`` is finite."""
        return self.lower is not None

    def of_each_law(self, blocks: Sequence[Sequence[Any]], *, every_law: bool) -> Self:
        """Return the same: lifts under a law are those of the values together with the law."""
        return self

    def family(self, domain: Domain, prior: Prior | None) -> LiftRows:
        """Compile to a bound on each side that has a finite budget."""
        return self.rows_for(PriorList([prior_for(self.name, domain, prior)]))

    def rows_for(self, priors: PriorSet) -> LiftRows:
        """Return the bounds for the priors of a set."""
        upper = None if self.upper is None else Bound(base=self.upper)
        lower = None if self.lower is None else Bound(base=self.lower)
        return LiftRows(self.name, priors, upper, lower, Fraction(0))

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table."""
        return {
            "notion": self.name,
            "lower": "inf" if self.lower is None else fraction_text(self.lower),
            "upper": "inf" if self.upper is None else fraction_text(self.upper),
        }


def _side(value: Any, key: str) -> Fraction | None:
    return None if is_infinite(value) else budget(value, key)
