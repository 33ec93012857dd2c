"""The central epsilon and delta of shuffled reports, from above, over all pairs of inputs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from mechdesign._typing import IntArray
from mechdesign.accounting.shuffling.blankets import (
    chernoff_deltas,
    delta_of_pair,
    delta_of_three_numbers,
)
from mechdesign.accounting.shuffling.comparisons import MOST_EPSILON, Comparison
from mechdesign.accounting.shuffling.crossings import COARSE, FINE, coarse_crossing, crossing
from mechdesign.accounting.shuffling.hidden import Hidden

__all__ = ["delta_above", "epsilon_above", "epsilon_by_three_numbers", "is_within"]

MARGINS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Steps above a guess, relative to it, of budgets that are proved."""


def _by_divergence(comparison: Comparison) -> IntArray:
    """Return the pairs, the one first that seems the worst: by chi-square, relative to B."""
    rows, least, (one, other) = comparison.rows, comparison.least, comparison.pairs.T
    weights = 1 / np.maximum(least, 1e-12)
    return np.argsort(-(((rows[one] - rows[other]) ** 2) @ weights), kind="stable")


def _open(
    comparison: Comparison, pairs: IntArray, n: int, epsilon: float, delta: float
) -> IntArray:
    """Return those of some pairs that a cheap bound does not put within a delta."""
    some = replace(comparison, pairs=comparison.pairs[pairs])
    return pairs[chernoff_deltas(some, n, epsilon) > delta]


def _pair_within(comparison: Comparison, pair: int, n: int, epsilon: float, delta: float) -> bool:
    at = partial(delta_of_pair, *comparison.rows_of(pair), comparison.least, n, epsilon)
    coarse = at(COARSE)
    if not delta < coarse <= (1 + 5 * COARSE) * delta:  # a finer lattice would say the same
        return coarse <= delta
    return at(FINE) <= delta


def _hidden(comparison: Comparison, pair: int, n: int, delta: float) -> Hidden | None:
    """Return the sharper bound where it applies."""
    if n < 2 or not comparison.complete:
        return None
    found = Hidden(comparison, pair, n, delta)
    return found if found.applies else None


def _hidden_epsilon(
    comparison: Comparison, pair: int, n: int, delta: float, blanket: float
) -> float:
    """Return an epsilon with which a pair is private, at most that of the blanket."""
    hidden = _hidden(comparison, pair, n, delta)
    guess = coarse_crossing(hidden.guess, delta, 0.0, blanket) if hidden else 0.0
    for tried in (guess * (1 + margin) for margin in MARGINS):
        if hidden and 0 < tried < blanket and hidden.is_within(tried):
            return tried
    return blanket


def _hidden_delta(
    comparison: Comparison, pair: int, n: int, epsilon: float, blanket: float
) -> float:
    """Return a delta with which a pair is private, at most that of the blanket."""
    hidden = _hidden(comparison, pair, n, blanket) if blanket > 0 else None
    tried = 1.02 * hidden.guess(epsilon) if hidden else math.inf
    while 0 < tried < blanket:
        hidden = _hidden(comparison, pair, n, tried)
        if hidden and hidden.is_within(epsilon):
            return tried
        tried *= 1.2
    return blanket


def is_within(comparison: Comparison, n: int, epsilon: float, delta: float) -> bool:
    """Whether n shuffled reports are surely within (epsilon, delta)."""
    if epsilon >= comparison.local_epsilon:
        return True
    left = _open(comparison, _by_divergence(comparison), n, epsilon, delta)
    for pair in left.tolist():
        if not _pair_within(comparison, pair, n, epsilon, delta):
            hidden = _hidden(comparison, pair, n, delta)
            if not hidden or hidden.guess(epsilon) > delta or not hidden.is_within(epsilon):
                return False
    return True


def epsilon_above(comparison: Comparison, n: int, delta: float) -> tuple[float, int]:
    """Return an epsilon with which n shuffled reports are private, and the pair that needs it.

    Pairs that a cheap bound puts within what others need are not computed.
    """
    found, worst = 0.0, 0
    end = min(comparison.local_epsilon, MOST_EPSILON)
    left = _by_divergence(comparison)
    while len(left):
        pair = int(left[0])
        if not _pair_within(comparison, pair, n, found, delta):
            if end == MOST_EPSILON and not _pair_within(comparison, pair, n, end, delta):
                return math.inf, pair
            at = partial(delta_of_pair, *comparison.rows_of(pair), comparison.least, n)
            blanket = crossing(at, delta, found, end, below=True)
            needed = _hidden_epsilon(comparison, pair, n, delta, blanket)
            if needed > found:
                found, worst = needed, pair
        left = _open(comparison, left[1:], n, found, delta)
    return found, worst


def delta_above(comparison: Comparison, n: int, epsilon: float) -> tuple[float, int]:
    """Return a delta with which n shuffled reports are private, and the pair that needs it."""
    found, worst = 0.0, 0
    if epsilon >= comparison.local_epsilon:
        return found, worst
    left = _by_divergence(comparison)
    while len(left):
        pair = int(left[0])
        delta = delta_of_pair(*comparison.rows_of(pair), comparison.least, n, epsilon, FINE)
        if delta > found:
            delta = _hidden_delta(comparison, pair, n, epsilon, delta)
        if delta > found:
            found, worst = delta, pair
        left = _open(comparison, left[1:], n, epsilon, found)
    return min(found, 1.0), worst


def epsilon_by_three_numbers(comparison: Comparison, n: int, delta: float) -> float:
    """Return the variation-ratio bound on the central epsilon; infinite where it gives no bound."""
    p, b, q = comparison.largest_ratio, comparison.largest_distance, comparison.largest_excess
    if not math.isfinite(p) or not math.isfinite(q):
        return math.inf
    at = partial(delta_of_three_numbers, p, b, q, n)
    return (
        crossing(at, delta, 0.0, comparison.local_epsilon, below=True)
        if at(0.0, FINE) > delta
        else 0.0
    )
