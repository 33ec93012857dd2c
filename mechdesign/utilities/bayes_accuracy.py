"""Accuracy of the best guess of the input."""

from __future__ import annotations

from mechdesign.utilities.hamming import HammingLoss
from mechdesign.utilities.kernel_gain import KernelGain


class BayesAccuracy(KernelGain):
    """Pr(X = the likeliest input given Y) = Sum_y max_x P_x Q[x,y], maximized.

    It is 1 minus the least Hamming loss: releasing the guess itself is as good, so the optimum is a
    linear program.

    Notes
    -----
    Source: its inverse is the Bayes vulnerability of Alvim et al. 2012 (min-entropy leakage).

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> BayesAccuracy().value(warner, Prior([0.9, 0.1]))
    Fraction(9, 10)
    """

    name = "bayes-accuracy"
    title = "probability that the best guess of X from Y is right"
    exact = True
    sense = "maximize"
    treats_inputs_alike = True

    @property
    def linear_form(self) -> HammingLoss:
        """The Hamming loss of the guess."""
        return HammingLoss()
