"""The Blahut–Arimoto algorithm: potentials that bound a loss plus a multiple of the information.

A multiplier v of a bound on I(X; Y) gives the problem of a rate-distortion function. Its dual, with
d = cost / P, is to maximize over potentials b

    Sum_x P_x b_x - v ln max_y Sum_x P_x exp((b_x - d[x, y]) / v),

and any b gives a bound. The maximum is at b_x = -v ln Sum_y m_y exp(-d[x, y] / v) with m the best
output distribution, to which the algorithm converges: m_y is multiplied by the sum in the dual,
which is at most 1 at the optimum.

Source: Blahut 1972; Arimoto 1972.
"""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray

ROUNDS, TOLERANCE = 5_000, 1e-14

LEAST_SHARE = 1e-9
"""The least initial probability of an output: a probability of 0 would stay 0."""


def best_potentials(
    reduced: FloatArray, prior: FloatArray, output_distribution: FloatArray, multiplier: float
) -> FloatArray:
    """Return potentials with a large bound, ``(n_inputs,)``; 0 for inputs of prior 0.

    Parameters
    ----------
    reduced
        ``(n_inputs, n_outputs)`` costs P_x d[x, y], reduced by the multipliers of all other rows.
    prior
        ``(n_inputs,)``.
    output_distribution
        ``(n_outputs,)``: the starting point, such as that of a solver's channel.
    multiplier
        v > 0, the multiplier of the bound on the information.
    """
    likely = prior > 0
    P = prior[likely]
    d = reduced[likely] / P[:, None]
    least = d.min(axis=1)
    E = np.exp(-(d - least[:, None]) / multiplier)
    m = np.maximum(output_distribution, LEAST_SHARE)
    m /= m.sum()
    best, lowest = np.zeros(len(P)), np.inf
    for _ in range(ROUNDS):
        Z = E @ m
        excess = (P / Z) @ E  # the sum in the dual for every output, at the potentials -v ln Z
        if excess.max() < lowest:
            lowest, best = float(excess.max()), Z
        if lowest <= 1 + TOLERANCE:
            break
        m = m * excess
    found = np.zeros(len(prior))
    found[likely] = least - multiplier * np.log(best)
    return found


def potential_bound(
    reduced: FloatArray, prior: FloatArray, potentials: FloatArray, multiplier: float
) -> float:
    """Return the value of the dual at some potentials, in floating point."""
    likely = prior > 0
    P, b = prior[likely], potentials[likely]
    exponent = (b[:, None] - reduced[likely] / P[:, None]) / multiplier
    top = float(exponent.max())  # taken out of the exponential, which could overflow
    largest = multiplier * (top + np.log((P @ np.exp(exponent - top)).max()))
    return float(P @ b - largest + reduced[~likely].min(axis=1).sum())
