"""Local information privacy (LIP): bounds on the lift of every input, from above and below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from mechdesign.domain import Domain
from mechdesign.notions.base import BudgetNotion, prior_for
from mechdesign.notions.rows.cone import Bound
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorList

__all__ = ["LIP"]


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
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(LIP(1).leakage(warner, Prior([0.5, 0.5])), 6)  # ln 2, from below
    0.693147
    """

    name = "lip"
    title = "local information privacy"
    on_interval = "mixture"
    example = """
epsilon = 1.0               # nats; P(x|y)/P(x) stays between e^-epsilon and e^epsilon
"""
    needs_prior = True

    @property
    def bounds_lift_from_below(self) -> bool:
        """True: every lift is at least e**-epsilon."""
        return True

    def of_each_law(self, blocks: Sequence[Sequence[Any]], *, every_law: bool) -> Self:
        """Return the same: lifts under a law are those of the values together with the law."""
        return self

    def family(self, domain: Domain, prior: Prior | None) -> LiftRows:
        """Compile to a bound on the lift from either side."""
        priors = PriorList([prior_for(self.name, domain, prior)])
        return LiftRows(self.name, priors, Bound(), Bound(), self.epsilon)
