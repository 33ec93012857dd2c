"""Mechanisms for continuous data, used on a few numbers: reports are rounded to the nearest one.

Rounding a report is post-processing, so it stays as private as it was. Their exact privacy and loss
on the continuum are in ``mechdesign.accounting``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
from scipy.stats import laplace, norm

from benchmarks.atlas.base import Axis, FloatArray, Formula, Point, as_channel, shares, sizes
from mechdesign.accounting import (
    OptimalPiecewiseMechanism,
    SamplingMechanism,
    analytic_gaussian_deviation,
    laplace_scale,
)
from mechdesign.channel import Channel
from mechdesign.notions import LDP, LIP, ApproximateLDP, ApproximateLIP
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import MeanAbsoluteError

DELTA = Fraction(1, 20)

NUMBERS = Axis("k", "numbers k", sizes(range(2, 13)), sizes([2, 5]))


def nearest(k: int) -> FloatArray:
    """Return where the reports end that are rounded to each of 0, ..., k - 1.

    Examples
    --------
    >>> nearest(3)
    array([-inf,  0.5,  1.5,  inf])
    """
    return np.concatenate([[-np.inf], np.arange(k - 1) + 0.5, [np.inf]])


class Sampling(Formula):
    """Release X with the probability of Proposition 2, else a fresh draw, uniform on k numbers.

    Where X has atoms more than that probability would be private as well; and a fresh draw is not
    the best report.
    """

    name = "sampling-mechanism"
    title = "Sampling mechanism, approximate LIP, δ = 0.05\nabsolute error, k uniform numbers"
    source = "Jiang et al. 2021 (TIFS), Proposition 2"
    claim = "a feasible λ, shown by us to be the largest for laws without atoms"
    axis = Axis("k", "numbers k", sizes(range(4, 13)), sizes([5, 8]))

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        k = int(at.parameter)
        notion = ApproximateLIP(at.epsilon, DELTA)
        return Problem(range(k), notion, MeanAbsoluteError(), prior=Prior.uniform(k))

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        made = SamplingMechanism.best(at.epsilon, DELTA).channel(Prior.uniform(int(at.parameter)))
        return as_channel(self.problem(at), made.matrix)


class AnalyticGaussian(Formula):
    """Gaussian noise with the least deviation that is private for all numbers of the range."""

    name = "analytic-gaussian"
    title = "Analytic Gaussian, approximate LDP, δ = 0.05\nabsolute error, k uniform numbers"
    source = "Balle and Wang 2018, Algorithm 1"
    claim = "least noise among Gaussian ones; reports rounded to the nearest number"
    axis = NUMBERS

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        return Problem(
            range(int(at.parameter)), ApproximateLDP(at.epsilon, DELTA), MeanAbsoluteError()
        )

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        k = int(at.parameter)
        noise = analytic_gaussian_deviation(at.epsilon, float(DELTA), k - 1).high
        below = norm.cdf(nearest(k), np.arange(k)[:, None], noise)
        return as_channel(self.problem(at), np.diff(below, axis=1))


class LaplaceNoise(Formula):
    """Laplace noise of the published scale on three values, as in Fig. 10 of the paper."""

    name = "laplace-lip"
    title = "Laplace noise, LIP\nabsolute error, 3 values"
    source = "Jiang et al. 2021 (TIFS), Theorem 6, (25)"
    claim = "private at this scale; reports rounded to the nearest value"
    axis = Axis(
        "s",
        "skew of the prior s = P(0) − P(2)",
        shares("0 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.55 0.6"),
        shares("0 0.2"),
    )

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        return Problem(range(3), LIP(at.epsilon), MeanAbsoluteError(), prior=skewed(at.parameter))

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        scale = laplace_scale(range(3), skewed(at.parameter), at.epsilon)
        below = laplace.cdf(nearest(3), np.arange(3)[:, None], scale)
        return as_channel(self.problem(at), np.diff(below, axis=1))


class BestPiecewise(Formula):
    """The piecewise mechanism on [0, 1] with the least worst absolute error, on k points of it.

    The window ends between two points, so a report near its ends says less than it may.
    """

    name = "optimal-piecewise"
    title = "Best piecewise mechanism, LDP\nworst absolute error, k points of [0, 1]"
    source = "Zheng, Mishra and Hu 2025"
    claim = "least worst error among piecewise mechanisms; reports rounded to the nearest point"
    axis = NUMBERS

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        loss = MeanAbsoluteError(worst_case=True)
        return Problem(range(int(at.parameter)), LDP(at.epsilon), loss)

    def channel(self, at: Point) -> Channel:
        """Return the formula: each point has the mass of the reports nearest to it."""
        k = int(at.parameter)
        edges = np.clip(nearest(k) / (k - 1), 0, 1)
        made = OptimalPiecewiseMechanism(at.epsilon)
        rows = []
        for x in range(k):
            law = made.window(Fraction(x, k - 1))
            start, end, inside, outside = (
                float(value.low) for value in (law.start, law.end, law.inside, law.outside)
            )
            overlap = np.diff(np.clip(edges, start, end))
            row = outside * np.diff(edges) + (inside - outside) * overlap
            rows.append(row / row.sum())
        return as_channel(self.problem(at), np.array(rows))


@cache
def skewed(s: Fraction) -> Prior:
    """Return the prior (1/3 + s/2, 1/3, 1/3 - s/2).

    Examples
    --------
    >>> skewed(Fraction(0))
    Prior(1/3, 1/3, 1/3)
    """
    third = Fraction(1, 3)
    return Prior([third + s / 2, third, third - s / 2])
