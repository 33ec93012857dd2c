"""The central epsilon of shuffled reports, over all pairs of inputs: from above and from below."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.accounting.shuffling.comparisons import MOST_PAIRS, Comparison
from mechdesign.accounting.shuffling.crossings import COARSE, FINE, coarse_crossing, crossing
from mechdesign.accounting.shuffling.deltas import (
    chernoff_deltas,
    delta_of_pair,
    delta_of_test,
    delta_of_three_numbers,
    others_for,
)
from mechdesign.accounting.shuffling.hidden import Hidden

__all__ = [
    "delta_above",
    "delta_below",
    "epsilon_above",
    "epsilon_below",
    "epsilon_by_three_numbers",
    "is_within",
    "local_epsilon",
]

MOST_EPSILON = 50.0
"""Central budgets beyond it are called infinite."""


MARGINS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Steps above a guess, relative to it, of budgets that are proved."""


def local_epsilon(comparison: Comparison) -> float:
    """Return the logarithm of the largest ratio, in nats, rounded up."""
    return math.nextafter(math.log(comparison.largest_ratio), math.inf)


def _by_divergence(comparison: Comparison) -> IntArray:
    """Return the pairs, the one first that seems the worst: by chi-square, relative to B."""
    rows, least, (one, other) = comparison.rows, comparison.least, comparison.pairs.T
    weights = 1 / np.maximum(least, 1e-12)
    return np.argsort(-(((rows[one] - rows[other]) ** 2) @ weights), kind="stable")


def _of(comparison: Comparison, pair: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    one, other = comparison.pairs[pair]
    return comparison.rows[one], comparison.rows[other], comparison.least


def _open(
    comparison: Comparison, pairs: IntArray, n: int, epsilon: float, delta: float
) -> IntArray:
    """Return those of some pairs that a cheap bound does not put within a delta."""
    some = replace(comparison, pairs=comparison.pairs[pairs])
    return pairs[chernoff_deltas(some, n, epsilon) > delta]


def _pair_within(comparison: Comparison, pair: int, n: int, epsilon: float, delta: float) -> bool:
    rows = _of(comparison, pair)
    coarse = delta_of_pair(*rows, n, epsilon, COARSE)
    if not delta < coarse <= (1 + 5 * COARSE) * delta:  # a finer lattice would say the same
        return coarse <= delta
    return delta_of_pair(*rows, n, epsilon, FINE) <= delta


def _hidden(comparison: Comparison, pair: int, n: int, delta: float) -> Hidden | None:
    """Return the sharper bound where it applies."""
    if n < 2 or not comparison.complete or len(comparison.pairs) > MOST_PAIRS:
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
    if epsilon >= local_epsilon(comparison):
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
    end = min(local_epsilon(comparison), MOST_EPSILON)
    left = _by_divergence(comparison)
    while len(left):
        pair = int(left[0])
        if not _pair_within(comparison, pair, n, found, delta):
            rows = _of(comparison, pair)
            if end == MOST_EPSILON and not _pair_within(comparison, pair, n, end, delta):
                return math.inf, pair
            at = partial(delta_of_pair, *rows, n)
            blanket = crossing(at, delta, found, end, below=True)
            needed = _hidden_epsilon(comparison, pair, n, delta, blanket)
            if needed > found:
                found, worst = needed, pair
        left = _open(comparison, left[1:], n, found, delta)
    return found, worst


def delta_above(comparison: Comparison, n: int, epsilon: float) -> tuple[float, int]:
    """Return a delta with which n shuffled reports are private, and the pair that needs it."""
    found, worst = 0.0, 0
    if epsilon >= local_epsilon(comparison):
        return found, worst
    left = _by_divergence(comparison)
    while len(left):
        pair = int(left[0])
        delta = delta_of_pair(*_of(comparison, pair), n, epsilon, FINE)
        if delta > found:
            delta = _hidden_delta(comparison, pair, n, epsilon, delta)
        if delta > found:
            found, worst = delta, pair
        left = _open(comparison, left[1:], n, epsilon, found)
    return min(found, 1.0), worst


def _witness(comparison: Comparison, pair: int) -> tuple[Comparison, int]:
    """Return a channel for the lower bound, and the pair in it."""
    return (comparison, pair) if comparison.attained is None else (comparison.attained, 0)


def delta_below(
    comparison: Comparison, pair: int, n: int, epsilon: float, loss: float = FINE
) -> float:
    """Return a delta that n shuffled reports need, by a test between the inputs of a pair."""
    real, pair = _witness(comparison, pair)
    first, second, _ = _of(real, pair)
    laws = others_for(real, tuple(real.pairs[pair]), n, epsilon)
    return max(delta_of_test(first, second, law, n, epsilon, loss) for law in laws)


def epsilon_below(comparison: Comparison, pair: int, n: int, delta: float, above: float) -> float:
    """Return an epsilon that n shuffled reports exceed, by a test between the inputs of a pair.

    ``above`` is an upper bound.
    """
    real, pair = _witness(comparison, pair)
    first, second, _ = _of(real, pair)
    if math.isinf(above) and first[second == 0].sum() * (1 - 1e-12) > delta:
        return math.inf  # all others hold the second input, and never send these reports
    end = min(above, MOST_EPSILON)
    tests = [
        partial(delta_of_test, first, second, law, n)
        for law in others_for(real, tuple(real.pairs[pair]), n, 0.98 * end)
    ]
    reached = [coarse_crossing(at, delta, 0.0, end) for at in tests]
    at = tests[int(np.argmax(reached))]
    return crossing(at, delta, 0.0, end, below=False) if at(0.0, FINE) > delta else 0.0


def epsilon_by_three_numbers(comparison: Comparison, n: int, delta: float) -> float:
    """Return the variation-ratio bound on the central epsilon; infinite where it says nothing."""
    p, b, q = comparison.largest_ratio, comparison.largest_distance, comparison.largest_excess
    if not math.isfinite(p) or not math.isfinite(q):
        return math.inf
    at = partial(delta_of_three_numbers, p, b, q, n)
    return (
        crossing(at, delta, 0.0, local_epsilon(comparison), below=True)
        if at(0.0, FINE) > delta
        else 0.0
    )
