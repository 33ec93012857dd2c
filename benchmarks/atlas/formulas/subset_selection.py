"""Subset selection and unary encoding: the l2 risk of the estimated distribution under LDP."""

from __future__ import annotations

import math
from typing import ClassVar

from benchmarks.atlas.base import Axis, Boundary, Formula, Point, Region, one_rare, shares, sizes
from mechdesign.channel import Channel
from mechdesign.mechanisms import OptimizedUnaryEncoding, SubsetSelection
from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import L2Risk

TWELVE = 12


class _Risk(Formula):
    """The l2 risk at the prior under LDP, read from the reports by the best linear estimator."""

    axis: ClassVar[Axis]

    def prior(self, at: Point) -> Prior:
        """Return the uniform prior on k inputs."""
        return Prior.uniform(int(at.parameter))

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        prior = self.prior(at)
        return Problem(range(len(prior)), LDP(at.epsilon), L2Risk(), prior=prior)


class SubsetRisk(_Risk):
    """The best size at the uniform prior: no channel has less risk (Ye and Barg 2018)."""

    name = "subset-selection-l2-risk"
    title = "Subset selection of the best size, LDP\nℓ2 risk of the distribution"
    source = "Ye and Barg 2018; Wang et al. 2016"
    claim = "least l2 risk at the uniform distribution, not only in order"
    axis = Axis("k", "number of inputs k", sizes(range(2, 13)), sizes([2, 5]))

    def channel(self, at: Point) -> Channel:
        """Return the matrix, a column for each subset."""
        return SubsetSelection(int(at.parameter), at.epsilon).dense()

    def proved(self, at: Point) -> Region | None:
        """Return optimal."""
        return Region.OPTIMAL


class SubsetSkewed(_Risk):
    """The same channel where one of five inputs is rarer."""

    name = "subset-selection-skewed"
    title = "Subset selection of the best size, LDP\nℓ2 risk, five inputs, one of them rarer"
    source = "Ye and Barg 2018; Wang et al. 2016"
    claim = "least l2 risk at the uniform distribution; measured at others too"
    axis = Axis(
        "P_min",
        "prior of the rarest input",
        shares("0.005 0.01 0.02 0.03 0.04 0.06 0.08 0.1 0.12 0.14 0.16 0.18 0.2"),
        shares("0.01 0.1 0.2"),
    )

    def prior(self, at: Point) -> Prior:
        """Return one rare input among five."""
        return one_rare(5, at.parameter)

    def channel(self, at: Point) -> Channel:
        """Return the matrix."""
        return SubsetSelection(5, at.epsilon).dense()

    def proved(self, at: Point) -> Region | None:
        """Return optimal at the uniform prior."""
        return Region.OPTIMAL if at.parameter * 5 == 1 else None


def largest_size(epsilon: float) -> float:
    """Return the real j with j (j - 1) e**(2 epsilon) = (12 - j)(13 - j), between 1 and 12."""
    square, k = math.exp(2 * epsilon), TWELVE
    middle = square - 2 * k - 1
    return (middle + math.sqrt(middle**2 + 4 * (square - 1) * k * (k + 1))) / (2 * (square - 1))


class SubsetSize(_Risk):
    """Subsets of j of twelve inputs.

    The risk falls as f(j) = (j e**(2 eps) + k - j)/(j e**eps + k - j)**2 rises. As a function of a
    real j it has one peak, at k/(e**eps + 1), and f(j) >= f(j + 1) iff
    j (j + 1) e**(2 eps) >= (k - j)(k - j - 1). So j is the best size iff that holds for j, and for
    j - 1 fails or is an equality: between the line and the same line one lower.
    """

    name = "subset-selection-size"
    title = "Subset selection of j of 12 inputs, LDP\nℓ2 risk of the distribution"
    source = "Ye and Barg 2018; the ties are ours"
    claim = "least l2 risk with j next to k/(e^ε + 1)"
    axis = Axis("j", "size j of the subsets", sizes(range(1, 9)), sizes([1, 3]))
    boundaries = (
        Boundary("j(j-1)e^2ε = (12-j)(13-j)", largest_size, Region.FEASIBLE, Region.OPTIMAL),
        Boundary("", lambda e: largest_size(e) - 1, Region.OPTIMAL, Region.FEASIBLE),
    )

    def prior(self, at: Point) -> Prior:
        """Return the uniform prior on twelve inputs."""
        return Prior.uniform(TWELVE)

    def channel(self, at: Point) -> Channel:
        """Return the matrix, a column for each subset."""
        return SubsetSelection(TWELVE, at.epsilon, int(at.parameter)).dense()

    def proved(self, at: Point) -> Region | None:
        """Compare the size with both lines."""
        top = largest_size(float(at.epsilon))
        return Region.OPTIMAL if top - 1 <= at.parameter <= top else Region.FEASIBLE


class OUERisk(_Risk):
    """Optimized unary encoding with the textbook's coins, all 2**k rows of bits written out.

    Its reports are read by the best linear estimator for rows of bits, which is at least as good as
    the textbook's. The rarest rows are rarer than the 2**-62 that a matrix is rounded to, so what
    it leaks is measured on the distribution of the coins.
    """

    name = "oue-l2-risk"
    title = "Optimized unary encoding, LDP\nℓ2 risk of the distribution"
    source = "Wang, Blocki, Li and Jha 2017, who claim it for unary encodings only"
    claim = "the highest utility of all LDP protocols (arXiv, Section V); measured by the l2 risk"
    axis = Axis("k", "number of inputs k", sizes(range(2, 10)), sizes([2, 5]))

    def mechanism(self, at: Point) -> OptimizedUnaryEncoding:
        """Return the mechanism."""
        return OptimizedUnaryEncoding(int(at.parameter), at.epsilon, digits=62)

    def channel(self, at: Point) -> Channel:
        """Return the matrix, a column for each row of bits."""
        return self.mechanism(at).dense()

    def leakage(self, at: Point, problem: Problem, channel: Channel) -> float:
        """Return what the coins leak, exactly."""
        return self.mechanism(at).leakage
