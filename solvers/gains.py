"""Gain of a column, for objectives that are a sum over outputs, typed from the definitions.

Columns q come in any scale; joint = P_x q_x, law = Sum_x P_x q_x. For objectives of a user's own
there is no definition here: a test brings its own formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from mechdesign.problem import Problem
from mechdesign.utilities import (
    BayesAccuracy,
    Divergence,
    FisherInformation,
    GVulnerability,
    MutualInformation,
    PosteriorMeanSquaredError,
    Utility,
)
from solvers.base import FloatArray
from solvers.definitions import posterior_values

MAXIMISED = (MutualInformation, BayesAccuracy, GVulnerability, FisherInformation, Divergence)


def gain(problem: Problem, rays: FloatArray) -> FloatArray:
    """Return the worth of every ray, ``(n_rays,)`` for rays of shape ``(n_rays, n_inputs)``.

    Raises
    ------
    UnsuitableError
        If the objective is not one that this file knows.
    """
    worth = _worth(problem)
    return np.array([worth(ray) for ray in rays])


def error_left(problem: Problem) -> float | None:
    """Return the error without any gain, E |f(X)|**2; None where the gain itself is maximized."""
    utility = problem.utility
    if isinstance(utility, MAXIMISED):
        return None
    if isinstance(utility, PosteriorMeanSquaredError) and utility.histogram:
        return 1.0
    return float(problem.prior.array @ posterior_values(problem) ** 2)


def _worth(problem: Problem) -> Callable[[FloatArray], float]:
    utility: Utility = problem.utility
    P = problem.prior.array
    if isinstance(utility, MutualInformation):
        return lambda q: information(P, q)
    if isinstance(utility, BayesAccuracy):
        return lambda q: accuracy(P, q)
    if isinstance(utility, PosteriorMeanSquaredError) and utility.histogram:
        return lambda q: histogram_gain(P, q)
    table = utility.to_table(problem.domain)
    if isinstance(utility, GVulnerability):
        gains = _numbers(table["gain_matrix"])
        return lambda q: max(math.fsum(g * P * q) for g in gains)
    if isinstance(utility, FisherInformation):
        scores = _numbers(table["scores"]).T
        return lambda q: math.fsum(squared_mean(P, s, q) for s in scores)
    if isinstance(utility, Divergence):
        first, second = _numbers([table["first"], table["second"]])
        between = DIVERGENCES[utility.name]
        return lambda q: between(math.fsum(first * q), math.fsum(second * q))
    f = posterior_values(problem)
    return lambda q: squared_mean(P, f, q)


def _numbers(rows: list[list[str]]) -> FloatArray:
    return np.array([[float(Fraction(entry)) for entry in row] for row in rows])


DIVERGENCES: dict[str, Callable[[float, float], float]] = {
    "total-variation": lambda a, b: max(a, b) - (a + b) / 2,
    "kullback-leibler": lambda a, b: a * (math.log(a) - math.log(b)) if a else 0.0,
    "chi-squared": lambda a, b: a * a / b - 2 * a + b if b else 0.0,
    "squared-hellinger": lambda a, b: (a + b) / 2 - math.sqrt(a) * math.sqrt(b),
}
"""What one report adds to a divergence of a from b."""


def information(P: FloatArray, q: FloatArray) -> float:
    """Return Sum_x joint ln(q_x / law), in nats."""
    law = math.fsum(P * q)
    return math.fsum(p * v * math.log(v / law) for p, v in zip(P, q, strict=True) if p * v > 0)


def accuracy(P: FloatArray, q: FloatArray) -> float:
    """Return the joint probability of the likeliest input."""
    return max(p * v for p, v in zip(P, q, strict=True))


def histogram_gain(P: FloatArray, q: FloatArray) -> float:
    """Return law * |posterior|**2."""
    law = math.fsum(P * q)
    return law * math.fsum((p * v / law) ** 2 for p, v in zip(P, q, strict=True)) if law else 0.0


def squared_mean(P: FloatArray, f: FloatArray, q: FloatArray) -> float:
    """Return law * E[f(X) | Y]**2."""
    law = math.fsum(P * q)
    return law * (math.fsum(P * f * q) / law) ** 2 if law else 0.0


def is_sum_of_gains(objective: Utility) -> bool:
    """Return whether an objective is a sum of gains that this file knows."""
    return isinstance(objective, (*MAXIMISED, PosteriorMeanSquaredError))
