"""Mutual information and Shannon capacity, with rounding bounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import xlogy

from mechdesign._typing import AnyArray, FloatArray
from mechdesign.accounting.ratios import float_above
from mechdesign.channel import Channel, as_channel
from mechdesign.exact.enclosures import Enclosure, logarithm
from mechdesign.kernel.gains import Entropy
from mechdesign.prior import Prior
from mechdesign.solver_guard import called

MOST_EXACT = 2500
"""Maximum number of entries for which all logarithms are bounded in rationals."""

UNIT = 2.0**-52


def information_above(table: AnyArray, whole: int, prior: Prior) -> float:
    """Return I(X; Y) in nats, rounded up, for integers whose rows sum to ``whole``.

    For small tables every logarithm is bounded in rationals. For large ones the sum is computed in
    floats, and the bound ``(n_inputs + 32) 2**-52 (1 + Sum |terms|)`` on its rounding error is
    added.
    """
    if table.size <= MOST_EXACT:
        form = Entropy.of_inputs(prior.probabilities)
        total = sum((form(q, up=True) for q in table.T.tolist()), Fraction(0))
        return float_above(max(Fraction(0), total / whole))
    likely = np.flatnonzero(prior.array > 0)
    rows = table[likely]
    if (rows == rows[0]).all():
        return 0.0
    Q = (rows / whole).astype(np.float64)
    joint = prior.array[likely, None] * Q
    outputs = np.maximum(joint.sum(axis=0), np.finfo(float).tiny)
    # relative errors in units of rounding: 3 for a joint probability, n_inputs + 3 for the
    # probability of an output, and for a term their sum plus 2 for the logarithm
    terms = joint * np.log(np.where(joint > 0, Q, 1) / np.where(joint > 0, outputs, 1))
    size = math.fsum(np.abs(terms).ravel())
    margin = (len(table) + 32) * UNIT * (1 + size)
    return math.fsum(terms.ravel()) + margin


ROUNDS, GAP, SHRINK = 100, 1e-17, 0.1
"""Maximum number of steps, the mean of p_x s_x to stop at, and its factor in a step."""

BITS = 50
"""Input probabilities are rounded to multiples of 2**-50."""

ZERO, NOTHING = Fraction(0), Enclosure.of(0)


@dataclass(frozen=True)
class Capacity:
    """The capacity of a channel, enclosed.

    Attributes
    ----------
    low, high
        Bounds in nats, both proved.
    prior
        The law of the input at which the channel carries ``low`` nats.
    """

    low: float
    high: float
    prior: Prior


def capacity(channel: Channel) -> Capacity:
    """Return the Shannon capacity of a channel: the largest I(X; Y) over all laws of the input.

    For any law p, with lambda = p Q the law of the output,

        I(p)  <=  capacity  <=  max_x Sum_y Q[x,y] ln(Q[x,y] / lambda_y),

    with equality at the optimal p, which an interior-point method approaches. Both sides are then
    evaluated in rationals, with logarithms rounded outward.

    Parameters
    ----------
    channel
        The channel.

    Notes
    -----
    Source: Shannon 1948; the bounds of Blahut 1972 and Arimoto 1972.

    Examples
    --------
    Warner's channel is symmetric: its capacity is ln 2 minus the entropy of a lie.

    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> found = capacity(warner)
    >>> round(found.low, 9), found.high - found.low < 1e-12
    (0.130812036, True)
    """
    channel = as_channel(channel)
    p = _best_law(channel.matrix)
    shares = np.maximum(1, np.round(p * 2.0**BITS)).astype(np.int64).tolist()
    shares[shares.index(max(shares))] += (1 << BITS) - sum(shares)
    law = [Fraction(share, 1 << BITS) for share in shares]
    divergences = _divergences(channel, law)
    carried = sum((w * d for w, d in zip(law, divergences, strict=True)), NOTHING).positive()
    most = max(ZERO, *(d.high for d in divergences))
    prior = Prior(dict(zip(channel.inputs.labels, law, strict=True)))
    return Capacity(carried.ends.low, float_above(most), prior)


def _best_law(Q: FloatArray) -> FloatArray:
    """Return a nearly optimal input law, by a primal-dual interior-point method.

    At the optimum the divergence d_x of each input, plus a slack s_x >= 0, is the capacity, and
    p_x s_x = 0. Each step solves these equations, linearized, with p_x s_x a tenth of its mean.
    """
    own = xlogy(Q, Q).sum(axis=1)
    k, sent = len(Q), Q.any(axis=0)
    Q = Q[:, sent]
    p, s, level = np.full(k, 1 / k), np.ones(k), 0.0
    for _ in range(ROUNDS):
        output = p @ Q
        d, mu = own - Q @ np.log(output), float(p @ s) / k
        if mu <= GAP:
            break
        w = np.sqrt(p)  # the unknowns are dp / w and -dl
        M = Q * w[:, None] / np.sqrt(output)
        system = np.block([[-(M @ M.T) - np.diag(s), w[:, None]], [w, np.zeros(1)]])
        right = np.append((level - d - SHRINK * mu / p) * w, 1 - p.sum())
        change = called("LAPACK", np.linalg.lstsq, system, right)[0]
        dp, dl = change[:-1] * w, -change[-1]
        ds = (SHRINK * mu - s * dp) / p - s
        step = min(1.0, 0.99 / max(float((-dp / p).max()), float((-ds / s).max()), 1e-300))
        p, s, level = p + step * dp, s + step * ds, level + step * dl
    return np.asarray(p / p.sum())


def _divergences(channel: Channel, law: list[Fraction]) -> list[Enclosure]:
    """Return Sum_y Q[x,y] ln(Q[x,y] / lambda_y) for each input."""
    sums = [NOTHING] * len(law)
    for column in channel.columns():
        output = sum((w * q for w, q in zip(law, column, strict=True)), ZERO)
        logs = {q: logarithm(q / output) for q in set(column) if q}
        sums = [v + logs[q] * q if q else v for v, q in zip(sums, column, strict=True)]
    return [v / channel.denominator for v in sums]
