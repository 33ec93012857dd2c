"""Approximate local differential privacy: LDP except for events of small probability."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.domain import Domain, Label
from mechdesign.errors import UnsupportedError, shown
from mechdesign.notions.non_conic.base import ApproximateNotion

MOST_INPUTS = 512


class ApproximateLDP(ApproximateNotion):
    """Approximate LDP: Pr(Y in S|x) <= e**epsilon Pr(Y in S|x') + delta for all x, x' and S.

    The worst set S has the outputs with Q[x,y] > e**epsilon Q[x',y], so that the condition is

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

    def aligned(self, domain: Domain) -> ApproximateLDP:
        """Return the notion, after a check of the number of pairs of inputs."""
        if self.delta and len(domain) > MOST_INPUTS:
            most = f"at most {MOST_INPUTS} inputs for {self.name}, which compares all pairs"
            raise UnsupportedError("notion", most, len(domain))
        return self

    def limit_name(self, number: int, labels: Sequence[Label]) -> str:
        """Return the ordered pair of inputs of a limit."""
        x, other = divmod(number, len(labels) - 1)
        return f"{shown(labels[x])} against {shown(labels[other + (other >= x)])}"
