"""PENA's two-valued responder: a number reported by one of two values."""

from __future__ import annotations

from benchmarks.atlas.base import Formula, Point, Region
from benchmarks.atlas.formulas.randomized_response import INPUTS
from mechdesign.channel import Channel
from mechdesign.collection.personalized import TwoValuedResponder
from mechdesign.notions import LDP
from mechdesign.problem import Problem
from mechdesign.utilities import PosteriorMeanSquaredError


class ResponderSum(Formula):
    """The squared error of the best estimate of one of k equally likely numbers.

    For two numbers it is Warner's channel, and optimal.
    """

    name = "pena-responder"
    title = "PENA's two-valued responder, LDP\nsum: squared error, uniform prior"
    source = "Akter and Hashem 2017, Algorithm 2; Nguyên et al. 2016"
    claim = "an unbiased mean of numbers in a range; measured by the squared error of the sum"
    axis = INPUTS

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        return Problem(range(int(at.parameter)), LDP(at.epsilon), PosteriorMeanSquaredError())

    def channel(self, at: Point) -> Channel:
        """Return the channel of the k numbers, its range being from the least to the largest."""
        responder = TwoValuedResponder(0, int(at.parameter) - 1, at.epsilon)
        return Channel.from_matrix([responder.density(x) for x in range(int(at.parameter))])

    def proved(self, at: Point) -> Region | None:
        """Return optimal for two numbers."""
        return Region.OPTIMAL if at.parameter == 2 else None
