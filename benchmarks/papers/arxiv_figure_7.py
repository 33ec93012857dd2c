"""arXiv Fig. 7: the histogram of 20 values.

Source: Jiang et al. 2018 (arXiv), Section V-A.3, epsilon up to 10. The prior is not stated; here it
is uniform, so that our optima are closed forms of the library, certified. Synthetic: errors are
expectations. The published LIP formula is private from epsilon = ln 19 = 2.94 on. The published
error of unary encoding, 4 e^epsilon/(e^epsilon − 1)^2, is that of one of the 20 counts; that of the
histogram is 20 times it plus 1.
"""

from __future__ import annotations

import math

import numpy as np

import mechdesign as md
from benchmarks.papers.base import CLAIM, SCHEME, Experiment, Pair, Panel, Row
from benchmarks.papers.formulas import erasure, histogram_error, lip_ratio, randomized_response
from benchmarks.papers.optimum import best
from benchmarks.papers.surveys import BUDGET, HALF, LDP, LIP, ROOT
from mechdesign import PosteriorMeanSquaredError, Prior

SIZE = 20
PRIOR = Prior.uniform(SIZE)
HISTOGRAM = PosteriorMeanSquaredError(histogram=True)
UNARY = "unary encoding, no prior"


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    x = [1.0, 4.0] if quick else [n / 2 for n in range(1, 21)]
    ours: dict[str, list[float]] = {
        LDP: [least(md.LDP(e)) for e in x],
        LIP: [least(md.LIP(e)) for e in x],
        HALF: [least(md.LIP(e / 2)) for e in x],
        UNARY: [math.sqrt(SIZE * one_count(e) + 1) for e in x],
    }
    published = {
        LDP: [root(randomized_response(SIZE, e)) for e in x],
        LIP: [root(erasure(PRIOR.array, e)) for e in x],
        HALF: [root(erasure(PRIOR.array, e / 2)) for e in x],
        UNARY: [math.sqrt(one_count(e)) for e in x],
    }
    leakage = {
        name: [lip_ratio(erasure(PRIOR.array, e * part), PRIOR, e * part) for e in x]
        for name, part in ((LIP, 1.0), (HALF, 0.5))
    }
    relations = {LDP: SCHEME, LIP: CLAIM, HALF: CLAIM}
    title = f"histogram of {SIZE} values, uniform prior"
    return (
        [Panel(title, BUDGET, ROOT, x, ours, {}, relations, "y")],
        [Panel(title, BUDGET, ROOT, x, published, leakage, relations, "y")],
    )


def least(notion: md.LDP | md.LIP) -> float:
    """Return the root of the least error."""
    return math.sqrt(float(best(range(SIZE), notion, HISTOGRAM, PRIOR).value))


def root(matrix: np.ndarray) -> float:
    """Return the root of a channel's error."""
    return math.sqrt(histogram_error(matrix, PRIOR.array))


def one_count(epsilon: float) -> float:
    """Return the error of a count whose truth is 0, per report: arXiv V-A.3."""
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


def rows(pair: Pair) -> list[Row]:
    """Return the curves at epsilon = 1."""
    ours, published = (side[0] for side in pair)
    i = published.x.index(1.0)
    whys = {
        LDP: "k-ary randomized response is private, not optimal: subset selection is",
        LIP: f"the formula leaks {published.leakage[LIP][i]:.3f} ε; it is private from ln 19 on",
        HALF: f"the formula leaks {published.leakage[HALF][i]:.3f} times its ε/2",
        UNARY: "printed is the error of one count whose truth is 0; the histogram has 20 of them,"
        " and those who do hold a value add 1",
    }
    return [
        Row("arXiv, Fig. 7", f"√(MSE/N), {name}, ε = 1", published.at(name, 1), ours.at(name, 1), w)
        for name, w in whys.items()
    ]


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours, published = (side[0] for side in pair)
    return (
        f"At ε = 1: randomized response {published.at(LDP, 1):.4f}, best LDP {ours.at(LDP, 1):.4f},"
        f" best LIP {ours.at(LIP, 1):.4f}; the LIP formula claims {published.at(LIP, 1):.4f}.\n"
        "Crosses: that formula is not private, up to ε = ln 19 = 2.94 (5.89 for ε/2). Unary"
        " encoding: published is one count, ours the whole histogram."
    )


EXPERIMENT = Experiment(
    "arxiv_figure_7",
    "arXiv Fig. 7: a histogram",
    "synthetic: uniform prior on 20 values",
    run,
    rows,
    caption,
    columns=1,
)
