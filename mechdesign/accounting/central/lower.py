"""Lower bounds on the leakage of shuffled reports: a test between two data sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray, Int64Array
from mechdesign.accounting.central.comparisons import MOST_EPSILON, SLACK, Pair
from mechdesign.accounting.central.lattice_sums import (
    LARGEST,
    LOOSE,
    Part,
    SumLaw,
    is_spread,
    lattice_for,
    sum_law,
)
from mechdesign.accounting.central.upper import delta_of_pair, odds
from mechdesign.accounting.crossings import FINE, coarse_crossing, crossing

Test: TypeAlias = Callable[[float, float], float]
"""A lower bound on delta, at an epsilon and a tolerance."""


def delta_below(pair: Pair, n: int, epsilon: float) -> float:
    """Return a delta that n shuffled reports need, by a test between the inputs of a pair."""
    return max(test(epsilon, FINE) for test in _tests(pair.attained or pair, n, epsilon))


def epsilon_below(pair: Pair, n: int, delta: float, above: float) -> float:
    """Return an epsilon, at most ``above``, that n shuffled reports exceed, by a test of a pair."""
    pair = pair.attained or pair
    if math.isinf(above) and pair.first[pair.second == 0].sum() * (1 - 1e-12) > delta:
        return math.inf  # all others hold the second input, and never send these reports
    end = min(above, MOST_EPSILON)
    tests = _tests(pair, n, 0.98 * end)
    at = tests[int(np.argmax([coarse_crossing(test, delta, 0.0, end) for test in tests]))]
    return crossing(at, delta, 0.0, end, below=False) if at(0.0, FINE) > delta else 0.0


def _tests(pair: Pair, n: int, epsilon: float) -> list[Test]:
    """Return the best few tests between two rows, as functions of epsilon.

    The others report by one of the rows, or by the mean of the rows that are not compared.
    """
    rows = pair.rows
    rest = rows[(rows != pair.first).any(axis=1) & (rows != pair.second).any(axis=1)]
    laws = [*rows, rest.mean(axis=0)] if len(rest) > 1 else rows
    among = [replace(pair, least=law) for law in laws]
    among.sort(key=lambda pair: -delta_of_pair(pair, n, epsilon, LOOSE))
    return [partial(delta_of_test, pair, n) for pair in among[:3]]


def delta_of_test(pair: Pair, n: int, epsilon: float, tolerance: float) -> float:
    """Return a lower bound on the delta of n shuffled reports: the advantage of one test.

    The others report by one law R = ``pair.least``: they all hold one input, or random inputs, and
    then some fixed inputs are at least as bad. The best test accepts if the sum of
    Z = (P - e**epsilon P') / R over the reports is positive (Neyman and Pearson); this test rounds
    Z to a lattice first, so that its error probabilities can be computed:

        delta >= Sum_y (P(y) - e**epsilon P'(y)) Pr(S > t - s(y)),    S the sum of n - 1 scores
    """
    apart = pair.first * (1 - SLACK) - odds(epsilon, up=True) * (1 + SLACK) * pair.second
    shared = pair.least > 0
    clear = float(np.maximum(apart[~shared], 0).sum()) * (1 - SLACK)
    apart, masses = apart[shared], pair.least[shared]
    if n == 1:
        return float(np.maximum(apart, 0).sum()) * (1 - SLACK) + clear
    terms = apart / masses
    if not is_spread(terms) or terms.max() > LARGEST:
        return clear
    (kept,), tilt, spacing = lattice_for([Part(terms, masses, n)], tolerance)
    scores = np.rint(kept.values / spacing)  # a test that is almost the same
    law = sum_law([Part(scores, masses, n - 1)], tilt * spacing)
    return _best_threshold(law, scores.astype(np.int64), apart) + clear


def _best_threshold(law: SumLaw, scores: Int64Array, gains: FloatArray) -> float:
    """Return the largest proved lower bound on Sum_y gains_y Pr(S > t - scores_y) over t.

    With r the score of the largest gain in size, it is (Sum_y gains_y) Pr(S > t - r), and for each
    y gains_y times the mass between t - scores_y and t - r. (Places below the window count as its
    end.) Of many reports the gains nearly cancel, these masses are small, and so are their errors.
    """
    start = law.low
    if law.theta > 0:  # further down the weights overflow, and nearly all mass is above
        start = max(start, min(law.high, law.center - math.floor(600 / law.theta)))
    places, masses = np.arange(start, law.high + 1), law.masses[start - law.low :]
    weights = np.exp(-law.theta * (places - law.center))
    above, heavier = np.zeros((2, len(places) + 1))
    above[:-1] = np.cumsum((masses * weights)[::-1])[::-1]  # Pr(S >= place) by the scale
    heavier[:-1] = np.cumsum(weights[::-1])[::-1]
    # bounds on the errors from rounding, from wrapped mass and from missing tails
    heavier *= law.pointwise * (1.02 + law.relative)
    fixed = (len(places) * 2.0**-51 + 1e-12) * above
    fixed += sum(law.outside) * (1.02 + law.relative) * np.append(weights, weights[-1])
    sure = math.exp(-law.log_scale) if law.log_scale > -600 else math.inf  # 1 by the scale
    thresholds = np.arange(start + int(scores.min()), law.high + int(scores.max()) + 1)
    total, largest = math.fsum(gains.tolist()), int(scores[np.abs(gains).argmax()])
    at = np.clip(thresholds - largest - start + 1, 0, len(places))
    wrong = law.relative * above[at] + heavier[at] + fixed[at]
    surely = total * above[at] - abs(total) * wrong
    most = sure * (1 + law.relative) - above[at] + wrong
    for score, gain in zip(scores.tolist(), gains.tolist(), strict=True):
        index = thresholds - score - start + 1
        held = np.clip(index, 0, len(places))
        between = above[held] - above[at]
        if gain < 0:  # below the window the only bound is 1
            between = np.where(index < 0, most, between)
        wrong = law.relative * np.abs(between) + np.abs(heavier[held] - heavier[at])
        surely += gain * between - abs(gain) * (wrong + fixed[held] + fixed[at])
    best = float(surely.max())
    if not best > 0:
        return 0.0
    return math.exp(math.log(best) + law.log_scale) * (1 - law.relative - 1e-12)
