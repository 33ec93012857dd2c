"""Local information privacy (LIP): bounds on the lift of every input, from above and below."""

from __future__ import annotations

from mechdesign.notions.base import BudgetNotion


class LIP(BudgetNotion):
    """Local information privacy: e**-epsilon <= P(x|y) / P(x) <= e**epsilon for every x and y.

    With the output probability lambda = P . q of a column q: q_x <= e**epsilon lambda and
    lambda <= e**epsilon q_x. An input of prior 0 is protected like any other.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: Jiang et al. 2018 (CNS), Definition 3.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(LIP(1).leakage(warner, Prior([0.5, 0.5])), 6)  # ln 2, from below
    0.693147
    """

    name = "lip"
    title = "local information privacy"
    example = """
epsilon = 1.0               # nats; P(x|y)/P(x) stays between e^-epsilon and e^epsilon
"""
    on_interval = "mixture"
    needs_prior = True
    bounds_lift_from_below = True
