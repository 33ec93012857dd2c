"""CNS Fig. 7: the same four models where each person has a prior of their own.

Source: Jiang et al. 2018 (CNS), Section V-A.3: N = 5, 500, 50,000 people, chances uniform on
[0, 1], drawn once; synthetic, seeded. For 5 people each optimum is certified; for more the same
closed form (the binary universal channel) is evaluated for all at once. (arXiv Fig. 8, which adds a
trusted server, is in ``benchmarks/figures_accounting.py``.) The published LIP curve is that of
channels of which many leak more than their budget, some without limit as a chance nears 0 or 1.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.figures_accounting import ldp_error, lip_error, misfits
from benchmarks.papers.base import CLAIM, SAME, Experiment, Pair, Panel, Row
from benchmarks.papers.surveys import BUDGET, HALF, LDP, LIP, ROOT, SYMMETRIC, panels
from mechdesign import Prior

SIZES = (5, 500, 50_000)


def chances(n: int) -> np.ndarray:
    """Return the priors of N people."""
    return np.random.default_rng(7).random(n).clip(1e-6, 1 - 1e-6).round(6)


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    x = [1.0, 4.0] if quick else [n / 2 for n in range(21)]
    people = chances(SIZES[0]).tolist()
    few = [(Prior([round(1 - p, 6), p]), 1 / len(people)) for p in people]
    pairs = [panels("N = 5", few, x)]
    pairs += [crowd(n, x) for n in (SIZES[1:2] if quick else SIZES[1:])]
    return [ours for ours, _ in pairs], [published for _, published in pairs]


def crowd(n: int, x: list[float]) -> tuple[Panel, Panel]:
    """Return (ours, published) for many people."""
    p = chances(n)

    def root(total: float) -> float:
        return math.sqrt(max(total, 0.0) / n)

    def claimed(e: float) -> float:
        return float((p * (1 - p)).sum()) * (1 - math.expm1(-e) ** 2)

    mirrored = np.minimum(p, 1 - p)  # the model is the same after swapping the answers
    flipped = [symmetric_total(mirrored, e / 2) for e in x]
    ours = {
        LDP: [root(ldp_error(p, e)) for e in x],
        LIP: [root(lip_error(p, e)) for e in x],
        HALF: [root(lip_error(p, e / 2)) for e in x],
        SYMMETRIC: [root(total) for total in flipped],
    }
    published = {
        LDP: [root(published_ldp(p, e)) for e in x],
        LIP: [root(claimed(e)) for e in x],
        HALF: [root(claimed(e / 2)) for e in x],
        SYMMETRIC: [root(total) for total in flipped],
    }
    least = float(mirrored.min())
    leakage = {
        LIP: [worst(least, e) for e in x],
        HALF: [worst(least, e / 2) for e in x],
    }
    relations = {LDP: SAME, LIP: CLAIM, HALF: CLAIM, SYMMETRIC: SAME}
    title = f"N = {n}"
    return (
        Panel(title, BUDGET, ROOT, x, ours, {}, relations),
        Panel(title, BUDGET, ROOT, x, published, leakage, relations),
    )


def worst(least: float, epsilon: float) -> float:
    """Return the leakage of the formula over the budget, for the most certain person."""
    if epsilon == 0:
        return 1.0
    lift = (-math.expm1(-epsilon) + least * math.exp(-epsilon)) / least
    return max(1.0, math.log(lift) / epsilon)


def published_ldp(p: np.ndarray, epsilon: float) -> float:
    """Return CNS (20)."""
    e, variance = math.exp(epsilon), p * (1 - p)
    gain = (variance * (1 - e)) ** 2 / ((1 - p + p * e) * (e - p * e + p))
    return float((variance - gain).sum())


def symmetric_total(p: np.ndarray, epsilon: float) -> float:
    """Return the error of the symmetric model, chances at most one half."""
    q = (1 - p) / (math.exp(epsilon) - 2 * p + 1)
    y, variance = p * (1 - q) + (1 - p) * q, p * (1 - p)
    return float((variance - (variance * (1 - 2 * q)) ** 2 / (y * (1 - y))).sum())


def rows(pair: Pair) -> list[Row]:
    """Return the number of wins of each, and of channels that are not private."""
    found = []
    for ours, published in zip(*pair, strict=True):
        found += [
            Row(
                "CNS, Fig. 7",
                f"√(MSE/N), {name}, {ours.title}, ε = 1",
                published.at(name, 1),
                ours.at(name, 1),
                f"the formula leaks up to {published.leakage[name][published.x.index(1.0)]:.1f}"
                " times its budget for these people"
                if name in published.leakage
                else "",
            )
            for name in (LDP, LIP, HALF, SYMMETRIC)
        ]
    share = misfits(chances(SIZES[-1]), 1.0)
    found.append(
        Row(
            "CNS, Fig. 7",
            "share of people for whom Theorem 2 is private at ε = 1",
            1.0,
            1 - share,
            "Theorem 2 is stated for every prior; it is private where min(P, 1−P) ≥ 1/(e^ε+1),"
            " for uniform P a share of (e^ε−1)/(e^ε+1) = 0.462",
        )
    )
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours, published = pair[0][0], pair[1][0]
    return (
        "Chances uniform on [0, 1], seeded; crosses: not private for someone. Published at N = 5,"
        f" ε = 1: LIP {published.at(LIP, 1):.4f}, LIP at ε/2 {published.at(HALF, 1):.4f}; certified"
        f" {ours.at(LIP, 1):.4f} and {ours.at(HALF, 1):.4f}, where LDP has {ours.at(LDP, 1):.4f}."
        "\nCorrected, LIP at ε/2 is never below LDP, as theory says: ε/2-LIP implies ε-LDP."
    )


EXPERIMENT = Experiment(
    "cns_figure_7",
    "CNS Fig. 7: each person a prior of their own",
    "synthetic: seeded uniform chances",
    run,
    rows,
    caption,
    columns=3,
)
