"""CNS Fig. 2: four ways to survey 100 people about a disease that one in ten has.

Source: Jiang et al. 2018 (CNS), Example 1; the same in the extended version. Synthetic: errors are
expectations, nothing is drawn. The published curves are the expressions that the text prints. All
three are wrong: both errors without a prior are not those of the channels beside them (one of which
is not a channel), and the LIP error is none of the formula of Theorem 2, which itself is out of
reach for epsilon < ln 9.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.papers.base import CLAIM, Experiment, Pair, Panel, Row
from benchmarks.papers.formulas import claimed_lip, erasure, lip_ratio
from benchmarks.papers.optimum import ldp_bit, lip_bit
from benchmarks.papers.surveys import BUDGET
from mechdesign import Prior

PEOPLE, SHARE = 100, 0.1
PRIOR = Prior([0.9, 0.1])
WARNER, UNARY, LIP = "LDP, unbiased", "LDP, unary encoding", "LIP as printed"
THEOREM, LDP = "LIP, Theorem 2", "LDP, best estimate"


def unbiased(one: float, zero: float) -> float:
    """Return the variance of the unbiased sum, given Pr(report = yes) for each answer."""
    spread = SHARE * one * (1 - one) + (1 - SHARE) * zero * (1 - zero)
    return PEOPLE * spread / (one - zero) ** 2


def warner(epsilon: float) -> float:
    """Return the true error of Warner's randomized response."""
    keep = math.exp(epsilon) / (math.exp(epsilon) + 1)
    return unbiased(keep, 1 - keep)


def unary(epsilon: float) -> float:
    """Return the true error of a yes bit sent by optimized unary encoding."""
    return unbiased(0.5, 1 / (math.exp(epsilon) + 1))


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    x = [0.5, 1.0, 3.0] if quick else np.linspace(0.25, 5, 20).round(2).tolist()
    title, unit, e = "100 people, P = 0.1", "expected squared error of the count", math.exp
    ours = {
        WARNER: [warner(b) for b in x],
        UNARY: [unary(b) for b in x],
        LIP: [PEOPLE * lip_bit(PRIOR, b) for b in x],
        THEOREM: [PEOPLE * lip_bit(PRIOR, b) for b in x],
        LDP: [PEOPLE * ldp_bit(PRIOR, b) for b in x],
    }
    published = {
        WARNER: [100 * e(b) / (e(b) + 1) ** 2 for b in x],
        UNARY: [25 / (0.5 - e(b) / 2) ** 2 for b in x],
        LIP: [(10 * e(b) - 1) / 0.64 for b in x],
        THEOREM: [PEOPLE * claimed_lip(SHARE, b) for b in x],
    }
    leakage = {THEOREM: [lip_ratio(erasure(PRIOR.array, b), PRIOR, b) for b in x]}
    relations = {THEOREM: CLAIM}
    return (
        [Panel(title, BUDGET, unit, x, ours, {}, relations, "y")],
        [Panel(title, BUDGET, unit, x, published, leakage, relations, "y")],
    )


def rows(pair: Pair) -> list[Row]:
    """Return what the text prints, at epsilon = 1."""
    ours, published = (side[0] for side in pair)
    place = "CNS, Example 1 and Fig. 2"
    whys = {
        WARNER: "Var = Np(1−p)/(1−2p)² with p = 1/(e^ε+1) is 100e^ε/(e^ε−1)²: the text divides by"
        " (p−q)² with p = q, and prints the numerator",
        UNARY: "the printed q* = 1 − e^ε/2 is negative beyond ln 2; with q = 1/(e^ε+1) and p = 1/2"
        " of the cited work the error is this where 10 in 100 say yes: more than that of Warner's"
        " response, not less as the text says",
        LIP: "not the error of q0 = P1/e^ε, q1 = P0/e^ε (that is 5.4038), and above the 9 of"
        " telling nothing; the optimum is certified",
        THEOREM: f"the formula leaks {published.leakage[THEOREM][x_of(published)]:.3f} ε at"
        " P = 0.1, ε = 1: it is private only from ε = ln 9 on",
    }
    return [
        Row(place, f"error, {name}, ε = 1", published.at(name, 1.0), ours.at(name, 1.0), why)
        for name, why in whys.items()
    ]


def x_of(panel: Panel) -> int:
    """Return where epsilon is 1."""
    return panel.x.index(1.0)


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours, published = (side[0] for side in pair)
    return (
        "The printed LIP error grows with ε, above the 9 of telling nothing. At ε = 1 Theorem 2"
        f" claims {published.at(THEOREM, 1.0):.4f}, with a channel that leaks"
        f" {published.leakage[THEOREM][x_of(published)]:.2f} ε;\nthe certified optimum is"
        f" {ours.at(THEOREM, 1.0):.4f}, that of LDP with the same estimator"
        f" {ours.at(LDP, 1.0):.4f}: the gain over the unbiased {ours.at(WARNER, 1.0):.1f} is the"
        " estimator's, hardly the notion's."
    )


EXPERIMENT = Experiment(
    "cns_figure_2",
    "CNS Fig. 2: errors in Example 1",
    "synthetic: 100 people, P = 0.1",
    run,
    rows,
    caption,
    columns=1,
)
