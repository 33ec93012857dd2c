"""CNS Fig. 5 (arXiv Fig. 5): estimates that know the prior, and one that does not.

Source: Jiang et al. 2018 (CNS), Section V-A.1, P1 = 0.5 and 0.99, epsilon from 1 to 5. Synthetic:
errors are expectations. The curves without a prior and for LDP are right. That for LIP is right at
P1 = 0.5; at 0.99 its formula leaks more than epsilon up to ln 99 = 4.6, and the error is larger.
"""

from __future__ import annotations

import math

from benchmarks.papers.base import SAME, Experiment, Pair, Row
from benchmarks.papers.surveys import LDP, LIP, panels
from mechdesign import Prior

FREE = "LDP, no prior"
SHARES = (0.5, 0.99)


def free(epsilon: float) -> float:
    """Return the root of CNS (25) for one person: p(1 − p)/(1 − 2p)², p = 1/(e^ε + 1)."""
    p = 1 / (math.exp(epsilon) + 1)
    return math.sqrt(p * (1 - p)) / (1 - 2 * p)


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    x = [1.0, 5.0] if quick else [1 + n / 2 for n in range(9)]
    ours, published = [], []
    for letter, p in zip("ab", SHARES, strict=True):
        prior = Prior([round(1 - p, 2), p])
        title = f"({letter}) P1 = {p}"
        one, two = panels(title, [(prior, 1.0)], x, (LDP, LIP), log="y")
        # 1 / (2 sinh(ε/2)) is the same in other words
        one.curves[FREE] = [0.5 / math.sinh(e / 2) for e in x]
        two.curves[FREE] = [free(e) for e in x]
        one.relations[FREE] = two.relations[FREE] = SAME
        ours.append(one)
        published.append(two)
    return ours, published


def rows(pair: Pair) -> list[Row]:
    """Return both curves at epsilon = 1."""
    found = []
    for ours, published, p in zip(*pair, SHARES, strict=True):
        for name in (FREE, LDP, LIP):
            ratio = published.leakage.get(name, [1.0])[0]
            why = f"the formula leaks {ratio:.3f} ε there" if ratio > 1 + 1e-9 else ""
            quantity = f"√(MSE/N), {name}, P1 = {p}, ε = 1"
            found.append(Row("CNS, Fig. 5", quantity, published.at(name, 1), ours.at(name, 1), why))
    return found


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours, published = pair[0][1], pair[1][1]
    return (
        "At P1 = 0.5 the published curves are right. At 0.99 and ε = 1 the formula for LIP gives"
        f" {published.at(LIP, 1):.4f} and leaks {published.leakage[LIP][0]:.2f} ε;\nthe certified"
        f" optimum is {ours.at(LIP, 1):.4f}, where LDP has {ours.at(LDP, 1):.4f}: knowing the prior"
        " in the estimate is nearly all of the gain."
    )


EXPERIMENT = Experiment(
    "cns_figure_5",
    "CNS Fig. 5 (arXiv Fig. 5): with and without the prior",
    "synthetic: one prior for all",
    run,
    rows,
    caption,
)
