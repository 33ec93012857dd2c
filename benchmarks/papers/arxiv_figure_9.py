"""arXiv Fig. 9: popular pages again, and the histogram of districts.

Source: Jiang et al. 2018 (arXiv), Section V-B. (a) as CNS Fig. 8(a): Kosarak, real. (b) Gowalla,
real, a subset of 5,628 active users: the earlier check-ins in 36 x 36 districts of the world give
the prior of a user's later district, 81 of which have any (the paper: 83). The LIP optimum is found
over extreme rays, with a rigorous bound. For LDP no optimum is certified at 81 inputs of unequal
prior; it lies between our curves for LIP at epsilon (which LDP implies) and at epsilon/2 (which
implies LDP). The published LIP formula is not private below ln(1/P_min − 1) = 13.2.
"""

from __future__ import annotations

import csv
import gzip
import math

import numpy as np

import mechdesign as md
from benchmarks.papers.base import CLAIM, Experiment, Pair, Panel, Row, data_file
from benchmarks.papers.cns_figure_8 import pages
from benchmarks.papers.formulas import erasure, histogram_error, lip_ratio, randomized_response
from benchmarks.papers.optimum import GAP, best
from benchmarks.papers.surveys import BUDGET, HALF, LDP, LIP, ROOT
from mechdesign import PosteriorMeanSquaredError, Prior

HISTOGRAM = PosteriorMeanSquaredError(histogram=True)


def districts() -> Prior:
    """Return the prior of the districts that have any earlier check-in."""
    with gzip.open(data_file("gowalla", "world_36x36_subset_split.csv.gz"), "rt") as lines:
        counts = [int(row["earlier"]) for row in csv.DictReader(lines)]
    return Prior.from_counts([count for count in counts if count])


def thinned(prior: Prior) -> Prior:
    """Return every sixteenth district of a prior."""
    kept = list(prior)[::16]
    return Prior([share / sum(kept) for share in kept])


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    budgets = [1.0, 4.0] if quick else [float(n) for n in range(11)]
    pairs = [pages(budgets), histogram(thinned(districts()) if quick else districts(), quick)]
    return [ours for ours, _ in pairs], [published for _, published in pairs]


def histogram(prior: Prior, quick: bool) -> tuple[Panel, Panel]:
    """Return (ours, published) for the districts."""
    x = [1.0] if quick else [0.5, 1.0, 2.0, 4.0, 8.0]
    known: dict[float, float] = {}

    def least(epsilon: float) -> float:
        if epsilon not in known:
            notion = md.LIP(epsilon)
            found = best(range(len(prior)), notion, HISTOGRAM, prior, gap=GAP)
            known[epsilon] = math.sqrt(float(found.value))
        return known[epsilon]

    def root(matrix: np.ndarray) -> float:
        return math.sqrt(max(histogram_error(matrix, prior.array), 0.0))

    ours = {LIP: [least(e) for e in x], HALF: [least(e / 2) for e in x]}
    published = {
        LDP: [root(randomized_response(len(prior), e)) for e in x],
        LIP: [root(erasure(prior.array, e)) for e in x],
        HALF: [root(erasure(prior.array, e / 2)) for e in x],
    }
    leakage = {
        name: [lip_ratio(erasure(prior.array, e * part), prior, e * part) for e in x]
        for name, part in ((LIP, 1.0), (HALF, 0.5))
    }
    relations = {LIP: CLAIM, HALF: CLAIM}
    title = f"(b) Gowalla, histogram of {len(prior)} districts"
    return (
        Panel(title, BUDGET, ROOT, x, ours, {}, relations),
        Panel(title, BUDGET, ROOT, x, published, leakage, relations),
    )


def rows(pair: Pair) -> list[Row]:
    """Return the number of districts, and the curves at epsilon = 1."""
    ours, published = (side[1] for side in pair)
    size = int(published.title.rpartition("histogram of ")[2].split()[0])
    found = [
        Row(
            "arXiv, V-B.2",
            "districts of 36 × 36 with a prior above 0",
            "83",
            float(size),
            "a subset of 5,628 users; all 6.4 million check-ins fall into 325 districts",
        )
    ]
    i = published.x.index(1.0)
    for name in (LIP, HALF):
        why = f"the formula leaks {published.leakage[name][i]:.1f} times its budget"
        quantity = f"√(MSE/N), {name}, {size} districts, ε = 1"
        found.append(Row("arXiv, Fig. 9", quantity, published.at(name, 1), ours.at(name, 1), why))
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours, published = (side[1] for side in pair)
    return (
        "(a) as CNS Fig. 8(a). (b) a subset of users, real; crosses: the LIP formula is not private"
        f" (at ε = 1 it leaks {published.leakage[LIP][published.x.index(1.0)]:.1f} ε and claims"
        f" {published.at(LIP, 1):.4f}; certified optimum {ours.at(LIP, 1):.4f}).\nRandomized"
        f" response has {published.at(LDP, 1):.4f}; the best LDP channel is between our two LIP"
        f" curves, {ours.at(LIP, 1):.4f} and {ours.at(HALF, 1):.4f}."
    )


EXPERIMENT = Experiment(
    "arxiv_figure_9",
    "arXiv Fig. 9: popular pages, a histogram of districts",
    "real: Kosarak (exact), Gowalla (a subset)",
    run,
    rows,
    caption,
)
