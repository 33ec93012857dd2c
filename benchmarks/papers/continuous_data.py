"""What TIFS Figs. 7 to 10 and 12 share: designed optima, Corollary 10, and quick sums in floats.

The designed optimum is pure LIP, delta = 0, which none of the paper's mechanisms for continuous
data can be. X is rounded to a cell, and the cell goes through the best finite channel: the value is
that of a kernel on the continuum. Any kernel, averaged over cells, obeys the same notion; so the
distance from a report to the nearest end of a cell gives a bound that holds for all.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

import mechdesign as md
from mechdesign import GaussianMixture
from mechdesign.accounting import GaussianMechanism

__all__ = ["Designed", "corollary_10", "designed", "mean_difference", "rough_delta"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Designed:
    """The least mean absolute error under pure LIP: that of a kernel, and a bound for all."""

    value: float
    bound: float


def designed(sample: Array, epsilon: float, cells: int) -> Designed:
    """Return the optimum for the law that is uniform on a sample.

    Parameters
    ----------
    sample
        The law: numbers, equally likely.
    epsilon
        In nats.
    cells
        How many cells of X, about equally likely.
    """
    given = np.sort(sample)
    inner = np.unique(np.quantile(given, np.arange(1, cells) / cells))
    edges = np.unique([given[0], *inner, given[-1]])
    where = np.clip(np.searchsorted(edges, given, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(where, minlength=len(edges) - 1)
    parts = np.split(given, np.cumsum(counts)[:-1])
    medians = np.array([np.median(part) for part in parts])
    prior = md.Prior.from_counts(counts.tolist())
    upper = [[float(np.abs(part - y).mean()) for y in medians] for part in parts]
    ends = list(itertools.pairwise(edges))
    lower = [[float(max(a - y, y - b, 0.0)) for y in edges] for a, b in ends]
    found = [
        md.design(md.Problem(range(len(counts)), md.LIP(epsilon), md.Distortion(cost), prior=prior))
        for cost in (upper, lower)
    ]
    return Designed(float(found[0].value), float(found[1].bound))


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
    """Return what Definition 5 asks of a row of probabilities: both inequalities."""
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
