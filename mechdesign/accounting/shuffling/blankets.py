"""The delta of shuffled reports from above, by the blanket of Balle et al., for pairs of rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.accounting.shuffling.comparisons import SLACK, Comparison
from mechdesign.accounting.shuffling.lattice_sums import Part, positive_part
from mechdesign.exact import exp_lower, exp_upper

__all__ = ["chernoff_deltas", "delta_of_pair", "delta_of_three_numbers", "odds"]


def odds(epsilon: float, up: bool) -> float:
    """Return e**epsilon, rounded up or down."""
    exact = Fraction(epsilon)
    near = float(exp_upper(exact) if up else exp_lower(exact))
    return math.nextafter(near, math.inf if up else 0.0)


def _terms(
    first: FloatArray, second: FloatArray, least: FloatArray, epsilon: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what each report adds, its mass in the common part, and the part that is revealed.

    The terms are (P - e**epsilon P') / B, rounded up, and 0 with the mass that B leaves. A report
    with B = 0 can come from the compared input alone: it adds (P - e**epsilon P')_+. Rows of P and
    P' may be those of many pairs.
    """
    apart = first * (1 + SLACK) - odds(epsilon, up=False) * (1 - SLACK) * second
    shared = least > 0
    clear = np.maximum(apart[..., ~shared], 0).sum(axis=-1) * (1 + SLACK)
    terms = apart[..., shared] / least[shared]
    terms += SLACK * np.abs(terms)
    rest = max(1 - float(least.sum()) + SLACK * (2 + len(least)), 0.0)
    terms = np.concatenate([terms, np.zeros((*terms.shape[:-1], 1))], axis=-1)
    return terms, np.append(least[shared] * (1 + SLACK), rest), clear


def delta_of_pair(
    first: FloatArray,
    second: FloatArray,
    least: FloatArray,
    n: int,
    epsilon: float,
    tolerance: float,
) -> float:
    """Return an upper bound on the delta of n shuffled reports of which one differs.

        delta <= (1 / n) E[(Z_1 + ... + Z_n)_+],    Z = (P(Y) - e**epsilon P'(Y)) / B(Y),  Y ~ B

    with Z = 0 where the report is not drawn from the common part B of the rows, which has a mass
    below 1 (Balle et al. 2019, Lemma 5.3). The reports that are not drawn
    from B are revealed, with their senders.

    Parameters
    ----------
    first, second
        ``(n_reports,)`` the rows P and P' of the input that differs.
    least
        ``(n_reports,)`` B: at most the row of any input.
    n
        How many reports, at least 1.
    epsilon
        In nats.
    tolerance
        The relative loss from the lattice.
    """
    terms, masses, clear = _terms(first, second, least, epsilon)
    found = positive_part([Part(terms, masses, n)], tolerance)
    return found / n * (1 + SLACK) + float(clear)


def chernoff_deltas(comparison: Comparison, n: int, epsilon: float) -> FloatArray:
    """Return looser bounds for all pairs at once, by z_+ <= e**(t z - 1) / t for every t > 0.

    Returns
    -------
    ndarray
        ``(n_pairs,)`` upper bounds on :func:`delta_of_pair`.
    """
    rows, pairs = comparison.rows, comparison.pairs
    found = np.empty(len(pairs))
    for start in range(0, len(pairs), 256):
        first, second = rows[pairs[start : start + 256].T]
        terms, masses, clear = _terms(first, second, comparison.least, epsilon)
        scale = np.sqrt(n * (terms**2 @ masses)) + 1e-300
        top = np.maximum(terms.max(axis=1), 1e-300)
        best = np.full(len(terms), math.inf)
        for step in np.geomspace(0.5, 64, 29):
            tilt = np.minimum(step / scale, 600 / top)
            grown = np.log(np.exp(tilt[:, None] * terms) @ masses)
            best = np.minimum(best, n * grown - 1 - np.log(tilt))
        # each of the n factors is a sum of rounded terms, and of exponentials of up to 600
        best += n * (len(masses) + 700) * 2.0**-52
        found[start : start + 256] = (np.exp(np.minimum(best, 700)) / n + clear) * (1 + SLACK)
    return found


def delta_of_three_numbers(
    ratio: float, distance: float, excess: float, n: int, epsilon: float, tolerance: float
) -> float:
    """Return the variation-ratio bound on delta: from three numbers of a channel only.

    P and P' are at most p apart in ratio and b in total variation, and at most q times the
    probability at any other input. With a = b / (p - 1) it is enough to bound

        P = (p a, a, c),   P' = (a, p a, c),   B = (p a, p a, c) / q,   c = 1 - (p + 1) a,

    as in the proof at :func:`~mechdesign.accounting.shuffling.comparisons.compared`.

    Notes
    -----
    Source: Wang et al. 2023 (arXiv 2304.05007). There the third part of the
    common law is left out; with it, the bound also grows in b, by convex order.
    """
    if not math.isfinite(ratio) or not math.isfinite(excess):
        return 1.0
    if ratio <= 1 + SLACK:
        return max(distance, 0.0)
    a = min(distance / (ratio - 1) * (1 + SLACK), 1 / (ratio + 1))
    c = max(1 - (ratio + 1) * a, 0.0)
    first, second = np.array([ratio * a, a, c]), np.array([a, ratio * a, c])
    return delta_of_pair(
        first, second, np.maximum(first, second) / excess * (1 - SLACK), n, epsilon, tolerance
    )
