"""The Shannon capacity of a channel, and the largest capacity under LDP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import xlogy

from mechdesign._typing import FloatArray
from mechdesign.accounting.measure.max_ratio import float_above
from mechdesign.channel import Channel, as_channel
from mechdesign.exact import Exact, exp_upper, log_lower, log_upper, whole_number
from mechdesign.exact.enclosures import Bounds, Enclosure, exponential, logarithm
from mechdesign.notions.base import budget
from mechdesign.prior import Prior
from mechdesign.solver_guard import called

ROUNDS, GAP, SHRINK = 100, 1e-17, 0.1
"""Maximum number of steps, the mean of p_x s_x to stop at, and its factor in a step."""

MOST_TRIED = 2000
"""Maximum number of inputs k' for which shares j / k' are tried."""

FARTHEST = 300.0
"""Larger exponents are replaced by this one in the guess of the best share."""

SMALL = 1e-4
"""Smaller budgets lose too many digits when the share is computed in floats."""

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


def ldp_capacity(epsilon: Exact, n_inputs: int) -> Bounds:
    """Return bounds on the capacity of the best channel under LDP, in nats, over all input laws.

    An extreme ray is e**eps on a set S of inputs and 1 on the others. At a law p its gain depends
    on m = 1 + (e**eps - 1) p(S) alone: it is c (1 - 1/m) - ln m with c = eps e**eps /
    (e**eps - 1), which is largest at m = c. The information of a channel is at most a mean of gains
    of rays, so for every law, every number of inputs and every private channel

        I(X; Y)  <=  c - 1 - ln c,

    and it is at most ln k. For the lower bound, subset selection of j out of k' <= k equally likely
    inputs has the gain at m = 1 + (e**eps - 1) j / k'; the bounds converge as k grows. The uniform
    law on all inputs is not always optimal: for three inputs and a small budget it is better to use
    two of them. For two inputs Warner's channel with the uniform law is optimal, and the bounds are
    equal up to rounding.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.
    n_inputs
        The number of inputs, at least 2.

    Notes
    -----
    Source: our own, based on the extreme rays of Kairouz, Oh and Viswanath 2016.

    Examples
    --------
    >>> ldp_capacity(1, 2)
    Bounds(low=0.1109440717..., high=0.1109440717...)
    >>> ldp_capacity(1, 1000)
    Bounds(low=0.1233015..., high=0.1233015...)
    """
    e = budget(epsilon)
    k = whole_number(n_inputs, "n_inputs", 2)
    if not e:
        return Bounds(0.0, 0.0)
    # c = e / (1 - e**-e) is below the first terms of its series; the information is at most ln k
    shrunk = exp_upper(-e)
    above = 1 + e / 2 + e * e / 12
    above = above if shrunk >= 1 else min(above, e / (1 - shrunk))
    most = min(log_upper(Fraction(k)), above - 1 - log_lower(above))  # rises with c, from c = 1
    shares = {Fraction(1, 2)}
    if k > 2:
        near = float(min(e, Fraction(FARTHEST)))
        best = Fraction(_best_share(near))
        sizes = {k, *range(2, min(k, MOST_TRIED) + 1)}
        found = {
            Fraction(j, n) for n in sizes for j in (int(best * n), int(best * n) + 1) if 0 < j < n
        }
        shares.add(min(found, key=lambda s: -_gain_in_floats(near, float(s))))
    gains = [_gain(e, share) for share in shares]
    if k == 2:
        most = min(most, gains[0].high)
    return Bounds(Bounds.largest(gain.positive().ends for gain in gains).low, float_above(most))


def _best_share(e: float) -> float:
    """Return the share of the inputs at which m = c, about 1/2 for small budgets."""
    if e < SMALL:
        return 0.5
    rise = math.expm1(e)
    return (e * (1 + 1 / rise) - 1) / rise


def _gain(e: Fraction, share: Fraction) -> Enclosure:
    """Return c (1 - 1/m) - ln m at a share of the inputs.

    With t = e**-eps and w = share + (1 - share) t, which is m t, it is
    share eps / w - ln(w e**eps) = -eps (1 - share) t / w - ln w.
    """
    t = exponential(-e)
    w = t * (1 - share) + share
    return -(t * e * (1 - share) / w) - logarithm(w)


def _gain_in_floats(e: float, share: float) -> float:
    w = share + (1 - share) * math.exp(-e)
    return share * e / w - e - math.log(w)
