"""Mutual information as a privacy notion: a bound on the average leakage in nats."""

from __future__ import annotations

from mechdesign.notions.base import BudgetNotion
from mechdesign.notions.non_conic.base import WholeChannelNotion


class MutualInformationLeakage(WholeChannelNotion, BudgetNotion):
    """I(X; Y) = Sum_x P_x Sum_y Q[x,y] ln(Q[x,y] / lambda_y) <= epsilon, lambda = P Q.

    The bound is on average: a rare input, or a rare output, may reveal everything. An input of
    prior 0 is not protected.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: du Pin Calmon and Fawaz 2012; the best channel for an expected loss is the
    rate-distortion trade-off of Shannon 1959.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> erased = Channel.from_matrix([["1/2", 0, "1/2"], [0, "1/2", "1/2"]])
    >>> round(MutualInformationLeakage(1).leakage(erased, Prior([0.5, 0.5])), 6)  # half of ln 2
    0.346574
    """

    name = "mutual-information"
    title = "mutual information of input and output"
    on_interval = "mixture"
    example = """
epsilon = 0.25              # nats of information about X in Y, on average
"""
    needs_prior = True
    looseness = "epsilon"
    summary = "mutual information of X and Y"
