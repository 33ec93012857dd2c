"""The constraint I(X; Y) <= epsilon on the mutual information of input and output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.exact import log_upper
from mechdesign.notions.channel_constraint import ChannelConstraint, Columns, Stated
from mechdesign.notions.rows.row import Multipliers
from mechdesign.prior import Prior

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["InformationConstraint"]

ZERO = Fraction(0)


class InformationConstraint(ChannelConstraint):
    """Sum_y Sum_x P_x Q[x,y] ln(Q[x,y] / lambda_y) <= epsilon: at most so many nats of X in Y.

    Parameters
    ----------
    name
        The notion.
    prior
        The distribution P of the input; inputs of probability 0 do not matter.
    epsilon
        The bound.
    """

    def __init__(self, name: str, prior: Prior, epsilon: Fraction) -> None:
        self.name, self.prior, self.epsilon = name, prior, epsilon
        self.size = len(prior)

    def at(self, epsilon: Fraction) -> InformationConstraint:
        """Return the same constraint at another epsilon."""
        return InformationConstraint(self.name, self.prior, epsilon)

    def violation(self, columns: Columns) -> str | None:
        """Compare the information, every logarithm rounded up, with the bound."""
        if self.min_epsilon(columns) > self.epsilon:
            return f"{self.name} of X and Y"
        return None

    def binds(self) -> bool:
        """Compare the entropy of the input, all that there is to know, with the bound."""
        entropy = sum((p * log_upper(1 / p) for p in self.prior if p), ZERO)
        return entropy > self.epsilon

    def min_epsilon(self, columns: Columns) -> Fraction:
        """Return the information, rounded up."""
        whole, total = sum(column[0] for column in columns), ZERO
        for column in columns:
            terms = [p * q for p, q in zip(self.prior, column, strict=True)]
            mean = sum(terms, ZERO)
            total += sum(
                (term * log_upper(q / mean) for term, q in zip(terms, column, strict=True) if term),
                ZERO,
            )
        return max(ZERO, total / whole)

    def bounds(
        self, found: Multipliers, channel: Channel, _labels: Sequence[Label]
    ) -> Iterator[tuple[str, float, float]]:
        """Yield the one bound: its multiplier is a loss per nat."""
        information = float(self.min_epsilon(channel.columns()))
        slack = 1 - information / float(self.epsilon)
        yield "mutual information of X and Y", float(found.weight.sum()), slack

    def state(self, Q: cp.Variable | cp.Expression) -> Stated:
        """State it by relative entropies of P_x Q[x,y] to P_x lambda_y."""
        import cvxpy as cp

        likely = np.flatnonzero(self.prior.array > 0)
        P = self.prior.array[likely]
        mean = cp.reshape(P @ Q[likely, :], (1, Q.shape[1]), order="C")
        given, free = cp.multiply(P[:, None], Q[likely, :]), P[:, None] @ mean
        information = cp.sum(cp.rel_entr(given, free)) <= float(self.epsilon)
        return Stated((information,), information=information)
