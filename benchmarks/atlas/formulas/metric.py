"""Metric privacy on a line and on a grid: the geometric and the exponential mechanism."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cache
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from benchmarks.atlas.base import (
    Axis,
    Boundary,
    FloatArray,
    Formula,
    Point,
    Region,
    as_channel,
    shares,
    sizes,
)
from mechdesign.channel import Channel
from mechdesign.closed_forms.base import post_processed
from mechdesign.domain import Domain
from mechdesign.notions import MetricPrivacy
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.utilities import EuclideanDistance, MeanAbsoluteError

SEVEN = 7


def falling(size: int, skew: float) -> Prior:
    """Return the prior with P_x in proportion to e**(-skew x), as written with six digits.

    Examples
    --------
    >>> falling(3, 0.0)
    Prior(1/3, 1/3, 1/3)
    """
    return Prior.from_counts([f"{math.exp(-skew * x):.6e}" for x in range(size)])


@cache
def largest_step(size: int) -> float:
    """Return the g with g + g**2 + ... + g**(size - 1) = 1.

    Examples
    --------
    >>> round(largest_step(3), 4)  # the golden ratio
    0.618
    """
    return float(brentq(lambda g: sum(g**i for i in range(1, size)) - 1, 0.0, 1.0, xtol=1e-15))


class _Line(Formula):
    """Seven numbers, a prior that falls by e**-s from one to the next, and the absolute error."""

    axis: ClassVar[Axis] = Axis(
        "s",
        "fall of the prior s = ln P(x)/P(x+1)",
        shares("0 0.05 0.1 0.2 0.3 0.4 0.6 0.8 1 1.25 1.5 1.75 2"),
        shares("0 0.6"),
    )

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        prior = falling(SEVEN, float(at.parameter))
        notion = MetricPrivacy(at.epsilon, "absolute")
        return Problem(range(SEVEN), notion, MeanAbsoluteError(), prior=prior)

    @abstractmethod
    def channel(self, at: Point) -> Channel:
        """Return the channel of the formula."""


def _distances() -> FloatArray:
    x = np.arange(SEVEN)
    distances: FloatArray = np.abs(x[:, None] - x[None, :]).astype(np.float64)
    return distances


def _truncated_geometric(epsilon: float) -> FloatArray:
    """Return (1 - a)/(1 + a) a**|x - y| inside and a**|x - y|/(1 + a) at the ends, a = e**-eps."""
    step = math.exp(-epsilon)
    matrix: FloatArray = step ** _distances() / (1 + step)
    matrix[:, 1:-1] *= 1 - step
    return matrix


class Geometric(_Line):
    """Two-sided geometric noise, cut off at the ends, released as it is.

    Every private channel is this one followed by post-processing of its reports, for a user whose
    loss grows with the distance (Ghosh et al. 2009). As it is, it is optimal iff every report y is
    a median of its posterior. Left of y that is in proportion to e**(-(eps - s) i) at the distance
    i, right of it to e**(-(eps + s) i); so the last report is the first to fail, and all are
    medians iff g + ... + g**(k-1) <= 1 with g = e**-(eps - s): s <= eps + ln g_k for the g_k that
    makes it an equality; 1/2 in the limit of many inputs.
    """

    name = "geometric"
    title = "Truncated geometric, metric privacy\nabsolute error, 7 numbers"
    source = "Ghosh, Roughgarden and Sundararajan 2009"
    claim = "optimal up to the decision that follows; measured without it"
    boundaries = (
        Boundary(
            "s = ε + ln g, g + ... + g^6 = 1",
            lambda e: e + math.log(largest_step(SEVEN)),
            Region.FEASIBLE,
            Region.OPTIMAL,
        ),
    )

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        return as_channel(self.problem(at), _truncated_geometric(float(at.epsilon)))

    def proved(self, at: Point) -> Region | None:
        """Compare the fall of the prior with that of the noise."""
        most = float(at.epsilon) + math.log(largest_step(SEVEN))
        return Region.OPTIMAL if at.parameter <= most else Region.FEASIBLE


class GeometricDecided(_Line):
    """The same noise, each report followed by the decision that is best for the prior."""

    name = "geometric-decided"
    title = "Truncated geometric and best decision\nabsolute error, 7 numbers"
    source = "Ghosh, Roughgarden and Sundararajan 2009, Theorem 3.2"
    claim = "universally optimal: after the best decision no channel is better, for any prior"

    def channel(self, at: Point) -> Channel:
        """Return the formula with each report replaced by a posterior median."""
        problem = self.problem(at)
        released = post_processed(problem, _truncated_geometric(float(at.epsilon)))
        return Channel.from_matrix(released.matrix, inputs=problem.domain, outputs=released.outputs)

    def proved(self, at: Point) -> Region | None:
        """Return optimal."""
        return Region.OPTIMAL


def _exponential(distances: FloatArray, epsilon: float) -> FloatArray:
    """Return rows in proportion to e**(-eps d / 2)."""
    weights = np.exp(-epsilon / 2 * distances)
    matrix: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return matrix


class ExponentialLine(_Line):
    """Report y in proportion to e**(-eps |x - y|/2).

    The sums that the rows are divided by differ by at most e**(eps d/2), so it is private; it leaks
    less than it may.
    """

    name = "exponential-line"
    title = "Exponential mechanism, metric privacy\nabsolute error, 7 numbers"
    source = "McSherry and Talwar 2007; Chatzikokolakis et al. 2013"
    claim = "private for any score, not claimed to be optimal"

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        return as_channel(self.problem(at), _exponential(_distances(), float(at.epsilon)))


class ExponentialGrid(Formula):
    """The same on a square grid of points, with the Euclidean distance and the uniform prior."""

    name = "exponential-grid"
    title = "Exponential mechanism, metric privacy\nEuclidean loss on an n by n grid"
    source = "McSherry and Talwar 2007; Andrés et al. 2013; Bordenabe et al. 2014"
    claim = "private for any metric, not claimed to be optimal"
    axis = Axis("n", "side of the grid n", sizes(range(2, 6)), sizes([2, 3]))

    def problem(self, at: Point) -> Problem:
        """Return the problem."""
        side = int(at.parameter)
        notion = MetricPrivacy(at.epsilon, "euclidean")
        return Problem(Domain.grid(side, side), notion, EuclideanDistance())

    def channel(self, at: Point) -> Channel:
        """Return the formula."""
        problem = self.problem(at)
        points = np.array(problem.domain.coordinates, dtype=np.float64)
        distances = np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2)
        return as_channel(problem, _exponential(distances, float(at.epsilon)))
