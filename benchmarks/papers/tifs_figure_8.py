"""TIFS Fig. 8: (ε, δ) of Gaussian noise under LIP and under LDP.

Source: Jiang et al. 2021 (TIFS), Section IV-C.2. Synthetic: X ~ N(0, 5²), noise of deviation 10,
ΔX = 20; LDP at 2ε, as the paper compares. The published LIP curve is Lemma 4 at x = 10, the end of
the range; ours is enclosed over all |x| ≤ 10, and once more for X confined to that range, which the
statement is about. The vanilla bound is a bound for ε < 1 only.

(b) has what that noise costs, E|N| = 7.98 at every ε, beside the best kernel for X confined to the
range: pure ε-LIP or 2ε-LDP, so (ε, δ) for every δ, with the error of its own proof.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

import mechdesign as md
from benchmarks.papers.base import SAME, Experiment, Pair, Panel, Row
from benchmarks.papers.continuous_data import BEST, ROOT, designed_normal
from mechdesign import GaussianMixture
from mechdesign.accounting import (
    GaussianMechanism,
    analytic_gaussian_delta,
)

SPREAD, NOISE, REACH = 5.0, 10.0, 20.0
LAW = GaussianMixture.normal(0, SPREAD)
LIP, CONFINED = "LIP at ε", "LIP at ε, X confined"
ANALYTIC, VANILLA = "LDP at 2ε, analytic", "LDP at 2ε, vanilla"
ADDED = f"normal noise of deviation {NOISE:g}"
BEST_LIP, BEST_LDP = f"LIP at ε, {BEST}", f"LDP at 2ε, {BEST}"


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    x = [1.0] if quick else [round(0.25 * n, 2) for n in range(1, 13)]
    whole, confined = (
        GaussianMechanism(LAW, [-REACH / 2, REACH / 2], NOISE, truncated=cut)
        for cut in (False, True)
    )
    ours = {
        LIP: [whole.delta(e, 1e-8).high for e in x],
        CONFINED: [confined.delta(e, 1e-6).high for e in x],
        ANALYTIC: [analytic_gaussian_delta(2 * e, NOISE, REACH).high for e in x],
    }
    claimed = [min(1.0, 1.25 * math.exp(-((2 * e * NOISE / REACH) ** 2) / 2)) for e in x]
    published = {LIP: [lemma_4(e) for e in x], ANALYTIC: [equation_24(2 * e) for e in x]}
    published[VANILLA] = claimed
    leakage = {VANILLA: [d / c for d, c in zip(ours[ANALYTIC], claimed, strict=True)]}
    relations = {LIP: SAME, ANALYTIC: SAME}
    title = "(a) X ~ N(0, 5²), noise 10, ΔX = 20"
    errors = "(b) what it costs, and the best kernel", "ε", "mean absolute error", x
    added = {ADDED: [ROOT * NOISE] * len(x)}
    best: dict[str, list[float]] = {}
    for name, notion in ((BEST_LIP, md.LIP), (BEST_LDP, lambda e: md.LDP(2 * e))):
        near = (0.2, None) if quick else (0.01, 10.0)
        found = [designed_normal(SPREAD, REACH / 2, notion(e), *near) for e in x]
        best[name] = [float(each.value) for each in found]
        best[f"{name}: bound"] = [float(each.bound) for each in found]
    return (
        [
            Panel(title, "ε", "δ", x, ours, {}, relations, log="y"),
            Panel(*errors, added | best, {}, {ADDED: SAME}),
        ],
        [
            Panel(title, "ε", "δ", x, published, leakage, relations, log="y"),
            Panel(*errors, added, {}, {ADDED: SAME}),
        ],
    )


def lemma_4(epsilon: float) -> float:
    """Return the larger divergence at x = 10 by the closed form, with Definition 5's factor."""
    x, s, v, grown = REACH / 2, NOISE, math.hypot(SPREAD, NOISE), math.exp(epsilon)
    a, b = 1 / (2 * s * s) - 1 / (2 * v * v), -x / (s * s)
    found = []
    for sign in (1, -1):  # where ln f - ln g = sign * epsilon, with f the narrower law
        c = x * x / (2 * s * s) + math.log(s / v) + sign * epsilon
        root = math.sqrt(max(0.0, b * b - 4 * a * c))
        ends = np.array([-b - root, -b + root]) / (2 * a)
        near, far = (float(np.diff(norm.cdf(ends, m, d))[0]) for m, d in ((x, s), (0.0, v)))
        found.append((near - grown * far) / grown if sign == 1 else 1 - far - grown * (1 - near))
    return max(found)


def equation_24(epsilon: float) -> float:
    """Return the analytic Gaussian, as printed."""
    half, shift = REACH / (2 * NOISE), epsilon * NOISE / REACH
    return float(norm.cdf(half - shift) - math.exp(epsilon) * norm.cdf(-half - shift))


def rows(pair: Pair) -> list[Row]:
    """Return the curves at epsilon = 1."""
    ours, published = (side[0] for side in pair)
    why = "1.25 exp(−ε²σ²/(2ΔX²)) bounds δ for ε < 1 only, and is loose there"
    found = [
        Row("TIFS, Fig. 8", f"δ, {name}, ε = 1", published.at(name, 1), ours.at(name, 1))
        for name in (LIP, ANALYTIC)
    ]
    exact = ours.at(ANALYTIC, 1)
    found.append(Row("TIFS, Fig. 8", f"δ, {VANILLA}, ε = 1", published.at(VANILLA, 1), exact, why))
    why = "the curve takes X from the whole line, the statement inputs from the range only"
    found.append(
        Row(
            "TIFS, Fig. 8", f"δ, {CONFINED}, ε = 1", published.at(LIP, 1), ours.at(CONFINED, 1), why
        )
    )
    errors, noise = pair[0][1], pair[1][1].at(ADDED, 1)
    for name in (BEST_LIP, BEST_LDP):
        bound = errors.at(f"{name}: bound", 1)
        why = f"no noise is added: the best kernel for X in the range, proved not below {bound:.4g}"
        quantity = f"mean absolute error, {name}, ε = 1"
        found.append(Row("TIFS, Fig. 8", quantity, noise, errors.at(name, 1), why))
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    (ours, errors), published = pair[0], pair[1][0]
    return (
        f"(a) Enclosed over all |x| ≤ 10: at ε = 1, δ = {ours.at(LIP, 1):.6f}, as Lemma 4 says at"
        f" the end of the range; {ours.at(CONFINED, 1):.6f} if X is confined to it; without a range"
        f" it is 1. LDP at 2ε: exactly {ours.at(ANALYTIC, 1):.4f}, by the vanilla bound"
        f" {published.at(VANILLA, 1):.4f}.\n(b) The noise errs by {errors.at(ADDED, 1):.2f}, the"
        f" best kernel for X in the range, which needs no δ, by {errors.at(BEST_LIP, 1):.2f}."
    )


EXPERIMENT = Experiment(
    "tifs_figure_8",
    "TIFS Fig. 8: (ε, δ) of Gaussian noise",
    "synthetic: no data, formulas only",
    run,
    rows,
    caption,
)
