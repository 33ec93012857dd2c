"""TIFS Fig. 10: Laplace noise under LDP and under LIP.

Source: Jiang et al. 2021 (TIFS), Section IV-C.2, Theorem 6. Synthetic: three values 0, 1, 2 with
the prior (1/3 + s/2, 1/3, 1/3 − s/2), s = 0.2. The factor α of (26) is not in the text of the
paper; with any but 0 that noise leaks without limit, so it has no curve. Ours is the least scale by
the exact leakage, and beside it the best channel on the same values, with no noise of any shape.
"""

from __future__ import annotations

from benchmarks.papers.base import SAME, SCHEME, Experiment, Pair, Panel, Row
from benchmarks.papers.optimum import best
from mechdesign import LDP, LIP, MeanAbsoluteError, Prior
from mechdesign.accounting import LaplaceMechanism, laplace_scale, least_laplace_scale

VALUES, SKEWED = (0, 1, 2), Prior(["13/30", "10/30", "7/30"])
NOISE_LDP, NOISE_LIP = "Laplace noise, LDP", "Laplace noise, LIP"
BEST_LDP, BEST_LIP = "designed, LDP", "designed, LIP"


def run(quick: bool) -> Pair:
    """Return (ours, published)."""
    x = [1.0, 2.0] if quick else [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0]
    relative = 1e-4 if quick else 1e-9
    loss = MeanAbsoluteError()
    ours = {
        NOISE_LDP: [2 / e for e in x],
        NOISE_LIP: [least_laplace_scale(VALUES, SKEWED, e, relative).high for e in x],
        BEST_LDP: [float(best(VALUES, LDP(e), loss, SKEWED).value) for e in x],
        BEST_LIP: [float(best(VALUES, LIP(e), loss, SKEWED).value) for e in x],
    }
    published = {
        NOISE_LDP: [2 / e for e in x],
        NOISE_LIP: [laplace_scale(VALUES, SKEWED, e) for e in x],
    }
    exact = [
        LaplaceMechanism(VALUES, SKEWED, b).leakage().high / e
        for e, b in zip(x, published[NOISE_LIP], strict=True)
    ]
    relations = {NOISE_LDP: SAME, NOISE_LIP: SCHEME}
    title = "values 0, 1, 2, prior (0.433, 0.333, 0.233)"
    unit = "mean absolute error"
    return (
        [Panel(title, "ε", unit, x, ours, {}, relations, log="y")],
        [Panel(title, "ε", unit, x, published, {NOISE_LIP: exact}, relations, log="y")],
    )


def rows(pair: Pair) -> list[Row]:
    """Return the curves at epsilon = 1, and what (26) leaks."""
    ours, published = (side[0] for side in pair)
    place = "TIFS, Fig. 10"
    why = "(25) is valid and loose: its exact leakage is 0.806 ε"
    formula = published.at(NOISE_LIP, 1)
    found = [
        Row(place, "scale of Laplace noise, LIP, ε = 1", formula, ours.at(NOISE_LIP, 1), why),
        Row(
            place,
            "mean absolute error, LIP, ε = 1",
            formula,
            ours.at(BEST_LIP, 1),
            "noise is no good channel for three values: the best one is certified",
        ),
    ]
    scales = [2 / (0.5 * float(p) + 1) for p in SKEWED]
    leaked = LaplaceMechanism(VALUES, SKEWED, scales).leakage().low
    why = "where scales differ, far reports are without limit likelier from the widest noise"
    words = "without limit" if leaked == float("inf") else f"{leaked:g}"
    quantity = "leakage of (26) with α = 1/2, reports not clamped, ε = 1"
    return [*found, Row("TIFS, Theorem 6", quantity, 1.0, words, why)]


def caption(pair: Pair) -> str:
    """Return what to see."""
    ours, published = (side[0] for side in pair)
    return (
        f"At ε = 1 the formula (25) has an error of {published.at(NOISE_LIP, 1):.3f}, the least"
        f" Laplace noise {ours.at(NOISE_LIP, 1):.3f}, and the best channel on the three values"
        f" {ours.at(BEST_LIP, 1):.3f}. Noise whose scale depends on the value leaks without limit."
    )


EXPERIMENT = Experiment(
    "tifs_figure_10",
    "TIFS Fig. 10: Laplace noise",
    "synthetic: three values",
    run,
    rows,
    caption,
)
