"""Mutual information."""

from __future__ import annotations

from mechdesign.utilities.kernel_gain import KernelGain


class MutualInformation(KernelGain):
    """I(X; Y) = Sum_xy P_x Q[x,y] ln(Q[x,y] / lambda_y) in nats, maximized.

    Notes
    -----
    Source: Kairouz, Oh and Viswanath 2016, for LDP; convex in Q, so the maximum is at extreme rays.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(float(MutualInformation().value(warner, Prior([0.5, 0.5]))), 6)
    0.130812
    """

    name = "mutual-information"
    title = "information that Y carries about X, in nats"
    exact = True
    sense = "maximize"
    treats_inputs_alike = True
