"""k-ary randomized response (GRR) against the optimum under LDP, by four losses."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

from benchmarks.atlas.base import Axis, Boundary, Formula, Point, Region, one_rare, shares, sizes
from mechdesign.channel import Channel
from mechdesign.mechanisms import GeneralizedRandomizedResponse
from mechdesign.notions import LDP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import HammingLoss, L2Risk, PosteriorMeanSquaredError, Utility

INPUTS = Axis("k", "number of inputs k", sizes([*range(2, 13), 14, 17, 20]), sizes([2, 5]))


class _GRR(Formula):
    """Report the truth with odds e**eps against any other one input."""

    source: ClassVar[str] = "Kairouz, Bonawitz and Ramage 2016; as optimal LDP in Jiang et al. 2018"
    axis: ClassVar[Axis] = INPUTS

    def prior(self, at: Point) -> Prior:
        """Return the uniform prior on k inputs."""
        return Prior.uniform(int(at.parameter))

    @abstractmethod
    def utility(self, size: int) -> Utility:
        """Return the loss on so many inputs."""

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        prior = self.prior(at)
        size = len(prior)
        return Problem(range(size), LDP(at.epsilon), self.utility(size), prior=prior)

    def channel(self, at: Point) -> Channel:
        """Return the matrix of the mechanism."""
        return GeneralizedRandomizedResponse(len(self.prior(at)), at.epsilon).dense()


class GRRHamming(_GRR):
    """The probability of a wrong report, where one of four inputs is rarer.

    Optimal iff P_min >= 1/(e**eps + 3), in general 1/(e**eps + k - 1). With E = e**eps and
    Pi = E/(E + k - 1), the weights pi_y = (E p_y - Pi)/(E - 1) are nonnegative exactly then, they
    sum to Pi, and p_y q_y <= Sum_x pi_x q_x for every column q with q_y <= E q_x: so no private
    channel is right more often than Pi, which is what GRR reaches. If P_min is less, never
    reporting the rarest input is better: (1 - P_min) E/(E + k - 2) > Pi.
    """

    name = "grr-hamming"
    title = "GRR, LDP\nHamming loss, four inputs"
    claim = "least probability of a wrong report; stated for uniform priors, measured at others"
    axis = Axis(
        "P_min",
        "prior of the rarest input",
        shares("0.005 0.01 0.02 0.03 0.04 0.06 0.08 0.1 0.125 0.15 0.175 0.2 0.225 0.25"),
        shares("0.01 0.2"),
    )
    boundaries = (
        Boundary(
            "P_min = 1/(e^ε + 3)", lambda e: 1 / (math.exp(e) + 3), Region.OPTIMAL, Region.FEASIBLE
        ),
    )

    def prior(self, at: Point) -> Prior:
        """Return one rare input among four."""
        return one_rare(4, at.parameter)

    def utility(self, size: int) -> Utility:
        """Return the Hamming loss."""
        return HammingLoss()

    def proved(self, at: Point) -> Region | None:
        """Compare P_min with 1/(e**eps + 3)."""
        inside = at.parameter == max(self.axis.values) or (
            float(at.parameter) >= 1 / (math.exp(at.epsilon) + 3)
        )
        return Region.OPTIMAL if inside else Region.FEASIBLE


class GRRSurvey(_GRR):
    """The squared error of the best estimate of 1{x = 0}, all inputs alike."""

    name = "grr-survey"
    title = "GRR, LDP\nsurvey of one of k inputs: squared error"
    claim = "taken for the optimal LDP channel in the comparison with LIP (arXiv, Section V)"

    def utility(self, size: int) -> Utility:
        """Return the error of the posterior mean of the indicator."""
        return PosteriorMeanSquaredError(values=[1] + [0] * (size - 1))

    def proved(self, at: Point) -> Region | None:
        """Return optimal for two inputs: Warner's channel is universal."""
        return Region.OPTIMAL if at.parameter == 2 else None


class GRRSum(_GRR):
    """The squared error of the best estimate of the number 0, 1, ..., k - 1."""

    name = "grr-sum"
    title = "GRR, LDP\nsum: squared error, uniform prior"
    claim = "taken for the optimal LDP channel in the comparison with LIP (arXiv, Section V)"

    def utility(self, size: int) -> Utility:
        """Return the error of the posterior mean of the number."""
        return PosteriorMeanSquaredError()

    def proved(self, at: Point) -> Region | None:
        """Return optimal for two inputs: Warner's channel is universal."""
        return Region.OPTIMAL if at.parameter == 2 else None


def most_inputs(epsilon: float) -> float:
    """Return (3 + sqrt(8 e**(2 epsilon) + 1))/2, beyond which larger subsets have less variance."""
    return (3 + math.sqrt(8 * math.exp(2 * epsilon) + 1)) / 2


class GRRRisk(_GRR):
    """The l2 risk of the estimated distribution at the uniform one.

    GRR is subset selection of one input, which is best iff 2 e**(2 eps) >= (k - 1)(k - 2), that is
    k <= (3 + sqrt(8 e**(2 eps) + 1))/2; see
    :class:`~benchmarks.atlas.formulas.subset_selection.SubsetSize`.
    """

    name = "grr-l2-risk"
    title = "GRR, LDP\nℓ2 risk of the distribution"
    source = "Kairouz, Bonawitz and Ramage 2016"
    claim = "order-optimal where e^ε is large beside k; measured by the l2 risk"
    boundaries = (Boundary("2e^2ε = (k-1)(k-2)", most_inputs, Region.FEASIBLE, Region.OPTIMAL),)

    def utility(self, size: int) -> Utility:
        """Return the risk."""
        return L2Risk()

    def proved(self, at: Point) -> Region | None:
        """Compare the number of inputs with the most."""
        inside = at.parameter <= 3 or at.parameter <= most_inputs(float(at.epsilon))
        return Region.OPTIMAL if inside else Region.FEASIBLE
