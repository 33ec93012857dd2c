"""Maximal leakage: how much better any guess about X becomes, on average over the outputs."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.domain import Domain
from mechdesign.notions.non_conic.base import NonConicNotion
from mechdesign.notions.non_conic.excess_constraint import Excess, ExcessConstraint, ExcessRow
from mechdesign.prior import Prior

__all__ = ["MaximalLeakage"]


class MaximalLeakage(NonConicNotion):
    """Maximal leakage: Sum_y max_x Q[x,y] <= e**epsilon.

    Whatever function of X someone wants to guess, and whatever the prior, seeing Y multiplies the
    probability of guessing right by e**epsilon at most.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: Issa, Wagner and Kamath 2020, Theorem 1; it is the min-entropy capacity of Alvim et
    al. 2012. An input of prior 0 counts like any other.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(MaximalLeakage(1).leakage(warner), 6)  # ln(3/4 + 3/4)
    0.405465
    """

    name = "maximal-leakage"
    title = "maximal leakage"
    on_interval = "mixture"
    example = """
epsilon = 0.5               # nats; the sum over outputs of the largest Q(y|x) is at most e^epsilon
"""

    @property
    def is_conic(self) -> bool:
        """Whether it makes all rows equal."""
        return self.epsilon == 0

    def channel_constraint(self, domain: Domain, prior: Prior | None = None) -> ExcessConstraint:
        """Compile to one sum of the largest entries."""
        k = len(domain)
        zero = k + 1
        rows = tuple(ExcessRow(x, 0, x, zero) for x in range(k))
        title = "sum of the largest probability of each output"
        excess = Excess("largest", rows, Fraction(0), Fraction(1), title)
        return ExcessConstraint(self.name, k, [excess], self.epsilon)
