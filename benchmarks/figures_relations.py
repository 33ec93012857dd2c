"""The papers' figures on relations between notions, with exact values beside the papers' bounds.

Run ``python -m benchmarks.figures_relations [FOLDER]``: draws TIFS 2021 Figs. 2 and 4 and ICML 2020
Fig. 1 into ``benchmarks/pictures``. Where the papers are wrong the caption says so, with our
numbers.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

from benchmarks.captions import PICTURES, save
from mechdesign import LIP, Channel, Prior
from mechdesign.accounting.channel_leakage import leakages
from mechdesign.accounting.hypothesis_testing import error_region, trade_off
from mechdesign.accounting.implications import Implied, implied

ROOM = 0.14
"""The share of a picture below its axes."""

PRIORS = {
    "P1": Prior([0.01, 0.33, 0.33, 0.33]),
    "P2": Prior([0.25, 0.25, 0.25, 0.25]),
}
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7")
EPSILONS = [round(0.2 * n, 1) for n in range(1, 26)]


def curve(target: str, prior: Prior) -> list[Implied]:
    """Return the strength of LIP under another notion, at every epsilon."""
    return [implied(LIP(epsilon), target, prior) for epsilon in EPSILONS]


def figure_2(folder: Path) -> Path:
    """Implications of LIP: LDP and differential identifiability, exactly and by the bounds."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.4))
    gaps: dict[str, float] = {}
    for axes, target, title, source in (
        (left, "ldp", "(a) LDP", "Proposition 1"),
        (right, "differential-identifiability", "(b) differential identifiability", "Theorem 3"),
    ):
        for colour, (name, prior) in zip(COLOURS, PRIORS.items(), strict=False):
            found = curve(target, prior)
            exact, bound, attained = (
                [getattr(row, part) for row in found] for part in ("tight", "bound", "attained")
            )
            axes.plot(
                EPSILONS, bound, "--", color=colour, lw=3, alpha=0.45, label=f"{name}, {source}"
            )
            axes.plot(EPSILONS, exact, "-", color=colour, label=f"{name}, exact")
            axes.plot(EPSILONS[4::5], attained[4::5], "o", color=colour, ms=5)
            gaps[f"{target} {name}"] = max(b - e for b, e in zip(bound, exact, strict=True))
        axes.plot(EPSILONS, EPSILONS, ":", color="grey", lw=1, label="ε")
        axes.plot(EPSILONS, [2 * e for e in EPSILONS], "-.", color="grey", lw=1, label="2ε")
        axes.set(title=title, xlabel="ε of LIP, nats", ylabel="leakage that it allows, nats")
        axes.legend(fontsize=8)
    two = implied(LIP("0.2"), "ldp", Prior([0.2, 0.8]))
    di = implied(LIP(1), "differential-identifiability", PRIORS["P1"])
    caption = (
        "TIFS 2021, Fig. 2, P1 = (0.01, 0.33, 0.33, 0.33), P2 uniform. Dots: the exact leakage of"
        " the channel that attains it.\n"
        "(a) The paper calls Proposition 1 looser than the exact value but for a uniform prior. It"
        " is exact for every prior of three inputs"
        f" or more (largest gap here {max(gaps['ldp P1'], gaps['ldp P2']):.0e}).\n"
        "It is loose for two:"
        f" P = (0.2, 0.8), ε = 0.2: {two.tight:.3f}, bound {two.bound:.3f}.\n"
        "(b) Theorem 3 adds the largest log-ratio of the prior, which belongs to another pair:"
        f" P1, ε = 1: exactly {di.tight:.3f}, bound {di.bound:.3f};"
        f" up to {gaps['differential-identifiability P1']:.2f} too much in this range."
    )
    return save(figure, caption, folder / "tifs_figure_2.png", ROOM)


def symmetric(flip: float) -> Channel:
    """Return the channel of Example 1: a bit, flipped with some probability."""
    return Channel.from_matrix([[1 - flip, flip], [flip, 1 - flip]])


