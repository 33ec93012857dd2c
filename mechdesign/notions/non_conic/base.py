"""Non-conic notions: constraints on the whole channel, which no cone of columns states."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.domain import Domain
from mechdesign.exact import Exact, as_fraction, fraction_text
from mechdesign.notions.base import BudgetNotion, Notion
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.rows.cone import Family
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.prior import Prior

__all__ = [
    "ApproximateNotion",
    "NonConicNotion",
    "WholeChannelNotion",
    "equal_rows",
    "no_rows",
    "slack",
]


class WholeChannelNotion(Notion):
    """A notion that is a constraint on the whole channel.

    A subclass states its
    :class:`~mechdesign.notions.channel_constraint.ChannelConstraint`. At the ends of its
    parameters, as epsilon or delta 0, a cone of columns may say the same: then :attr:`is_conic`
    is true and :meth:`family` returns its rows; else there are none.
    """

    allows_sensitive_attribute = False

    @abstractmethod
    def channel_constraint(self, domain: Domain, prior: Prior | None) -> ChannelConstraint:
        """Compile to a constraint on the whole channel.

        Raises
        ------
        InputError
            If the parameters do not fit the domain.
        """

    def family(self, domain: Domain, prior: Prior | None = None) -> Family:
        """Return the rows that every column obeys: none, unless :attr:`is_conic`."""
        return self.rows(domain, prior) if self.is_conic else no_rows(self.name, domain)

    def rows(self, domain: Domain, prior: Prior | None) -> Family:
        """Return the rows that say the same as the constraint, where :attr:`is_conic`."""
        return equal_rows(self.name, domain)


class NonConicNotion(WholeChannelNotion, BudgetNotion):
    """A constraint on the whole channel with one budget, epsilon."""


class ApproximateNotion(NonConicNotion):
    """What a notion on columns asks, but for events of a small probability ``delta``."""

    on_interval = "mixture"

    def __init__(self, epsilon: Exact, delta: Exact) -> None:
        super().__init__(epsilon)
        self.delta = slack(delta)

    @property
    def is_conic(self) -> bool:
        """Whether it is the notion on columns."""
        return self.delta == 0

    def to_table(self) -> dict[str, Any]:
        """Return the ``[privacy]`` table, numbers as exact text."""
        return {**super().to_table(), "delta": fraction_text(self.delta)}


def no_rows(name: str, domain: Domain) -> PairRows:
    """Return a family that asks nothing of any column."""
    return PairRows.on(np.zeros((len(domain), len(domain))), name, Fraction(0))


def equal_rows(name: str, domain: Domain, prior: Prior | None = None) -> PairRows:
    """Return q_x <= q_x' for all inputs, or all of positive probability: equal rows of Q."""
    occurs = np.ones(len(domain), dtype=bool) if prior is None else prior.array > 0
    return PairRows.on(np.outer(occurs, occurs), name, Fraction(0))


def slack(value: Exact, key: str = "delta") -> Fraction:
    """Return a delta as an exact number from 0 to 1.

    Raises
    ------
    InputError
        If it is another.

    Examples
    --------
    >>> slack("1e-6")
    Fraction(1, 1000000)
    """
    return as_fraction(value, key, expected="a number from 0 to 1", least=0, most=1)
