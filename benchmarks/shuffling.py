"""Privacy amplification by shuffling: our bounds beside published values, and a picture.

    python benchmarks/shuffling.py [-o PICTURE]

Published are the values that the code of arXiv 2504.07414 gives. The picture shows the central
epsilon against the number of reports at delta = 1e-6: for any channel with the local budget 4, for
ten inputs at that budget by three mechanisms, and for the design with the least mean squared error.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import mechdesign as md
from mechdesign.accounting import after_shuffling

DELTA, LOCAL = "1e-6", 4

PUBLISHED = {"any channel": 0.11816, "randomized response, k = 10": 0.10992}
"""At delta 1e-6, the local budget 4 and 100,000 reports."""

BLUE, ORANGE, GREEN, PINK, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#595959"


def channels() -> Iterator[tuple[str, Any]]:
    """Yield the shuffled channels, by name."""
    yield "any channel", LOCAL
    yield "randomized response, k = 10", md.mechanisms.GeneralizedRandomizedResponse(10, LOCAL)
    yield "subset selection, k = 10", md.mechanisms.SubsetSelection(10, LOCAL, size=3)
    yield "Hadamard response, k = 43,750", md.mechanisms.HadamardResponse(43_750, LOCAL)
    yield "design on a line, k = 10", on_a_line()


def on_a_line() -> md.Channel:
    """Return the best channel of ten values with squared loss and a falling prior."""
    prior = [0.7**x for x in range(10)]
    prior = [p / sum(prior) for p in prior]
    utility = md.PosteriorMeanSquaredError(values=np.arange(10))
    return md.design(md.Problem(range(10), md.LDP(LOCAL), utility, prior=prior)).channel


def table(sizes: tuple[int, ...]) -> list[str]:
    """Return the lines of the table."""
    lines = [
        "| channel, local ε = 4, δ = 1e-6 | n | published | at most | at least | closed form "
        "| CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, channel in channels():
        for n in sizes:
            start = time.process_time()
            found = after_shuffling(channel, n, DELTA)
            seconds = time.process_time() - start
            known = f"{PUBLISHED[name]}" if n == 100_000 and name in PUBLISHED else ""
            others = (found.epsilon, found.at_least, found.closed_form)
            cells = " | ".join(f"{value:.6f}" for value in others)
            lines.append(f"| {name} | {n:,} | {known} | {cells} | {seconds:.1f} |")
    return lines


def plot(path: str) -> None:
    """Draw the central epsilon against the number of reports, between its bounds."""
    import matplotlib.pyplot as plt

    sizes = np.unique(np.geomspace(100, 1_000_000, 29).round().astype(int))
    figure, axes = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
    for (name, channel), color in zip(channels(), (GREY, BLUE, ORANGE, GREEN, PINK), strict=True):
        found = [after_shuffling(channel, int(n), DELTA) for n in sizes]
        high, low = [f.epsilon for f in found], [max(f.at_least, 1e-9) for f in found]
        axes.fill_between(sizes, low, high, color=color, alpha=0.25, lw=0)
        axes.plot(sizes, high, color=color, label=name)
        if channel == LOCAL:
            closed = [f.closed_form for f in found]
            axes.plot(sizes, closed, "--", color=GREY, label="closed form of Feldman et al. 2021")
    axes.axhline(LOCAL, color="black", lw=0.8)
    axes.annotate("one report", (sizes[-1], 1.05 * LOCAL), ha="right", va="bottom")
    axes.set(xscale="log", yscale="log", xlabel="shuffled reports", ylabel="central ε, δ = 10⁻⁶")
    axes.set(ylim=(1e-2, 8), xlim=(sizes[0], sizes[-1]))
    axes.legend(frameon=False, fontsize=8, loc="lower left")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Print the table, and draw the picture."""
    parser = argparse.ArgumentParser(description="the central epsilon of shuffled reports")
    parser.add_argument("-o", "--output", metavar="PICTURE")
    options = parser.parse_args()
    print("\n".join(table((1000, 100_000, 1_000_000))), flush=True)
    if options.output:
        plot(options.output)


if __name__ == "__main__":
    main()
