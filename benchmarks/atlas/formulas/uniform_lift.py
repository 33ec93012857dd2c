"""The cyclic channel for LIP at a uniform prior, which is optimal where the published one fails."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from benchmarks.atlas.base import Formula, Point, Region, as_channel
from benchmarks.atlas.formulas.randomized_response import INPUTS
from mechdesign.channel import Channel
from mechdesign.closed_forms.size_classes import best_lift
from mechdesign.notions import LIP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import PosteriorMeanSquaredError


class UniformLift(Formula):
    """The k cyclic shifts of the extreme lift: j entries e**eps, one between, the rest e**-eps."""

    name = "uniform-lift"
    title = "Cyclic shifts of the extreme lift, LIP\nhistogram: squared error, uniform prior"
    source = "ours"
    claim = "optimal at the uniform prior for utilities that treat all inputs alike"
    axis = INPUTS

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        size = int(at.parameter)
        utility = PosteriorMeanSquaredError(histogram=True)
        return Problem(range(size), LIP(at.epsilon), utility, prior=Prior.uniform(size))

    def channel(self, at: Point) -> Channel:
        """Return the cyclic channel."""
        size = int(at.parameter)
        family = LIP(Fraction(at.epsilon)).family(self.problem(at).domain, Prior.uniform(size))
        lift, x = best_lift(family), np.arange(size)
        return as_channel(self.problem(at), lift[(x[:, None] - x[None, :]) % size] / size)

    def proved(self, at: Point) -> Region | None:
        """Return optimal."""
        return Region.OPTIMAL
