"""TIFS Fig. 7: the sampling mechanism for three laws, and the best pure LIP beside it.

Source: Jiang et al. 2021 (TIFS), Section IV-C.1. Synthetic; the parameters of the three laws are
not printed, so they are Beta(2, 5), N(0.5, 0.2²) and the uniform law on [0, 1] here. The error is
that of the figure, the mean absolute one, in expectation: (1 − λ) E|X − X'|. The published curve
has the λ of Proposition 2; ours has the largest λ by the exact (ε, δ), bisected: the same.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.stats import beta, norm, uniform

from benchmarks.papers.base import SAME, Experiment, Pair, Panel, Row
from benchmarks.papers.continuous_data import BEST, designed, mean_difference
from mechdesign.accounting import SamplingMechanism

LAWS = {"Beta(2, 5)": beta(2, 5), "N(0.5, 0.2²)": norm(0.5, 0.2), "uniform": uniform()}
DELTA, EPSILON = 0.01, 2.0


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    budgets = [2.0] if quick else [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0]
    deltas = [0.01] if quick else [0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0]
    points = 500 if quick else 4000
    laws = {name: law.ppf((np.arange(points) + 0.5) / points) for name, law in LAWS.items()}
    spread = {name: mean_difference(sample) for name, sample in laws.items()}
    near = (0.2, None) if quick else (0.005, 30.0)
    ours, published = [], []
    for title, axis, x, at in (
        (f"(a) δ = {DELTA}", "ε", budgets, [(e, DELTA) for e in budgets]),
        (f"(b) ε = {EPSILON:g}", "δ", deltas, [(EPSILON, d) for d in deltas]),
    ):
        best = {name: [(1 - largest(e, d)) * size for e, d in at] for name, size in spread.items()}
        pure = {
            e: {name: float(designed(law, e, *near).value) for name, law in laws.items()}
            for e, _ in set(at)
        }
        best |= {f"{name}: {BEST}": [pure[e][name] for e, _ in at] for name in laws}
        paper = {n: [(1 - proposition_2(e, d)) * s for e, d in at] for n, s in spread.items()}
        relations = dict.fromkeys(laws, SAME)
        ours.append(Panel(title, axis, "mean absolute error", x, best, {}, relations))
        published.append(Panel(title, axis, "mean absolute error", x, paper, {}, relations))
    return ours, published


def proposition_2(epsilon: float, delta: float) -> float:
    """Return the λ of Proposition 2."""
    shrunk = math.exp(-epsilon)
    return min(delta / shrunk, 1 - shrunk + delta * shrunk, 1.0)


def largest(epsilon: float, delta: float) -> float:
    """Return the largest λ whose exact delta is within the given one, by bisection."""
    low, high = Fraction(0), Fraction(1)
    for _ in range(40):
        middle = (low + high) / 2
        if SamplingMechanism(middle).delta(epsilon).high <= delta * (1 + 1e-12):
            low = middle
        else:
            high = middle
    return float(high)


def rows(pair: Pair) -> list[Row]:
    """Return λ, and the errors at one point."""
    ours, published = (side[0] for side in pair)
    e = 2.0
    found = [
        Row(
            "TIFS, Proposition 2",
            f"largest λ, ε = {e:g}, δ = {d:g}",
            proposition_2(e, d),
            largest(e, d),
        )
        for d in (0.001, DELTA, 0.5)
    ]
    for name in LAWS:
        quantity = f"mean absolute error, {name}, δ = {DELTA}, ε = {e:g}"
        found.append(Row("TIFS, Fig. 7", quantity, published.at(name, e), ours.at(name, e)))
        why = "sampling releases X or nothing of it; the best channel needs no δ at all"
        pure = ours.at(f"{name}: {BEST}", e)
        found.append(Row("TIFS, Fig. 7", f"{quantity}, best", published.at(name, e), pure, why))
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours = pair[0][0]
    name = next(iter(LAWS))
    return (
        "λ of Proposition 2 is the largest, by proof and by bisection. Designed: the best kernel of"
        f" pure ε-LIP on the same law, which needs no δ: {name}, ε = 2: {ours.at(name, 2):.4f} by"
        f" sampling at δ = {DELTA}, {ours.at(f'{name}: {BEST}', 2):.4f} designed at δ = 0."
    )


EXPERIMENT = Experiment(
    "tifs_figure_7",
    "TIFS Fig. 7: the sampling mechanism",
    "synthetic: three laws, parameters ours",
    run,
    rows,
    caption,
)
