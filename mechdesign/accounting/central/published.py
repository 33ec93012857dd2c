"""Published bounds on the central epsilon of shuffled reports, for comparison.

They depend on a few numbers of the channel, and are never below the bound of
:mod:`~mechdesign.accounting.central.upper`.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from mechdesign.accounting.central.comparisons import SLACK, Comparison
from mechdesign.accounting.central.crossings import FINE, crossing
from mechdesign.accounting.central.upper import delta_of_pair

__all__ = ["feldman_epsilon", "variation_ratio_epsilon"]


def feldman_epsilon(local: float, n: int, delta: float) -> float:
    """Return the bound of Feldman, McMillan and Talwar 2021, Theorem 3.1; local if it is larger.

    ln(1 + (p - 1)/(p + 1) (8 sqrt(p ln(4/delta) / n) + 8 p / n)),   p = e**local,
    where local <= ln(n / (16 ln(2/delta)))
    """
    if local > math.log(n / (16 * math.log(2 / delta))):
        return local
    p = math.exp(local)
    spread = 8 * math.sqrt(p * math.log(4 / delta) / n) + 8 * p / n
    return min(local, math.log1p((p - 1) / (p + 1) * spread) * (1 + 1e-12))


def variation_ratio_epsilon(comparison: Comparison, n: int, delta: float) -> float:
    """Return the bound from three numbers of the channel; inf if it does not apply.

    Rows P and P' differ by at most a ratio p and a total variation b, and each is at most q times
    the common part. With a = b / (p - 1) it suffices to bound

        P = (p a, a, c),   P' = (a, p a, c),   B = (p a, p a, c) / q,   c = 1 - (p + 1) a.

    Source: Wang et al. 2023 (arXiv 2304.05007). The third part of B is omitted there; with it, the
    bound also increases in b, by convex order.
    """
    local = comparison.local_epsilon
    first, second = comparison.rows[comparison.pairs[:, 0]], comparison.rows[comparison.pairs[:, 1]]
    distance = float(np.maximum(first - second, 0).sum(axis=1).max()) + 2 * SLACK
    largest, least = comparison.rows[np.unique(comparison.pairs)].max(axis=0), comparison.least
    if math.isinf(local) or (largest[least == 0] > 0).any():
        return math.inf
    ratio, shared = math.exp(local) * (1 + SLACK), least > 0
    if ratio <= 1 + 4 * SLACK:
        return 0.0 if distance <= delta else local
    excess = float((largest[shared] / least[shared]).max()) * (1 + 4 * SLACK)
    a = min(distance / (ratio - 1) * (1 + SLACK), 1 / (ratio + 1))
    c = max(1 - (ratio + 1) * a, 0.0)
    one, other = np.array([ratio * a, a, c]), np.array([a, ratio * a, c])
    common = np.maximum(one, other) / excess * (1 - SLACK)
    delta_at = partial(delta_of_pair, one, other, common, n)
    if delta_at(0.0, FINE) <= delta:
        return 0.0
    return crossing(delta_at, delta, 0.0, local, below=True)
