"""A test with a proved level of whether some distribution of the inputs is consistent with reports.

Let T in {0, 1}^m be the contribution of one report to the counts, and t its mean over n reports
that are independent given their inputs. Let K be the convex hull of the rows t_x = E[T | x]. Then,
for all inputs and every s >= 0,

    P(dist(t, K) >= sqrt(V / n) + s) <= exp(-2 n s**2 / D**2),

where V = max_x Sum_j t_xj (1 - t_xj), and D is the largest distance of two values of T.

Proof. Given the inputs, m = E[t] is a mean of rows, hence in K, so dist(t, K) <= |t - m|. The mean
of |t - m|**2 is a mean of variances divided by n, at most V / n; the mean of |t - m| is at most its
root. Changing one report changes |t - m| by at most D / n, so McDiarmid's inequality bounds the
deviation from the mean. The bound is not asymptotic and holds for any records. QED

The distance is bounded from below by a direction that separates t from K. This is valid for any
direction: a search that stops early rejects less often.

Source: McDiarmid 1989, On the method of bounded differences, Lemma 1.2.
"""

from __future__ import annotations

import math

import numpy as np

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.estimation.simplex import projected

LEVEL = 1e-6
"""The level: at most this share of the collections drawn by the channel is rejected."""

STEPS = 500


def fit_p_value(expected: FloatArray, counts: AnyArray, total: int, diameter: float) -> float:
    """Return an upper bound on the p-value of "the channel drew these reports from some inputs".

    Parameters
    ----------
    expected
        ``(n_inputs, n_counts)`` expected counts of one report of each input, in [0, 1].
    counts
        ``(n_counts,)`` the counts.
    total
        Number of reports.
    diameter
        The largest Euclidean distance between the counts of two reports.

    Returns
    -------
    float
        The bound, or 1.0 unless it is below the level of 1e-6.

    Examples
    --------
    >>> warner = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> fit_p_value(warner, np.array([740, 260]), 1000, 2**0.5)
    1.0
    >>> fit_p_value(warner, np.array([990, 10]), 1000, 2**0.5) < 1e-40
    True
    """
    noise = math.sqrt((expected * (1 - expected)).sum(axis=1).max() / total)
    margin = noise + diameter * math.sqrt(-math.log(LEVEL) / (2 * total))
    rows = expected - counts / total
    largest = np.abs(rows).sum(axis=0).max() * np.abs(rows).sum(axis=1).max()
    p = at = np.full(len(rows), 1 / len(rows))
    momentum = 1.0
    for _ in range(STEPS):  # accelerated projected gradient on |p rows|**2 / 2
        nearest = p @ rows
        distance = float(np.linalg.norm(nearest))
        if distance <= margin:
            return 1.0
        proved = float((rows @ nearest).min()) / distance
        if proved > margin:
            return math.exp(-2 * total * ((proved - noise) / diameter) ** 2)
        before, p = p, projected(at - rows @ (at @ rows) / largest)
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        at = p + (momentum - 1) / following * (p - before)
        momentum = following
    return 1.0
