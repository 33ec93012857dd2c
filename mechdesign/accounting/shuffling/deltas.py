"""The delta of shuffled reports at an epsilon: from above by blankets, from below by tests."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.accounting.shuffling.comparisons import SLACK, Comparison
from mechdesign.accounting.shuffling.lattice_sums import (
    LARGEST,
    Part,
    SumLaw,
    clipped,
    is_spread,
    positive_part,
    spacing_for,
    sum_law,
)
from mechdesign.exact import exp_lower, exp_upper

__all__ = [
    "chernoff_deltas",
    "delta_of_pair",
    "delta_of_test",
    "delta_of_three_numbers",
    "others_for",
]


def odds(epsilon: float, up: bool) -> float:
    """Return e**epsilon, rounded up or down."""
    exact = Fraction(epsilon)
    near = float(exp_upper(exact) if up else exp_lower(exact))
    return math.nextafter(near, math.inf if up else 0.0)


def _terms(
    first: FloatArray, second: FloatArray, least: FloatArray, epsilon: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what each report adds, its mass in the common part, and what is told in the clear.

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
    below 1 (Balle et al. 2019, Lemma 5.3). Who does not draw from B is told, with the report.

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


def delta_of_test(
    first: FloatArray,
    second: FloatArray,
    others: FloatArray,
    n: int,
    epsilon: float,
    tolerance: float,
) -> float:
    """Return a lower bound on the delta of n shuffled reports: what one test tells apart.

    The others report by one law R: they all hold one input, or inputs drawn at random, and then
    some fixed inputs are at least as bad. The best test says yes where the sum of Z = (P -
    e**epsilon P') / R over the reports is above 0 (Neyman and Pearson); this one rounds Z to a
    lattice first, so that its errors are known:

        delta >= Sum_y (P(y) - e**epsilon P'(y)) Pr(S > t - s(y)),    S the sum of n - 1 scores

    Parameters
    ----------
    first, second
        ``(n_reports,)`` the rows P and P' of the input that differs.
    others
        ``(n_reports,)`` the law R.
    n, epsilon, tolerance
        As for :func:`delta_of_pair`.
    """
    apart = first * (1 - SLACK) - odds(epsilon, up=True) * (1 + SLACK) * second
    shared = others > 0
    clear = float(np.maximum(apart[~shared], 0).sum()) * (1 - SLACK)
    apart, masses = apart[shared], others[shared]
    if n == 1:
        return float(np.maximum(apart, 0).sum()) * (1 - SLACK) + clear
    terms = apart / masses
    if not is_spread(terms) or terms.max() > LARGEST:
        return clear
    parts, tilt = clipped([Part(terms, masses, n)])  # another test, that hardly ever differs
    spacing = spacing_for(parts, tilt, tolerance)
    scores = np.rint(parts[0].values / spacing)
    law = sum_law([Part(scores, masses, n - 1)], tilt * spacing)
    return _best_threshold(law, scores.astype(np.int64), apart) + clear


def _best_threshold(law: SumLaw, scores: Int64Array, gains: FloatArray) -> float:
    """Return the most that Sum_y gains_y Pr(S > t - scores_y) surely is, over t."""
    start = law.low
    if law.theta > 0:  # further down the weights overflow, and next to all mass is above
        start = max(start, min(law.high, law.center - math.floor(600 / law.theta)))
    places, masses = np.arange(start, law.high + 1), law.masses[start - law.low :]
    weights = np.exp(-law.theta * (places - law.center))
    above = np.zeros(len(places) + 1)  # Pr(S >= place) by the scale
    above[:-1] = np.cumsum((masses * weights)[::-1])[::-1]
    # what each mass, the wrapped and the missing tails may add or take
    wrong = np.append(np.cumsum(weights[::-1])[::-1] * law.pointwise, 0.0)
    wrong += sum(law.outside) * np.append(weights, weights[-1])
    sure = math.exp(min(-law.log_scale, 600.0)) * (1 + law.relative)  # 1 by the scale
    thresholds = np.arange(start + int(scores.min()), law.high + int(scores.max()) + 1)
    surely = np.zeros(len(thresholds))
    rounded = law.relative + len(places) * 2.0**-51 + 1e-12
    for score, gain in zip(scores.tolist(), gains.tolist(), strict=True):
        index = thresholds - score - start + 1
        held = np.clip(index, 0, len(places))
        part = gain * above[held]
        if gain < 0:  # below the window no more is known than that it is at most 1
            part[index < 0] = gain * sure
        surely += part - np.abs(part) * rounded - 1.02 * abs(gain) * wrong[held]
    best = float(surely.max())
    if not best > 0:
        return 0.0
    return math.exp(math.log(best) + law.log_scale) * (1 - law.relative - 1e-12)


def others_for(
    comparison: Comparison, pair: tuple[int, int], n: int, epsilon: float
) -> list[FloatArray]:
    """Return laws of the other reports, the best few for a test between two rows.

    They are the rows, and the mean of those that are not compared.
    """
    rows = comparison.rows
    first, second = rows[pair[0]], rows[pair[1]]
    rest = np.delete(rows, pair, axis=0)
    laws = np.vstack([rows, rest.mean(axis=0)[None]]) if len(rest) > 1 else rows
    guessed = []
    for law in laws:
        one = Comparison(np.array([first, second]), law, np.array([[0, 1]]), ())
        guessed.append(float(chernoff_deltas(one, n, epsilon)[0]))
    return [laws[n] for n in np.argsort(guessed)[::-1][:3]]


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
