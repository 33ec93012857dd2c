"""Evidence for a bound on loss where information has a price: Blahut's and Arimoto's iteration."""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray

__all__ = ["least_with_levels", "levels"]


ROUNDS, SETTLED = 5_000, 1e-14
FAINT = 1e-9
"""Outputs start with at least this share, so that none is ruled out."""


def levels(reduced: FloatArray, prior: FloatArray, law: FloatArray, price: float) -> FloatArray:
    """Return levels b that make the checker's bound on loss and information large.

    With d = reduced / P the bound is Sum_x P_x b_x - v ln max_y Sum_x P_x exp((b_x - d[x,y]) / v).
    It is attained by b_x = -v ln Sum_y law_y exp(-d[x,y] / v) at the best law of the output, which
    Blahut's and Arimoto's iteration approaches from the solver's.

    Parameters
    ----------
    reduced
        ``(n_inputs, n_outputs)`` costs with the weights of all other constraints.
    prior
        ``(n_inputs,)``.
    law
        ``(n_outputs,)``: the law of the output that the solver found.
    price
        v > 0, the price of a nat.
    """
    likely = prior > 0
    P = prior[likely]
    d = reduced[likely] / P[:, None]
    least = d.min(axis=1)
    E = np.exp(-(d - least[:, None]) / price)
    mu = np.maximum(law, FAINT)
    mu /= mu.sum()
    best, lowest = np.zeros(len(P)), np.inf
    for _ in range(ROUNDS):
        Z = E @ mu
        excess = (P / Z) @ E
        if excess.max() < lowest:
            lowest, best = float(excess.max()), Z
        if lowest <= 1 + SETTLED:
            break
        mu = mu * excess
    found = np.zeros(len(prior))
    found[likely] = least - price * np.log(best)
    return found


def least_with_levels(reduced: FloatArray, prior: FloatArray, b: FloatArray, price: float) -> float:
    """Return the bound on loss and information that levels b give, in floating point."""
    likely = prior > 0
    P = prior[likely]
    exponent = (b[likely, None] - reduced[likely] / P[:, None]) / price
    top = float(exponent.max())
    most = price * (top + np.log((P @ np.exp(exponent - top)).max()))
    return float(P @ b[likely] - most + reduced[~likely].min(axis=1).sum())
