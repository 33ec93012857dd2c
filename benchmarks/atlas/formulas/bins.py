"""Randomized response on bins: on neighbors for the absolute error, on the likeliest inputs."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.atlas.base import Formula, Point, Region, as_channel
from benchmarks.atlas.formulas.metric import SEVEN, GeometricDecided, falling
from benchmarks.atlas.formulas.randomized_response import GRRHamming
from mechdesign.channel import Channel
from mechdesign.closed_forms import ResponseOnBins
from mechdesign.notions import LDP
from mechdesign.problem import Problem
from mechdesign.utilities import MeanAbsoluteError


class Bins(Formula):
    """Seven numbers in bins of neighbors, each with one output, for the absolute error under LDP.

    See :class:`~mechdesign.closed_forms.ResponseOnBins` for the proof.
    """

    name = "rr-on-bins"
    title = "RR on bins, LDP\nabsolute error of seven numbers"
    source = "Ghazi et al. 2023 (ICLR, regression with label differential privacy)"
    claim = (
        "optimal for losses that rise on both sides of the truth; measured by the absolute error"
    )
    axis = GeometricDecided.axis

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        prior = falling(SEVEN, float(at.parameter))
        return Problem(range(SEVEN), LDP(at.epsilon), MeanAbsoluteError(), prior=prior)

    def channel(self, at: Point) -> Channel:
        """Return the response on the best bins."""
        problem = self.problem(at)
        found = ResponseOnBins().optimum(problem).formula()
        return Channel.from_matrix(found.matrix, inputs=problem.domain, outputs=found.outputs)

    def proved(self, at: Point) -> Region | None:
        """Return optimal: every set of outputs up to a distance is an interval."""
        return Region.OPTIMAL


class Likeliest(GRRHamming):
    """GRR on the m likeliest inputs, for the best m; all others are reported as the first of them.

    It is right with probability E (P_1 + ... + P_m)/(E + m - 1), for the m largest of the prior.
    """

    name = "rr-likeliest"
    title = "GRR on the m likeliest, LDP\nHamming loss, four inputs"
    source = "Ghazi et al. 2021 (RRWithPrior)"
    claim = "least probability of a wrong report, for every prior"
    boundaries = ()

    def channel(self, at: Point) -> Channel:
        """Return the matrix."""
        problem = self.problem(at)
        p, odds = problem.prior.array, math.exp(at.epsilon)
        order = np.argsort(-p, kind="stable")
        counts = np.arange(1, len(p) + 1)
        m = 1 + int(np.argmax(odds * np.cumsum(p[order]) / (odds + counts - 1)))
        matrix = np.zeros((len(p), len(p)))
        matrix[:, order[:m]] = 1 / (odds + m - 1)
        kept = np.array([x if x in order[:m] else order[0] for x in range(len(p))])
        matrix[np.arange(len(p)), kept] *= odds
        return as_channel(problem, matrix)

    def proved(self, at: Point) -> Region | None:
        """Return the optimal channel: it distinguishes the likeliest inputs."""
        return Region.OPTIMAL
