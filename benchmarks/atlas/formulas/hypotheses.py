"""Testing a parameter, or one of two laws, from reports: the sign, the binary mechanism, GRR."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
from scipy.stats import norm

from benchmarks.atlas.base import (
    Axis,
    FloatArray,
    Formula,
    Point,
    Region,
    as_channel,
    sizes,
)
from mechdesign.channel import Channel
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import Divergence, FisherInformation, KullbackLeibler, TotalVariation

EVEN = Axis("k", "number of cells k", sizes(range(2, 25, 2)), sizes([4, 12]))
FEW = Axis("k", "number of inputs k", sizes(range(2, 11)), sizes([3, 6]))


def _warner(above: FloatArray, epsilon: Fraction) -> FloatArray:
    """Return the channel that reports whether an input is above, with odds e**epsilon."""
    truth = 1 / (1 + math.exp(-epsilon))
    yes = np.where(above, truth, 1 - truth)
    return np.column_stack([yes, 1 - yes])


class SignMechanism(Formula):
    """Report the sign of a Gaussian number, less its presumed mean, by randomized response.

    The number is rounded to k cells of equal probability, which takes nothing from the sign: the
    Fisher information about the mean is tanh(eps / 2)**2 2 / pi for every even k. That no private
    channel on the line has more is proved in the paper up to eps = 1.04. On cells it stays the best
    up to about eps = 2.007 (k = 160; 2.009 for k = 40); beyond, reports that distinguish
    large numbers from those around the mean are better.
    """

    name = "sign-mechanism"
    title = "Sign and randomized response, LDP\nFisher information, Gaussian mean in k cells"
    source = "Kalinin and Steinberger 2024"
    claim = "most Fisher information about a Gaussian mean up to ε = 1.04; measured up to ε = 5"
    axis: ClassVar[Axis] = EVEN

    def problem(self, at: Point) -> Problem:
        """Return the problem: cells of equal mass, whose scores are mean values of the number."""
        k = int(at.parameter)
        height = np.concatenate([[0.0], norm.pdf(norm.ppf(np.arange(1, k // 2 + 1) / k))])
        low = (-k * np.diff(height)).tolist()
        scores = [*low, *(-s for s in reversed(low))]
        return Problem(range(k), LDP(at.epsilon), FisherInformation(scores))

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        k = int(at.parameter)
        return as_channel(self.problem(at), _warner(np.arange(k) >= k / 2, at.epsilon))

    def proved(self, at: Point) -> Region | None:
        """Return optimal for two cells, where it is Warner's channel."""
        return Region.OPTIMAL if at.parameter == 2 else None


class _TwoLaws(Formula):
    """Two laws of k inputs, one rising and one falling in the same steps."""

    source: ClassVar[str] = "Kairouz, Oh and Viswanath 2014"
    axis: ClassVar[Axis] = FEW
    divergence: ClassVar[type[Divergence]]

    def laws(self, at: Point) -> tuple[list[Fraction], list[Fraction]]:
        """Return both laws."""
        k = int(at.parameter)
        rising = [Fraction(2 * (x + 1), k * (k + 1)) for x in range(k)]
        return rising, rising[::-1]

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        k = int(at.parameter)
        return Problem(
            range(k), LDP(at.epsilon), self.divergence(*self.laws(at)), prior=self.prior(at)
        )

    def prior(self, at: Point) -> Prior:
        """Return the uniform prior, on which nothing depends."""
        return Prior.uniform(int(at.parameter))


class _Binary(_TwoLaws):
    """Report which law makes the input likelier, with odds e**eps.

    An input that both make equally likely, as for odd k, counts for the second: for the first it
    would cost some of the divergence at every budget.
    """

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        first, second = self.laws(at)
        likelier = np.array([a > b for a, b in zip(first, second, strict=True)])
        return as_channel(self.problem(at), _warner(likelier, at.epsilon))


class BinaryVariation(_Binary):
    """The total variation between the laws of the report.

    For every private column q the two laws have probabilities that differ by at most the part of
    the total variation that the extreme ray (e**eps where the first law is larger, else 1) has.
    """

    name = "binary-variation"
    title = "Binary mechanism, LDP\ntotal variation of two laws"
    claim = "largest total variation for all laws and budgets"
    divergence = TotalVariation

    def proved(self, at: Point) -> Region | None:
        """Return optimal."""
        return Region.OPTIMAL


class BinaryDivergence(_Binary):
    """The Kullback-Leibler divergence between the laws of the report."""

    name = "binary-divergence"
    title = "Binary mechanism, LDP\nKullback-Leibler divergence of two laws"
    claim = "largest divergence where the budget is small; measured up to ε = 5"
    divergence = KullbackLeibler

    def proved(self, at: Point) -> Region | None:
        """Return optimal for two inputs, where it is Warner's channel."""
        return Region.OPTIMAL if at.parameter == 2 else None


class ResponseDivergence(_TwoLaws):
    """The same by randomized response."""

    name = "grr-divergence"
    title = "GRR, LDP\nKullback-Leibler divergence of two laws"
    claim = "largest divergence where the budget is large; measured up to ε = 5"
    divergence = KullbackLeibler

    def channel(self, at: Point) -> Channel:
        """Return the matrix of the mechanism."""
        return GeneralizedRandomizedResponse(int(at.parameter), at.epsilon).dense()

    def proved(self, at: Point) -> Region | None:
        """Return optimal for two inputs, where it is Warner's channel."""
        return Region.OPTIMAL if at.parameter == 2 else None
