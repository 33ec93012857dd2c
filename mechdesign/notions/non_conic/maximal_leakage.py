"""Maximal leakage: the largest gain in the probability of guessing any function of X."""

from __future__ import annotations

from mechdesign.notions.base import BudgetNotion
from mechdesign.notions.non_conic.base import WholeChannelNotion


class MaximalLeakage(WholeChannelNotion, BudgetNotion):
    """Maximal leakage: Sum_y max_x Q[x,y] <= e**epsilon.

    For every function of X and every prior, observing Y multiplies the probability of a correct
    guess by at most e**epsilon.

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
    looseness = "epsilon"
    summary = "sum of the largest probability of each output"
