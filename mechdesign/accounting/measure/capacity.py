"""The Shannon capacity of a channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import xlogy

from mechdesign._typing import FloatArray
from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.channel import Channel, as_channel
from mechdesign.exact.enclosures import Enclosure, logarithm
from mechdesign.prior import Prior
from mechdesign.solver_guard import called

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
