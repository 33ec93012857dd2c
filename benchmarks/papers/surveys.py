"""A survey of one bit: the four curves that the figures of CNS and arXiv share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from benchmarks.papers.base import CLAIM, SAME, Panel
from benchmarks.papers.formulas import (
    claimed_ldp,
    claimed_lip,
    erasure,
    lip_ratio,
    posterior_error,
    symmetric,
    symmetric_error,
)
from benchmarks.papers.optimum import ldp_bit, lip_bit
from mechdesign import Prior

LIP, HALF, LDP, SYMMETRIC = "LIP at ε", "LIP at ε/2", "LDP at ε", "symmetric LIP at ε/2"
ROOT, BUDGET = "√(MSE / N)", "ε, nats"

People = Sequence[tuple[Prior, float]]
"""Priors, each with its share of the people."""

Error = Callable[[Prior, float], float]
"""The error of one person's bit, by the prior and the budget."""


def panels(
    title: str,
    people: People,
    epsilons: Sequence[float],
    names: Sequence[str] = (LDP, LIP, HALF, SYMMETRIC),
    log: str = "",
) -> tuple[Panel, Panel]:
    """Return (ours, published) for a survey of one bit, Pr(X = 1) = prior[1]."""
    ours: dict[str, list[float]] = {}
    published: dict[str, list[float]] = {}
    leakage: dict[str, list[float]] = {}
    for name in names:
        true, claimed, part = CURVES[name]
        ours[name] = [root(people, true, e * part) for e in epsilons]
        published[name] = [root(people, claimed, e * part) for e in epsilons]
        if true is lip_bit:
            leakage[name] = [worst_ratio(people, e * part) for e in epsilons]
    relations = {name: CLAIM if name in leakage else SAME for name in names}
    x = list(map(float, epsilons))
    return (
        Panel(title, BUDGET, ROOT, x, ours, {}, relations, log),
        Panel(title, BUDGET, ROOT, x, published, leakage, relations, log),
    )


def root(people: People, error: Error, epsilon: float) -> float:
    """Return the root of the mean error."""
    return math.sqrt(max(sum(share * error(law, epsilon) for law, share in people), 0.0))


def worst_ratio(people: People, epsilon: float) -> float:
    """Return the largest leakage of the published formula over the budget."""
    return max(
        lip_ratio(erasure(law.array, epsilon), law, epsilon)
        for law, share in people
        if share and law.minimum
    )


def least_flip(p: float, epsilon: float) -> float:
    """Return the least flip probability that LIP allows, by bisection on the exact lifts."""

    def leaks(q: float) -> float:
        one = p * (1 - q) + (1 - p) * q
        lifts = [law / row for law in (one, 1 - one) for row in (q, 1 - q)]
        return max(abs(math.log(lift)) for lift in lifts)

    low, high = 0.0, 0.5
    for _ in range(200):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (low, middle) if leaks(middle) <= epsilon else (middle, high)
    return high


def symmetric_bit(prior: Prior, epsilon: float) -> float:
    """Return the least error of a channel that flips the bit."""
    p = float(prior[1])
    if p in {0.0, 1.0}:
        return 0.0
    return posterior_error(symmetric(least_flip(p, epsilon)), [1 - p, p], [0, 1])


def by_share(formula: Callable[[float, float], float]) -> Error:
    """Return a formula in Pr(X = 1) as one in the prior."""
    return lambda law, epsilon: formula(float(law[1]), epsilon)


CURVES: dict[str, tuple[Error, Error, float]] = {
    LDP: (ldp_bit, by_share(claimed_ldp), 1.0),
    LIP: (lip_bit, by_share(claimed_lip), 1.0),
    HALF: (lip_bit, by_share(claimed_lip), 0.5),
    SYMMETRIC: (symmetric_bit, by_share(symmetric_error), 0.5),
}
"""By name: the least error, the published one, and the part of epsilon that it is given."""


def crossing(p: float, low: float = 0.5, high: float = 20.0) -> float:
    """Return up to which epsilon the claimed error at epsilon/2 is below that of LDP."""
    for _ in range(100):
        middle = (low + high) / 2
        below = claimed_lip(p, middle / 2) < claimed_ldp(p, middle)
        low, high = (middle, high) if below else (low, middle)
    return low
