"""The papers' formulas as they are stated, and the exact error and leakage of any matrix.

Binary priors are given by P = Pr(X = 1); matrices have a row for each input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mechdesign import LIP, Channel, Prior

Array = npt.NDArray[np.float64]


def claimed_lip(p: float, epsilon: float) -> float:
    """Return the error that CNS Theorem 2, (19) and (21), claims for one person."""
    shrink = math.exp(-epsilon)
    return p * (1 - p) * (2 * shrink - shrink**2)


def claimed_ldp(p: float, epsilon: float) -> float:
    """Return the error of Warner's randomized response, CNS Proposition 3, (20)."""
    e, variance = math.exp(epsilon), p * (1 - p)
    return variance - (variance * (1 - e)) ** 2 / ((1 - p + p * e) * (e - p * e + p))


def erasure(prior: Sequence[float] | Array, epsilon: float) -> Array:
    """Return the LIP randomized response: CNS Theorem 2, arXiv Theorems 3 and 5, TIFS (19)."""
    law, shrink = np.asarray(prior, dtype=float), math.exp(-epsilon)
    kept: Array = (1 - shrink) * np.eye(len(law)) + shrink * np.tile(law, (len(law), 1))
    return kept


def randomized_response(k: int, epsilon: float) -> Array:
    """Return the k-ary randomized response: "Opt-mimo-LDP" of arXiv, TIFS V-A (d)."""
    other = 1 / (math.exp(epsilon) + k - 1)
    found: Array = np.full((k, k), other) + (1 - k * other) * np.eye(k)
    return found


def flip(p: float, epsilon: float) -> float:
    """Return the flip probability of the symmetric model, CNS Proposition 4 (correct)."""
    e = math.exp(epsilon)
    return (1 - p) / (e - 2 * p + 1) if p <= 0.5 else p / (e + 2 * p - 1)


def symmetric(q: float) -> Array:
    """Return the channel that flips a bit with probability q."""
    return np.array([[1 - q, q], [q, 1 - q]])


def symmetric_error(p: float, epsilon: float) -> float:
    """Return the true error of the symmetric model's channel."""
    return posterior_error(symmetric(flip(p, epsilon)), [1 - p, p], [0, 1])


def printed_symmetric(p: float, epsilon: float) -> float:
    """Return CNS (23) as it is printed."""
    e = math.exp(epsilon)
    top = p * (1 - p) * (2 * e - e * p - 2 * p + 1) ** 2
    return p * (1 - p) - top / (e * e - 2 * e * p + e)


def uncertain_prior(a: float, b: float, epsilon: float) -> Array:
    """Return the optimum of TIFS IV-B for a prior Pr(X = 1) in [a, b]."""
    whole = b - a + math.exp(epsilon)
    one, zero = b / whole, (1 - a) / whole
    return np.array([[1 - one, one], [zero, 1 - zero]])


def oue_read(k: int, epsilon: float) -> Array:
    """Return unary encoding (TIFS V-A (e)) as a channel: a set bit at random, or any if none."""
    noise = 1 / (math.exp(epsilon) + 1)
    none = 0.5 * (1 - noise) ** (k - 1) / k
    # the mean of 1 / (1 + B) for B set bits among the k - 1 others
    shared = (1 - (1 - noise) ** k) / (k * noise)
    own = 0.5 * shared + none
    other = (1 - own) / (k - 1)
    found: Array = np.full((k, k), other) + (own - other) * np.eye(k)
    return found


def posterior_error(
    matrix: Array, prior: Sequence[float] | Array, f: Sequence[float] | Array
) -> float:
    """Return the error of the best estimate of f(X) from Y."""
    law, values = np.asarray(prior, dtype=float), np.asarray(f, dtype=float)
    output, seen = law @ matrix, (law * values) @ matrix
    used = output > 0
    return float(law @ values**2 - (seen[used] ** 2 / output[used]).sum())


def histogram_error(matrix: Array, prior: Sequence[float] | Array) -> float:
    """Return the error of the best estimate of the vector of indicators of X."""
    law = np.asarray(prior, dtype=float)
    output, joint = law @ matrix, law[:, None] * matrix
    used = output > 0
    return float(law.sum() - (joint[:, used] ** 2 / output[used]).sum())


def lip_ratio(matrix: Array, prior: Prior, epsilon: float) -> float:
    """Return the exact LIP leakage of a matrix over the budget; 1 at budget 0."""
    if epsilon == 0:
        return 1.0
    return LIP(epsilon).leakage(Channel.from_matrix(matrix), prior) / epsilon
