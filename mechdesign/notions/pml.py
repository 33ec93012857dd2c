"""Pointwise maximal leakage (PML): a bound on the lift of every input, from above."""

from __future__ import annotations

from mechdesign.notions.base import BudgetNotion


class PML(BudgetNotion):
    """Pointwise maximal leakage: P(x|y) / P(x) <= e**epsilon for every x and y.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: Saeidian, Cervia, Oechtering and Skoglund 2023. It bounds the lift from above only, so
    an output may rule an input out. An input of prior 0 is protected like any other.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> identity = Channel.from_matrix([[1, 0], [0, 1]])
    >>> round(PML(1).leakage(identity, Prior([0.5, 0.5])), 6)  # ln 2
    0.693147
    """

    name = "pml"
    title = "pointwise maximal leakage"
    example = """
epsilon = 1.0               # nats; P(x|y)/P(x) <= e^epsilon
"""
    on_interval = "mixture"
    needs_prior = True
