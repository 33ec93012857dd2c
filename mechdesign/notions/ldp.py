"""Local differential privacy."""

from __future__ import annotations

from mechdesign.notions.base import BudgetNotion


class LDP(BudgetNotion):
    """Local differential privacy: Q(y|x) <= e**epsilon Q(y|x') for every y and every x, x'.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: Kasiviswanathan et al. 2011; the E matrix of Acharya et al. 2020 with every entry
    epsilon. Also the worst case of LIP over all priors.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(LDP(1).leakage(warner), 6)  # ln 3
    1.098612
    >>> LDP(1.1).holds(warner), LDP(1.09).holds(warner)
    (True, False)
    """

    name = "ldp"
    title = "local differential privacy"
    on_interval = "mixture"
    example = """
epsilon = 1.0               # nats; Q(y|x) <= e^epsilon Q(y|x') for every y, x, x'
"""
