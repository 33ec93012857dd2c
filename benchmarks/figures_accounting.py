"""The accounting figures of the papers, with exact leakages beside the papers' bounds.

Run ``python -m benchmarks.figures_accounting [FOLDER]``: draws TIFS 2021 Figs. 5 and 6 and the
arXiv paper's Fig. 8 into ``benchmarks/pictures``. The papers' curves are computed from their
formulas; where these are wrong the caption says so, with our numbers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import scipy.signal

from benchmarks.captions import PICTURES, save
from benchmarks.trusted_server.survey import error_within
from benchmarks.trusted_server.unequal_people import central_bounds, sum_distribution
from mechdesign import (
    LIP,
    BoundedPriorLIP,
    Channel,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.accounting import (
    compose,
    compose_sequence,
    lip_composition_bound,
    prior_mismatch,
    sample_radius,
)
from mechdesign.notions import Notion

FloatArray = npt.NDArray[np.float64]

ROOM = 0.11
"""The share of a picture below its axes."""

PRIORS = {
    "P1": Prior([0.25, 0.25, 0.25, 0.25]),
    "P2": Prior([0.1, 0.1, 0.1, 0.7]),
    "P3": Prior([0.01, 0.33, 0.33, 0.33]),
}
COLOURS = ("#0072b2", "#d55e00", "#009e73")


@cache
def informative(notion: Notion, prior: Prior) -> Channel:
    """Return the most informative channel about X under a notion."""
    return design(Problem(range(4), notion, MutualInformation(), prior=prior)).channel


def figure_5(folder: Path) -> Path:
    """Composition: one X under a prior, under sets of priors, and a sequence."""
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 5.2))
    uses = range(1, 11)
    last = {}
    for epsilon, mark in ((2, "o"), (5, "^")):
        for colour, (name, prior) in zip(COLOURS, PRIORS.items(), strict=True):
            channel = informative(LIP(epsilon), prior)
            exact = [compose([channel] * n, prior)["lip"].exact for n in uses]
            bound = [lip_composition_bound([epsilon] * n, float(prior.minimum)) for n in uses]
            label = f"{name}, ε = {epsilon}"
            left.plot(uses, exact, mark + "-", color=colour, ms=4, label=label)
            left.plot(uses, bound, "--", color=colour, lw=1)
            last[name, epsilon] = exact[-1], bound[-1]
        for colour, pair in zip(COLOURS, ("P1 P2", "P1 P3", "P2 P3"), strict=True):
            members = [PRIORS[name] for name in pair.split()]
            notion = BoundedPriorLIP(epsilon, priors=members)
            channel = informative(notion, members[0])
            each = [compose([channel] * n, notion.priors)["bounded-prior-lip"] for n in uses]
            smallest = [float(prior.minimum) for prior in members]
            bound = [
                lip_composition_bound([epsilon] * n, min(smallest), max(smallest)) for n in uses
            ]
            label = f"{{{pair.replace(' ', ', ')}}}, ε = {epsilon}"
            middle.plot(uses, [r.exact for r in each], mark + "-", color=colour, ms=4, label=label)
            middle.plot(uses, bound, "--", color=colour, lw=1)
        orders = (("P1", "P2", "P3"), ("P2", "P3", "P1"), ("P3", "P2", "P1"))
        for colour, order in zip(COLOURS, orders, strict=True):
            found = [sequence(order[:n], epsilon) for n in (1, 2, 3)]
            label = f"{' '.join(order)}, ε = {epsilon}"
            right.plot((1, 2, 3), [f.exact for f in found], mark + "-", color=colour, label=label)
            right.plot((1, 2, 3), [f.bound for f in found], "--", color=colour, lw=1)
    for axes, title in (
        (left, "(a) n releases of one X"),
        (middle, "(b) under every prior of a set"),
        (right, "(c) a sequence of independent parts"),
    ):
        axes.set(title=title, xlabel="releases", ylabel="LIP, nats")
        axes.legend(fontsize=7.5)
    right.set_xticks((1, 2, 3))
    words = "; ".join(
        f"{name}: exact {last[name, 2][0]:.2f}, bound {last[name, 2][1]:.2f}" for name in PRIORS
    )
    caption = (
        "TIFS 2021, Fig. 5. Dashed: the paper's bounds (Theorem 4, Corollaries 4 and 5). Solid: the"
        " exact leakage of the most informative channel; in (c) it is the sum, in any order.\n"
        "The paper says that a small P_min makes less leak. Its own bound says the opposite, and"
        " exactly there is no order: ten releases,"
        f" ε = 2: {words}."
    )
    return save(figure, caption, folder / "tifs_figure_5.png", ROOM)


def sequence(order: tuple[str, ...], epsilon: int) -> Any:
    """Return the leakage about independent parts in that order, one release each."""
    joint = [1]
    for name in order:
        joint = [p * q for p in joint for q in PRIORS[name]]
    channels = [informative(LIP(epsilon), PRIORS[name]) for name in order]
    return compose_sequence(channels, joint)["lip"]


def figure_6(folder: Path) -> Path:
    """Transferability: the bounds (12) along a path of priors, and priors from samples."""
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 5.2))
    far = np.array([0.04, 0.06, 0.1, 0.8])
    for axes, epsilon in ((left, 1), (middle, 2)):
        start = PRIORS["P1"]
        channel = informative(LIP(epsilon), start)
        steps = np.linspace(0, 1, 41)
        path = [Prior(((1 - t) * start.array + t * far).tolist()) for t in steps]
        found = [prior_mismatch(channel, start, prior) for prior in path]
        distance = [0.5 * float(np.abs(prior.array - start.array).sum()) for prior in path]
        axes.plot(distance, [f.assumed + f.shift for f in found], "--", label="ε + η, Lemma 3")
        sharper = [f.assumed + f.sharper for f in found]
        axes.plot(distance, sharper, ":", label="ε + max |ln(P1/P2)|")
        axes.plot(distance, [f.twice for f in found], "--", label="2ε")
        label = "ln((exp(ε) − 1 + P_min) / P_min)"
        axes.plot(distance, [f.through_ldp for f in found], "--", label=label)
        axes.plot(distance, [f.true for f in found], "k-", lw=2, label="exact leakage under P2")
        axes.set(
            title=f"({'a' if epsilon == 1 else 'b'}) ε = {epsilon}, from the uniform prior",
            xlabel="total variation of P1 and P2",
            ylabel="LIP under P2, nats",
            ylim=(0, 2.4 * epsilon),
        )
        axes.legend(fontsize=8)
    sizes = (30, 100, 300, 1000, 3000, 10_000, 30_000)
    rows = [sampled(n) for n in sizes]
    names = ("mean", "95 % of samples below", "bound with our radius", "bound of Corollary 7")
    for name, style, values in zip(
        names, ("ko-", "k:", "C0-", "C1--"), zip(*rows, strict=True), strict=True
    ):
        right.loglog(sizes, values, style, ms=4, label=name)
    right.set(
        title="(c) two inputs, P = 0.3, ε = 1, β = 0.05",
        xlabel="samples n",
        ylabel="|leakage at estimate − at truth|",
    )
    right.legend(fontsize=8)
    caption = (
        "TIFS 2021, Fig. 6. (a), (b): the bounds (12) hold and are loose. Corollary 6 prints Φ"
        " without the logarithm: at ε = 2 and the true prior (0.1, 0.1, 0.2, 0.6) it calls the"
        "\nfirst bound the least, 3.504, where the third is 3.279. (c): 100 seeded samples of each"
        " size; our radius is Weissman's inequality, ln(2^k − 2) where Corollary 7 has k."
    )
    return save(figure, caption, folder / "tifs_figure_6.png", ROOM)


def sampled(n: int, runs: int = 100) -> tuple[float, float, float, float]:
    """Return the error of the leakage at an estimated prior, and two bounds."""
    true, beta = Prior([0.3, 0.7]), 0.05
    rng = np.random.default_rng(n)
    found = []
    for count in rng.binomial(n, 0.3, runs).tolist():
        estimate = Prior.from_counts([count, n - count])
        survey = PosteriorMeanSquaredError(values=[1, 0])
        channel = design(Problem([1, 0], LIP(1), survey, prior=estimate)).channel
        found.append(prior_mismatch(channel, estimate, true).difference)
    ours = float(sample_radius(2, n, "0.05"))
    theirs = 0.5 * math.sqrt(2 * (2 - math.log(beta)) / n)
    bounds = [math.log(1 + r / (0.3 - r)) if r < 0.3 else math.nan for r in (ours, theirs)]
    return float(np.mean(found)), float(np.quantile(found, 0.95)), bounds[0], bounds[1]


def figure_8(folder: Path) -> Path:
    """Surveys: a trusted server against local reports, each person with a chance of their own."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(14, 5.2))
    budgets = np.linspace(0.1, 3, 30)
    numbers = {}
    for axes, n in zip(panels, (5, 500, 50_000), strict=True):
        chances = np.random.default_rng(8).random(n)
        local: dict[str, Callable[[float], float]] = {
            "LIP at ε/2": lambda e, p=chances: lip_error(p, e / 2),
            "LDP at ε": lambda e, p=chances: ldp_error(p, e),
            "LIP at ε": lambda e, p=chances: lip_error(p, e),
        }
        for (name, error), colour in zip(local.items(), COLOURS, strict=True):
            curve = [math.sqrt(error(e) / n) for e in budgets]
            axes.plot(budgets, curve, color=colour, label=name)
            numbers[n, name] = math.sqrt(error(1.0) / n)
        if n == 5:
            given = chances.round(6).tolist()
            ends = [central_bounds(given, round(float(e), 6)) for e in budgets]
            axes.plot(budgets, [math.sqrt(high / n) for _, high in ends], "k-", label="server, ε")
            numbers[n, "server"] = math.sqrt(central_bounds(given, 1)[1] / n)
        else:
            law = bits_law(chances)
            lows = [math.sqrt(relaxed(law, chances, e) / n) for e in budgets]
            axes.plot(budgets, lows, "k--", label="server, lower bound")
            numbers[n, "server"] = math.sqrt(relaxed(law, chances, 1.0) / n)
        axes.set(title=f"N = {n}", xlabel="ε, nats", ylabel="√(MSE / N)")
        axes.set_ylim(bottom=-0.01)
        axes.legend(fontsize=8)
    words = ", ".join(f"{name} {numbers[5, name]:.4f}" for name in (*local, "server"))
    broken = misfits(np.random.default_rng(8).random(50_000), 1.0)
    caption = (
        "arXiv Fig. 8. Chances uniform on [0, 1], seeded. LIP is the best two-output channel of"
        f" each person. At N = 5, ε = 1: {words}.\nThe paper's LIP formula breaks its budget for"
        f" people with min(P, 1 − P) < 1/(e^ε + 1): {broken:.0%} of them at ε = 1. Hence its"
        " crossing of LIP at ε/2 with LDP at ε,\nwhich cannot be: ε/2-LIP implies ε-LDP, for which"
        " Warner is"
        " best. Its central interval (Prop. 5) leaves out the upper bounds on the posterior."
    )
    return save(figure, caption, folder / "arxiv_figure_8.png", ROOM)


