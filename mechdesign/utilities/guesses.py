"""The expected gain of the best guess from a report: of the input, or by any matrix of gains."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from mechdesign.errors import InputError
from mechdesign.tables import ExactTable
from mechdesign.utilities.base import Distortion
from mechdesign.utilities.distances import HammingLoss
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


class GVulnerability(KernelGain):
    """Sum_y max_w Sum_x g(w, x) P_x Q[x,y]: the expected gain of the best guess, maximized.

    An adversary or curator who sees Y names a guess w, and gains g(w, x) if the input is x. With
    the identity for g it is :class:`~mechdesign.BayesAccuracy`; other matrices express guesses that
    are nearly right, several tries, or the test between two hypotheses at any odds.

    Parameters
    ----------
    gain_matrix
        ``(n_guesses, n_inputs)`` numbers g(w, x) >= 0, not all 0. A frame or a dict of dicts counts
        by label, rows for guesses and columns for inputs; lists count by position.

    Raises
    ------
    InputError
        If the matrix is invalid.

    Notes
    -----
    Releasing the guess itself is as good as the report, so the optimum is a linear program. Source:
    Alvim et al. 2012 (posterior g-vulnerability).

    Examples
    --------
    Two tries for three inputs:

    >>> from mechdesign.prior import Prior
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["2/3", "1/3"], ["1/3", "2/3"], ["1/3", "2/3"]])
    >>> tries = GVulnerability([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    >>> tries.value(warner, Prior([0.6, 0.2, 0.2]))
    Fraction(4, 5)
    """

    name = "g-vulnerability"
    title = "expected gain of the best guess from Y, by a matrix of your own"
    exact = True
    sense = "maximize"

    def __init__(self, gain_matrix: Any) -> None:
        super().__init__(gain_matrix=ExactTable.of(gain_matrix, "gain_matrix"))
        if not self.table.numerators.any():
            raise InputError("gain_matrix", "a nonzero gain", "only zeros", fault="all gains are 0")

    @property
    def table(self) -> ExactTable:
        """The gains, a row for each guess."""
        return cast(ExactTable, self._arguments["gain_matrix"])

    @property
    def ceiling(self) -> Fraction:
        """The largest entry of the matrix; the gain is this minus the loss of the guess."""
        return Fraction(int(self.table.numerators.max()), self.table.denominator)

    @property
    def linear_form(self) -> Distortion:
        """The loss of a guess, the largest gain minus its own; the outputs are the guesses."""
        lost = int(self.table.numerators.max()) - self.table.numerators.T
        return Distortion(ExactTable(lost, self.table.denominator))

    def __repr__(self) -> str:
        guesses, inputs = self.table.shape
        return f"{type(self).__name__}({guesses} guesses, {inputs} inputs)"
