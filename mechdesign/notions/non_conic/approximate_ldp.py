"""Approximate local differential privacy: LDP but for events of small probability."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechdesign.domain import Domain
from mechdesign.errors import UnsupportedError
from mechdesign.notions.non_conic.base import ApproximateNotion
from mechdesign.notions.non_conic.excess_constraint import Excess, ExcessConstraint, ExcessRow
from mechdesign.notions.rows.pair_rows import PairRows
from mechdesign.prior import Prior

__all__ = ["ApproximateLDP"]

PAIR = "{x} against {other}"

MOST_INPUTS = 512


class ApproximateLDP(ApproximateNotion):
    """Approximate LDP: Pr(Y in S|x) <= e**epsilon Pr(Y in S|x') + delta for all x, x' and S.

    The worst set S has the outputs with Q[x,y] > e**epsilon Q[x',y], so that it says

        Sum_y (Q[x,y] - e**epsilon Q[x',y])_+ <= delta    for every x != x'.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.
    delta
        From 0, which is LDP, to 1, which asks nothing.

    Notes
    -----
    Source: Dwork et al. 2006 (approximate differential privacy); the sum is the hockey-stick
    divergence of Barthe and Olmedo 2013.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> leaky = Channel.from_matrix([["7/8", 0, "1/8"], [0, "7/8", "1/8"]])
    >>> ApproximateLDP(1, delta=0.875).holds(leaky), ApproximateLDP(1, delta=0.874).holds(leaky)
    (True, False)
    """

    name = "approximate-ldp"
    title = "approximate local differential privacy"
    example = """
epsilon = 1.0               # nats; for all sets of outputs: odds up to e^epsilon,
delta = 0.05                # but for so much probability
"""

    def rows(self, domain: Domain, prior: Prior | None) -> PairRows:
        """Return the rows of LDP."""
        return PairRows.on(np.ones((len(domain), len(domain))), self.name, self.epsilon)

    def channel_constraint(self, domain: Domain, prior: Prior | None = None) -> ExcessConstraint:
        """Compile to one sum for each ordered pair of inputs."""
        k = len(domain)
        if k > MOST_INPUTS:
            most = f"at most {MOST_INPUTS} inputs for {self.name}, which compares all pairs"
            raise UnsupportedError("notion", most, k)
        excesses = [
            Excess("excess", (ExcessRow(x, z, x, z),), self.delta, Fraction(0), PAIR)
            for x in range(k)
            for z in range(k)
            if x != z
        ]
        return ExcessConstraint(self.name, k, excesses, self.epsilon)
