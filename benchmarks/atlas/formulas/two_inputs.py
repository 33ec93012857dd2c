"""Formulas for two inputs: the symmetric model, an uncertain prior, Warner and Mangat."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np

from benchmarks.atlas.base import (
    Axis,
    Boundary,
    FloatArray,
    Formula,
    Point,
    Region,
    as_channel,
    shares,
)
from benchmarks.atlas.formulas.lip_randomized_response import PRIOR_OF_TWO
from mechdesign.channel import Channel
from mechdesign.notions import LDP, LIP, BoundedPriorLIP, HighLowLDP, Notion
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import L2Risk, MutualInformation, PosteriorMeanSquaredError, Utility

HALF = Fraction(1, 2)
MIDDLE = Fraction(3, 10)


def _swap(first: float, second: float) -> FloatArray:
    """Return the channel that reports another value with these probabilities."""
    return np.array([[1 - first, first], [second, 1 - second]])


class _TwoInputs(Formula):
    """A bit, 0 with the prior of the map."""

    axis: ClassVar[Axis] = PRIOR_OF_TWO

    @abstractmethod
    def notion(self, at: Point) -> Notion:
        """Return the privacy notion."""

    def utility(self) -> Utility:
        """Return the error of the posterior mean of the bit."""
        return PosteriorMeanSquaredError(values=[1, 0])

    def prior(self, at: Point) -> Prior:
        """Return the prior."""
        return Prior([at.parameter, 1 - at.parameter])

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        return Problem([0, 1], self.notion(at), self.utility(), prior=self.prior(at))


class SymmetricModel(_TwoInputs):
    """Flip the bit with probability q = (1 - P) / (e**eps - 2P + 1), P = P_min.

    The error rises with q up to 1/2, and at this q the largest lift is e**eps: so it is the best of
    the channels that flip both bits with one probability, for every P and eps, and its leakage is
    eps everywhere.
    Another channel is better but at P = 1/2, where the best one of all is symmetric.
    """

    name = "symmetric-model"
    title = "Symmetric model, LIP\nsurvey: squared error, two inputs"
    source = "Jiang et al. 2018 (CNS), Proposition 4"
    claim = "least squared error among symmetric channels: true; measured among all channels"

    def notion(self, at: Point) -> Notion:
        """Return LIP."""
        return LIP(at.epsilon)

    def channel(self, at: Point) -> Channel:
        """Return the published formula for P <= 1/2."""
        share, e = float(at.parameter), math.exp(at.epsilon)
        flip = (1 - share) / (e - 2 * share + 1)
        return as_channel(self.problem(at), _swap(flip, flip))

    def proved(self, at: Point) -> Region | None:
        """Return optimal at P = 1/2 only."""
        return Region.OPTIMAL if at.parameter == HALF else Region.FEASIBLE


def _width(epsilon: float) -> float:
    """Return the half-width w with (0.7 - w) / (0.3 - w) = e**epsilon."""
    odds, low = math.exp(epsilon), float(MIDDLE)
    return (low * odds - (1 - low)) / (odds - 1)


class BoundedPrior(_TwoInputs):
    """A prior Pr(X = 1) that is only known to be in [a, b].

        Pr(1|0) = b / (b - a + e**eps),      Pr(0|1) = (1 - a) / (b - a + e**eps)

    The lift of the report 1 at the input 1 is largest at the prior a, where it is at most e**eps
    iff 1 - b <= a e**eps; that of 0 at the prior b, iff a <= (1 - b) e**eps. So the formula is
    private iff |ln(a / (1 - b))| <= eps. The rows for lifts below 1 hold with equality for both
    reports, so where the others hold too it is the universal channel, and optimal.
    """

    name = "bounded-prior"
    title = "Uncertain prior in [0.3 - w, 0.3 + w], LIP\nsquared error at 0.3, two inputs"
    source = "Jiang et al. 2021 (TIFS), Section IV-B"
    claim = "least squared error under bounded-prior LIP, for every interval and budget"
    axis = Axis(
        "w",
        "half-width w of the interval",
        shares("0 0.01 0.02 0.04 0.06 0.08 0.1 0.125 0.15 0.175 0.2 0.225 0.25 0.275"),
        shares("0 0.1"),
    )
    boundaries = (Boundary("(0.7-w)/(0.3-w) = e^ε", _width, Region.INFEASIBLE, Region.OPTIMAL),)

    def ends(self, at: Point) -> tuple[Fraction, Fraction]:
        """Return a and b."""
        return MIDDLE - at.parameter, MIDDLE + at.parameter

    def prior(self, at: Point) -> Prior:
        """Return the middle of the interval."""
        return Prior([1 - MIDDLE, MIDDLE])

    def notion(self, at: Point) -> Notion:
        """Return LIP for every prior of the interval."""
        a, b = self.ends(at)
        return BoundedPriorLIP(at.epsilon, lower=[1 - b, a], upper=[1 - a, b])

    def channel(self, at: Point) -> Channel:
        """Return the published formula."""
        a, b = map(float, self.ends(at))
        whole = b - a + math.exp(at.epsilon)
        return as_channel(self.problem(at), _swap(b / whole, (1 - a) / whole))

    def proved(self, at: Point) -> Region | None:
        """Compare the ratio of the ends with e**eps."""
        a, b = map(float, self.ends(at))
        inside = abs(math.log(a / (1 - b))) <= at.epsilon
        return Region.OPTIMAL if inside else Region.INFEASIBLE


class _Warner(_TwoInputs):
    """Report the input with odds e**eps: the universal channel of LDP with two inputs."""

    source = "Warner 1965; Acharya et al. 2020, Theorem 2; Jiang et al. 2018 (CNS), Proposition 3"

    def notion(self, at: Point) -> Notion:
        """Return LDP."""
        return LDP(at.epsilon)

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        lie = 1 / (math.exp(at.epsilon) + 1)
        return as_channel(self.problem(at), _swap(lie, lie))

    def proved(self, at: Point) -> Region | None:
        """Return optimal."""
        return Region.OPTIMAL


class WarnerSurvey(_Warner):
    """The squared error of a survey."""

    name = "warner-survey"
    title = "Warner, LDP\nsurvey: squared error, two inputs"
    claim = "optimal for every data-processing utility and prior; measured by the squared error"


class WarnerInformation(_Warner):
    """The mutual information between the truth and the report."""

    name = "warner-information"
    title = "Warner, LDP\nmutual information, two inputs"
    claim = "optimal for every data-processing utility; measured by the mutual information"

    def utility(self) -> Utility:
        """Return the mutual information, in nats."""
        return MutualInformation()


class Mangat(_TwoInputs):
    """Hide the sensitive answer: its report is always 0, the other's is 0 with probability e**-eps.

    It is the universal channel of high-low LDP with one of two inputs sensitive.
    """

    name = "mangat"
    title = "Mangat, one of two inputs sensitive\nℓ2 risk of the distribution"
    source = "Mangat 1994; Acharya et al. 2020, Theorem 2"
    claim = "optimal for every data-processing utility and prior; measured by the l2 risk"

    def notion(self, at: Point) -> Notion:
        """Return high-low LDP with the first input sensitive."""
        return HighLowLDP(at.epsilon, [0])

    def utility(self) -> Utility:
        """Return the risk of the estimated distribution."""
        return L2Risk()

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        hide = math.exp(-at.epsilon)
        return as_channel(self.problem(at), np.array([[1.0, 0.0], [hide, 1 - hide]]))

    def proved(self, at: Point) -> Region | None:
        """Return optimal."""
        return Region.OPTIMAL
