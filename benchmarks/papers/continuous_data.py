"""What TIFS Figs. 7 to 10 and 12 share: designed optima, Corollary 10, and quick sums in floats.

The designed optimum is pure LIP, delta = 0, which none of the paper's mechanisms for continuous
data can be: a kernel on the continuum, with a bound on all of them.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

import mechdesign as md
from mechdesign import GaussianMixture
from mechdesign.accounting import GaussianMechanism
from mechdesign.designs.solution import Solution
from mechdesign.notions import Notion

Array = npt.NDArray[np.float64]

BEST = "designed, δ = 0"
ROOT = math.sqrt(2 / math.pi)
"""The mean absolute error of normal noise, over its deviation."""


def designed(sample: Array, epsilon: float, gap: float, seconds: float | None = None) -> Solution:
    """Return the kernel of least mean absolute error under pure LIP, for the law of a sample.

    Parameters
    ----------
    sample
        The law: numbers, equally likely, on the interval that they span.
    epsilon
        In nats.
    gap
        How near the bound is to be, unless time is over.
    seconds
        When it is.
    """
    law, ends = md.Samples(sample.tolist()), [float(sample.min()), float(sample.max())]
    problem = md.ContinuousProblem(ends, md.LIP(epsilon), md.MeanAbsoluteError(), prior=law)
    return md.design(problem, gap=gap, time_limit=seconds)


def designed_normal(
    deviation: float, reach: float, notion: Notion, gap: float = 0.01, seconds: float | None = None
) -> Solution:
    """Return the kernel of least mean absolute error for a centered normal law on |x| <= reach."""
    law = md.NamedLaw("normal", [0, deviation])
    problem = md.ContinuousProblem([-reach, reach], notion, md.MeanAbsoluteError(), prior=law)
    return md.design(problem, gap=gap, time_limit=seconds)


def mean_difference(sample: Array) -> float:
    """Return E|X - X'| for two independent draws from a sample: what a fresh draw costs."""
    given = np.sort(sample)
    ranks = 2 * np.arange(1, len(given) + 1) - len(given) - 1
    return float(2 * (ranks * given).sum() / len(given) ** 2)


@cache
def corollary_10(law: GaussianMixture, x: float, epsilon: float, delta: float) -> float:
    """Return the least noise at x by Corollary 10, where Y has the law of X + s N for that s.

    In floats, by bisection; the divergences are sums over 4,000 cells.
    """
    weights, means, deviations = (
        np.array(list(map(float, column)))[:, None]
        for column in (law.weights, law.means, law.deviations)
    )
    low, high = 0.0, 1000 * float(deviations.max())
    while high - low > 1e-4 * high:
        s = (low + high) / 2
        spread = np.hypot(deviations, s)
        ends = [*(means - 9 * spread).ravel(), *(means + 9 * spread).ravel(), x - 9 * s, x + 9 * s]
        y = np.linspace(min(ends), max(ends), 4001)
        law_of_y = (weights * norm.cdf(y, means, spread)).sum(axis=0)
        if larger_side(np.diff(norm.cdf(y, x, s)), np.diff(law_of_y), epsilon) > delta:
            low = s
        else:
            high = s
    return high


def larger_side(own: Array, law: Array, epsilon: float) -> Array:
    """Return the excess of a row of probabilities over both inequalities of Definition 5."""
    grown = math.exp(epsilon)
    forward = np.maximum(own - grown * law, 0).sum(axis=-1) / grown
    found: Array = np.maximum(forward, np.maximum(law - grown * own, 0).sum(axis=-1))
    return found


def rough_delta(mechanism: GaussianMechanism, epsilon: float) -> float:
    """Return about the delta of a mechanism of bins, by sums: where to look before it is proved."""
    edges, per_bin = np.array(mechanism.edges), 24
    inputs = np.concatenate([np.linspace(a, b, per_bin) for a, b in itertools.pairwise(edges)])
    noise = np.repeat(mechanism.deviations, per_bin)[:, None]
    widest = max(mechanism.deviations)
    y = np.linspace(edges[0] - 7 * widest, edges[-1] + 7 * widest, 1601)
    own = np.diff(norm.cdf(y, inputs[:, None], noise), axis=1)
    weights = sum(
        float(w) * norm.pdf(inputs, float(m), float(s))
        for w, m, s in zip(
            mechanism.law.weights, mechanism.law.means, mechanism.law.deviations, strict=True
        )
    ) * np.repeat(np.diff(edges), per_bin)
    law = weights / weights.sum() @ own
    return float(larger_side(own, law, epsilon).max())
