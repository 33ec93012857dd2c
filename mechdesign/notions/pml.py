"""Pointwise maximal leakage (PML): a bound on the lift of every input, from above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from mechdesign.domain import Domain
from mechdesign.notions.base import BudgetNotion, prior_for
from mechdesign.notions.rows.cone import Bound
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior import Prior
from mechdesign.prior_sets import PriorList

__all__ = ["PML"]


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
    >>> identity = Channel.from_matrix([[1, 0], [0, 1]])
    >>> round(PML(1).leakage(identity, Prior([0.5, 0.5])), 6)  # ln 2
    0.693147
    """

    name = "pml"
    title = "pointwise maximal leakage"
    on_interval = "mixture"
    example = """
epsilon = 1.0               # nats; P(x|y)/P(x) <= e^epsilon
"""
    needs_prior = True

    def of_each_law(self, blocks: Sequence[Sequence[Any]], *, every_law: bool) -> Self:
        """Return the same: lifts under a law are those of the values together with the law."""
        return self

    def family(self, domain: Domain, prior: Prior | None) -> LiftRows:
        """Compile to a bound on the lift from above."""
        priors = PriorList([prior_for(self.name, domain, prior)])
        return LiftRows(self.name, priors, Bound(), None, self.epsilon)