def lip_error(chances: FloatArray, epsilon: float) -> float:
    """Return the error of the sum where each bit's posterior is at an end of its range."""
    low, high = ends_of(chances, epsilon)
    return float((chances * (1 - chances) - (chances - low) * (high - chances)).sum())


def ends_of(chances: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest posterior that LIP allows each bit."""
    up, down = math.exp(epsilon), math.exp(-epsilon)
    low = np.maximum(down * chances, 1 - up * (1 - chances))
    return low, np.minimum(up * chances, 1 - down * (1 - chances))


def ldp_error(chances: FloatArray, epsilon: float) -> float:
    """Return the error of the sum where each person answers by Warner's randomized response."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    error = np.zeros_like(chances)
    for one, zero in ((keep, 1 - keep), (1 - keep, keep)):
        law = chances * one + (1 - chances) * zero
        error += chances * one * (1 - chances) * zero / law
    return float(error.sum())


def misfits(chances: FloatArray, epsilon: float) -> float:
    """Return the share of people for whom the published LIP formula is not private."""
    return float((np.minimum(chances, 1 - chances) < 1 / (math.exp(epsilon) + 1)).mean())


def bits_law(chances: FloatArray) -> FloatArray:
    """Return the law of the sum of many bits, by halves."""
    if len(chances) <= 64:
        return sum_distribution(chances.tolist())
    half = len(chances) // 2
    whole = scipy.signal.fftconvolve(bits_law(chances[:half]), bits_law(chances[half:]))
    clean: FloatArray = np.maximum(whole, 0)
    return clean / clean.sum()


def relaxed(law: FloatArray, chances: FloatArray, epsilon: float) -> float:
    """Return the error if only the mean over all people were bounded: less than any server's."""
    low, high = ends_of(chances, epsilon)
    return error_within(law, float(low.sum()), float(high.sum()))


def main(folder: Path = PICTURES) -> None:
    """Draw all."""
    mpl.use("Agg")
    for draw in (figure_5, figure_6, figure_8):
        print(draw(folder), flush=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