def figure_4(folder: Path) -> Path:
    """Four leakages of a flipped bit, and the LIP formula as it is printed."""
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(12, 5.4))
    flips = [round(0.01 * n, 2) for n in range(1, 100)]
    shown = {
        "ldp": "LDP",
        "lip": "LIP",
        "maximal-leakage": "maximal leakage",
        "mutual-information": "mutual information",
    }
    for axes, part, letter in zip(both, (0.5, 0.2), "ab", strict=True):
        prior = Prior([round(1 - part, 1), part])
        found = [leakages(symmetric(flip), prior) for flip in flips]
        for colour, (notion, name) in zip(COLOURS, shown.items(), strict=True):
            values = [each[notion].value for each in found]
            axes.plot(flips, values, color=colour, label=name)
        printed = [printed_lip(flip, part) for flip in flips]
        axes.plot(flips, printed, ":", color=COLOURS[1], lw=1.2, label="LIP as printed, without ln")
        axes.set(
            title=f"({letter}) Pr(X = 1) = {part}",
            xlabel="probability q that the bit is flipped",
            ylabel="leakage, nats",
            ylim=(0, 4.6),
        )
        axes.legend(fontsize=8)
    quarter = leakages(symmetric(0.25), Prior([0.8, 0.2]))
    caption = (
        "TIFS 2021, Fig. 4: a bit that is flipped with probability q; at q = 0 and 1, LDP and LIP"
        " are infinite, and the averages are not. All values are exact leakages, rounded up.\n"
        "The paper's formula for LIP lacks its logarithm: at q = 0.25, Pr(X = 1) = 0.2 it prints"
        f" {printed_lip(0.25, 0.2):.3f}, where the leakage is {quarter['lip'].value:.3f} nats"
        f" (LDP {quarter['ldp'].value:.3f}, maximal leakage {quarter['maximal-leakage'].value:.3f},"
        f" mutual information {quarter['mutual-information'].value:.3f})."
    )
    return save(figure, caption, folder / "tifs_figure_4.png", ROOM)


def printed_lip(flip: float, part: float) -> float:
    """Return the largest Pr(Y) / Pr(Y|X), which Example 1 prints as the LIP leakage."""
    one = part * (1 - flip) + (1 - part) * flip
    return max(law / q for law in (one, 1 - one) for q in (flip, 1 - flip))


def figure_1(folder: Path) -> Path:
    """The error rates that E-LDP leaves to tests between two inputs, and some channels' curves."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 6.2))
    forward, back = 0.5, 2.0
    asymmetric, ldp = error_region(forward, back), error_region(back)
    for axes, region, colour, name in (
        (left, asymmetric, COLOURS[1], f"E[x,x'] = {forward}, E[x',x] = {back}"),
        (left, ldp, COLOURS[0], f"LDP, ε = {back}"),
        (right, asymmetric, COLOURS[1], "region of E"),
    ):
        alarms, missed = zip(*region.corners, strict=True)
        axes.fill_between(alarms, missed, 1 - np.array(alarms), color=colour, alpha=0.15)
        axes.plot(alarms, missed, color=colour, lw=2, label=name)
    channels = {
        "universal channel: both bounds met": universal(forward, back),
        "four outputs": FOUR,
        "randomized response, ε = 0.5": symmetric(1 / (1 + math.exp(0.5))),
    }
    styles = (("k", "--", "o"), (COLOURS[2], "-", "s"), (COLOURS[3], "-", "^"))
    for (name, channel), (colour, line, mark) in zip(channels.items(), styles, strict=True):
        points = trade_off(channel, 0, 1).points
        alarms, missed = zip(*[(float(a), float(m)) for a, m in points], strict=True)
        right.plot(alarms, missed, line + mark, color=colour, ms=5, label=name)
    left.set_title("what the budgets allow")
    right.set_title("exact curves of three channels that keep them")
    for axes in (left, right):
        axes.set(
            xlabel="false alarm: says x, it is x'",
            ylabel="missed detection: says x', it is x",
            xlim=(0, 1),
            ylim=(0, 1),
        )
        axes.legend(fontsize=8)
    corner, same = asymmetric.corners[1], ldp.corners[1]
    caption = (
        "ICML 2020, Fig. 1: no test has errors below the lines (Theorem 1), and every channel's"
        " curve stays above them.\n"
        "The paper reads from it that the smaller budget of x pushes missed detections up. That"
        " holds where false alarms are few;\nthe corner moves the other way:"
        f" false alarm {corner[0]:.3f} and missed {corner[1]:.3f}, where LDP has"
        f" {same[0]:.3f} for both."
    )
    return save(figure, caption, folder / "icml_figure_1.png", ROOM)


FOUR = Channel.from_matrix(
    [["0.40", "0.30", "0.22", "0.08"], ["0.26", "0.20", "0.20", "0.34"]],
)
"""E-LDP for the budgets of the figure, with some room to spare."""


def universal(forward: float, back: float) -> Channel:
    """Return the universal channel (ICML, Theorem 2)."""
    a, b = math.exp(forward), math.exp(back)
    first, second = (b - 1) / (a * b - 1), (a - 1) / (a * b - 1)
    return Channel.from_matrix([[first * a, second], [first, second * b]])


def main(folder: Path = PICTURES) -> None:
    """Draw them all."""
    mpl.use("Agg")
    for draw in (figure_2, figure_4, figure_1):
        print(draw(folder), flush=True)


if __name__ == "__main__":
    main(*(Path(given) for given in sys.argv[1:2]))
