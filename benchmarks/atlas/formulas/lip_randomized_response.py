"""LIP randomized response against the optimum: four losses, and the one-sided notion."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from benchmarks.atlas.base import (
    Axis,
    Boundary,
    Formula,
    Point,
    Region,
    as_channel,
    one_rare,
    shares,
    sizes,
)
from mechdesign.channel import Channel
from mechdesign.notions import LIP, AsymmetricLift, Notion
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import HammingLoss, MeanAbsoluteError, PosteriorMeanSquaredError, Utility

PRIOR_OF_TWO = Axis(
    "P_min",
    "prior of the rarer input",
    shares("0.01 0.02 0.03 0.05 0.08 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5"),
    shares("0.01 0.4"),
)

BORDER = "P_min = 1/(e^ε + 1)"


def least_prior(epsilon: float) -> float:
    """Return 1 / (e**epsilon + 1), the least prior at which the formula is private."""
    return 1 / (math.exp(epsilon) + 1)


class _LIP(Formula):
    """Report the truth with probability 1 - e**-eps, else a fresh draw from the prior.

    Its largest lift is (e**eps - 1 + P_x) / (e**eps P_x): eps-LIP holds iff
    P_min >= 1/(e**eps + 1), and there no private channel is better; see
    :class:`~mechdesign.closed_forms.LIPRandomizedResponse` for the proof.
    """

    source: ClassVar[str] = "Jiang et al. 2018 (CNS), Theorem 2; arXiv, Theorems 2, 3, 5"
    size: ClassVar[int] = 2
    axis: ClassVar[Axis] = PRIOR_OF_TWO
    boundaries: ClassVar[tuple[Boundary, ...]] = (
        Boundary(BORDER, least_prior, Region.OPTIMAL, Region.INFEASIBLE),
    )

    def inputs(self, at: Point) -> Iterable[Any]:
        """Return the labels."""
        return range(self.size)

    def prior(self, at: Point) -> Prior:
        """Return one rare input, the others alike."""
        return one_rare(self.size, at.parameter)

    def notion(self, at: Point) -> Notion:
        """Return LIP."""
        return LIP(at.epsilon)

    @abstractmethod
    def utility(self) -> Utility:
        """Return the loss."""

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        return Problem(self.inputs(at), self.notion(at), self.utility(), prior=self.prior(at))

    def channel(self, at: Point) -> Channel:
        """Return the published formula, private or not."""
        prior, shrink = self.prior(at).array, math.exp(-at.epsilon)
        matrix = (1 - shrink) * np.eye(len(prior)) + shrink * np.tile(prior, (len(prior), 1))
        return as_channel(self.problem(at), matrix)

    def proved(self, at: Point) -> Region | None:
        """Compare P_min with the border."""
        inside = float(self.prior(at).minimum) >= least_prior(float(at.epsilon))
        return Region.OPTIMAL if inside else Region.INFEASIBLE


class LIPSurvey(_LIP):
    """Two inputs, and the squared error of the best estimate of one bit."""

    name = "lip-rr-survey"
    title = "LIP randomized response\nsurvey: squared error, two inputs"
    claim = "least squared error of the survey for every prior and budget (CNS, Theorem 2)"

    def utility(self) -> Utility:
        """Return the error of the posterior mean of a bit."""
        return PosteriorMeanSquaredError(values=[1, 0])


class LIPHamming(_LIP):
    """Four inputs, and the probability of a wrong report."""

    name = "lip-rr-hamming"
    title = "LIP randomized response\nHamming loss, four inputs"
    claim = "optimal for every prior and budget (arXiv, Theorem 3); measured by the Hamming loss"
    size = 4
    axis = Axis(
        "P_min",
        "prior of the rarest input",
        shares("0.005 0.01 0.02 0.03 0.04 0.06 0.08 0.1 0.125 0.15 0.175 0.2 0.225 0.25"),
        shares("0.01 0.2"),
    )

    def utility(self) -> Utility:
        """Return the Hamming loss."""
        return HammingLoss()


class LIPAbsolute(_LIP):
    """Two inputs, and the absolute error of the report."""

    name = "lip-rr-absolute"
    title = "LIP randomized response\nabsolute error, two inputs"
    claim = "least squared and least absolute error at once (arXiv, Proposition 3)"

    def utility(self) -> Utility:
        """Return the mean absolute error."""
        return MeanAbsoluteError()


class LIPSum(_LIP):
    """k equally likely numbers, and the squared error of the best estimate of one."""

    name = "lip-rr-sum"
    title = "LIP randomized response\nsum: squared error, uniform prior"
    claim = "least squared error of the sum for every domain (arXiv, Theorem 3)"
    axis = Axis("k", "number of inputs k", sizes([*range(2, 13), 14, 17, 20]), sizes([2, 5]))
    boundaries = (
        Boundary("k = e^ε + 1", lambda e: math.exp(e) + 1, Region.INFEASIBLE, Region.OPTIMAL),
    )

    def inputs(self, at: Point) -> Iterable[Any]:
        """Return 0, 1, ..., k - 1."""
        return range(int(at.parameter))

    def prior(self, at: Point) -> Prior:
        """Return the uniform prior."""
        return Prior.uniform(int(at.parameter))

    def utility(self) -> Utility:
        """Return the error of the posterior mean of the number."""
        return PosteriorMeanSquaredError()


class _OneSided(_LIP):
    """The same formula where only lifts below 1 are bounded (eps_u infinite): always private."""

    source = "Jiang et al. 2018 (CNS), Theorem 2, for the notion that its proof bounds"

    def notion(self, at: Point) -> Notion:
        """Return the lower bound on the lift alone."""
        return AsymmetricLift(at.epsilon, "inf")


class OneSidedSurvey(_OneSided):
    """The survey under the lower bound alone: there Theorem 2 is right everywhere."""

    name = "lip-rr-one-sided-survey"
    title = "LIP randomized response, lower side only\nsurvey: squared error, two inputs"
    claim = "optimal for every data-processing utility, prior and budget (ours)"
    boundaries = ()

    def utility(self) -> Utility:
        """Return the error of the posterior mean of a bit."""
        return PosteriorMeanSquaredError(values=[1, 0])

    def proved(self, at: Point) -> Region | None:
        """Return optimal: it is the universal channel of the notion."""
        return Region.OPTIMAL


class OneSidedHamming(_OneSided):
    """The Hamming loss under the lower bound alone.

    Every private channel is the formula followed by post-processing, so an optimum is the formula
    followed by the Bayes decision. On the report z that decides for z, and not for y, iff
    e**-eps (P_y - P_z) <= 1 - e**-eps. So the formula as released is optimal iff
    P_max - P_min <= e**eps - 1; for two inputs, P_min >= 1 - e**eps / 2.
    """

    name = "lip-rr-one-sided-hamming"
    title = "LIP randomized response, lower side only\nHamming loss, two inputs"
    claim = "optimal up to the decision that follows (ours); measured without it"
    boundaries = (
        Boundary(
            "P_min = 1 - e^ε/2", lambda e: 1 - math.exp(e) / 2, Region.OPTIMAL, Region.FEASIBLE
        ),
    )

    def utility(self) -> Utility:
        """Return the Hamming loss."""
        return HammingLoss()

    def proved(self, at: Point) -> Region | None:
        """Compare the spread of the prior with e**eps - 1."""
        prior = self.prior(at)
        spread = float(max(prior) - prior.minimum)
        inside = spread <= math.expm1(float(at.epsilon))
        return Region.OPTIMAL if inside else Region.FEASIBLE
