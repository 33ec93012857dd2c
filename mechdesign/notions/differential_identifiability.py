"""Differential identifiability: posteriors of any two inputs stay within a ratio."""

from __future__ import annotations

import math

from mechdesign.domain import Domain
from mechdesign.errors import InfeasibleError
from mechdesign.exact import exp_lower, fraction_text
from mechdesign.notions.base import BudgetNotion, prior_for
from mechdesign.prior import Prior


class DifferentialIdentifiability(BudgetNotion):
    """Differential identifiability: P(x|y) <= e**epsilon P(x'|y) for every y and every x, x'.

    In terms of the channel, P_x Q(y|x) <= e**epsilon P_x' Q(y|x'). Since rows sum to 1 it is
    feasible only for epsilon >= max ln(P_x / P_x'): no channel hides what the prior reveals.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: Lee and Clifton 2012; Jiang et al. 2021, Definition 3.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> coin = Channel.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    >>> round(DifferentialIdentifiability(2).leakage(coin, Prior([0.2, 0.8])), 6)  # ln 4
    1.386294
    """

    name = "differential-identifiability"
    title = "differential identifiability, posteriors within a ratio"
    example = """
epsilon = 1.5               # nats; at least max ln(P_x / P_x'), here ln 4 = 1.386
"""
    needs_prior = True

    def check(self, domain: Domain, prior: Prior | None) -> None:
        """Reject an epsilon below the largest ratio of the prior."""
        prior = prior_for(self.name, domain, prior)
        least, most = prior.minimum, max(prior)
        if least == 0 and len(domain) > 1:
            zero = domain.labels[prior.probabilities.index(least)]
            raise InfeasibleError(
                f"{self.name}: no channel is private, since input {zero!r} has prior 0 and its "
                "posterior stays 0 while that of others does not; leave it out of the domain"
            )
        if exp_lower(self.epsilon) * least < most:
            raise InfeasibleError(
                f"{self.name}: epsilon = {fraction_text(self.epsilon)} is below "
                f"max ln(P_x / P_x') = {math.log(most / least):.6g}, the ratio that the prior "
                "alone gives; no channel can hide it"
            )
