"""TIFS Fig. 9: the noise that inputs of different rarity need.

Source: Jiang et al. 2021 (TIFS), Section IV-C.2, Corollary 10. Synthetic: X ~ N(0, 5²), δ = 1e-4.
The published curves take each x by itself; ours is the least noise for all inputs up to |x|,
between two proofs, which is the same. If every input has its own noise, though, the reports have
none of the laws that Corollary 10 takes them to have: what that leaks is in the second panel,
enclosed, with the noise of each of eight bins of |x| ≤ 10 by the corollary at the far end.
The third panel has what the noise costs, E|N|, beside the best kernel of pure LIP for X confined to
|x| ≤ r: it is (ε, δ)-LIP there for every δ, though for the law on the range, not on the whole line.
"""

from __future__ import annotations

import numpy as np

import mechdesign as md
from benchmarks.papers.base import Experiment, Pair, Panel, Row
from benchmarks.papers.continuous_data import BEST, ROOT, corollary_10, designed_normal
from mechdesign import GaussianMixture
from mechdesign.accounting import (
    GaussianMechanism,
    analytic_gaussian_deviation,
    least_deviation,
)

LAW, DELTA = GaussianMixture.normal(0, 5), 1e-4
INPUTS = (2.0, 5.0, 10.0)
LDP = "LDP, |x| ≤ 10"
BY_INPUT = "noise by the input"


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    x = [1.0] if quick else [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0]
    names = {f"|x| = {reach:g}": reach for reach in (INPUTS[1:2] if quick else INPUTS)}
    ours = {
        name: [
            least_deviation(
                LAW, [-r, r], e, DELTA, truncated=False, relative=0.05 if quick else 1e-3
            ).high
            for e in x
        ]
        for name, r in names.items()
    }
    ours[LDP] = [analytic_gaussian_deviation(e, DELTA, 20).high for e in x]
    published = {n: [corollary_10(LAW, r, e, DELTA) for e in x] for n, r in names.items()}
    bins = 4 if quick else 8
    leaked = [instance_dependent(e, bins).delta(e, DELTA / 10).high for e in x]
    first, second = "(a) least noise, δ = 0.0001", "(b) δ of noise that depends on x, |x| ≤ 10"
    ratios = {BY_INPUT: [d / DELTA for d in leaked]}
    errors, near = ("(c) what the noise costs", "ε", "mean absolute error", x), (0.02, 3.0)
    best = {
        f"{name}: {BEST}": [
            float(designed_normal(5, r, md.LIP(e), *((0.2, None) if quick else near)).value)
            for e in x
        ]
        for name, r in names.items()
    }
    cost, claimed = (
        {name: [ROOT * d for d in side[name]] for name in names} for side in (ours, published)
    )
    return (
        [
            Panel(first, "ε", "deviation of the noise", x, ours, log="y"),
            Panel(second, "ε", "δ", x, {BY_INPUT: leaked}, log="y"),
            Panel(*errors, cost | best, log="y"),
        ],
        [
            Panel(first, "ε", "deviation of the noise", x, published, log="y"),
            Panel(second, "ε", "δ", x, {BY_INPUT: [DELTA] * len(x)}, ratios, log="y"),
            Panel(*errors, claimed, log="y"),
        ],
    )


def instance_dependent(epsilon: float, bins: int) -> GaussianMechanism:
    """Return the mechanism whose noise in each bin is that of Corollary 10 at its farther end."""
    edges = np.linspace(-10, 10, bins + 1)
    far = np.maximum(np.abs(edges[:-1]), np.abs(edges[1:]))
    noises = [corollary_10(LAW, float(x), epsilon, DELTA) for x in far]
    return GaussianMechanism(LAW, edges.tolist(), noises)


def rows(pair: Pair) -> list[Row]:
    """Return the curves at epsilon = 1."""
    found = []
    for name, curve in pair[1][0].curves.items():
        ours, published = pair[0][0].at(name, 1), curve[pair[1][0].x.index(1.0)]
        rounded = (float(f"{value:.3g}") for value in (published, ours))
        place = "TIFS, Fig. 9"
        why = "ours is the end of an interval, 0.1 % wide, at which privacy is proved"
        found.append(Row(place, f"least noise, {name}, δ = 0.0001, ε = 1", *rounded, why))
    for name in pair[1][2].curves:
        best, at = pair[0][2].at(f"{name}: {BEST}", 1), float(f"{pair[1][2].at(name, 1):.4g}")
        why = "no noise is added: the best kernel for X in the range, pure LIP, hence (ε, δ) too"
        quantity = f"mean absolute error, {name}, best of pure LIP beside noise, ε = 1"
        found.append(Row("TIFS, Fig. 9", quantity, at, best, why))
    why = "the reports are a mixture of all noises, not the normal law that the corollary takes"
    quantity = f"δ, {BY_INPUT} by Corollary 10, |x| ≤ 10, ε = 1"
    found.append(Row("TIFS, Fig. 9", quantity, DELTA, pair[0][1].at(BY_INPUT, 1), why))
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    leaked, last = pair[0][1].at(BY_INPUT, 1), list(pair[1][2].curves)[-1]
    noise, best = (pair[0][2].at(name, 1) for name in (last, f"{last}: {BEST}"))
    return (
        "(a) Rare inputs need more noise, as the paper says: ours is proved for all inputs up to"
        " |x|, and equal. (b) If each input has the noise that it needs by itself, the reports have"
        f" another law than Corollary 10 takes: at ε = 1 the promised δ of {DELTA:g} is"
        f" {leaked:.2g}, proved. (c) The best kernel for X in the range needs no δ: for {last} at"
        f" ε = 1 it errs by {best:.3g}, the noise by {noise:.3g}."
    )


EXPERIMENT = Experiment(
    "tifs_figure_9",
    "TIFS Fig. 9: noise by the input",
    "synthetic: no data, formulas only",
    run,
    rows,
    caption,
)
