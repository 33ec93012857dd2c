"""Means under LDP on [-1, 1]: the least worst-case variance of an unbiased reading, with proof.

    python benchmarks/mean_estimation.py [-o PICTURE]

One report of a number x is read as v(Y) with E[v(Y) | x] = x; the loss is the largest variance over
x in [-1, 1]. The library designs a kernel for the interval, and proves a bound for all of them; its
theorems are in `mechdesign/kernel/rounding/`.

Beside it: Duchi, Jordan and Wainwright 2018, ((e**eps + 1) / (e**eps - 1))**2; the piecewise and
the hybrid mechanism of Wang et al. 2019 (ICDE, Collecting and analyzing multidimensional data with
local differential privacy), with c = e**(eps / 2): 4 c / (3 (c - 1)**2), and
(c + 3) / (3 c (c - 1)) + (c**2 + 1)**2 / (c (c**2 - 1)**2) where that mechanism mixes the two, for
eps > 0.61; below it is Duchi's.
"""

from __future__ import annotations

import argparse
import math
import time

import mechdesign as md
from mechdesign.designs.solution import Solution

GAPS = {"0.25": 1e-4, "0.5": 2e-4, "1": 5e-4, "2": 1e-3, "3": 1e-3, "4": 1e-3, "6": 3e-3}
"""The requested gap at each epsilon."""

MIXED_ABOVE = 0.61


def duchi(epsilon: float) -> float:
    """Return the worst-case variance of the two-valued mechanism."""
    return math.tanh(epsilon / 2) ** -2


def piecewise(epsilon: float) -> float:
    """Return the worst-case variance of the piecewise mechanism."""
    c = math.exp(epsilon / 2)
    return 4 * c / (3 * (c - 1) ** 2)


def hybrid(epsilon: float) -> float:
    """Return the worst-case variance of the hybrid of both."""
    c = math.exp(epsilon / 2)
    if epsilon <= MIXED_ABOVE:
        return duchi(epsilon)
    return (c + 3) / (3 * c * (c - 1)) + (c**2 + 1) ** 2 / (c * (c**2 - 1) ** 2)


def optimum(epsilon: str, gap: float) -> Solution:
    """Return the design for [-1, 1].

    Parameters
    ----------
    epsilon
        In nats.
    gap
        The gap that is small enough.
    """
    loss = md.UnbiasedVariance(worst_case=True)
    return md.design(md.ContinuousProblem([-1, 1], md.LDP(epsilon), loss), gap=gap)


def plot(rows: list[tuple[float, float, float]], path: str) -> None:
    """Draw the variances, over that of the optimum."""
    import matplotlib.pyplot as plt

    epsilon = [row[0] for row in rows]
    figure, axes = plt.subplots(figsize=(5.5, 3.6))
    for name, formula in (("Duchi et al.", duchi), ("piecewise", piecewise), ("hybrid", hybrid)):
        axes.plot(epsilon, [formula(e) / low for e, low, _ in rows], marker="o", label=name)
    highest = [high / low for _, low, high in rows]
    axes.plot(epsilon, highest, color="black", label="designed, and its lower bound")
    axes.fill_between(epsilon, 1, highest, color="black", alpha=0.3, linewidth=0)
    axes.set(xlabel="ε", ylabel="worst-case variance / lower bound", yscale="log", ylim=(0.93, 50))
    ticks = [1, 1.5, 2, 3, 5, 10, 20, 40]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, bbox_inches="tight", dpi=130)


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description="means under LDP on [-1, 1]")
    parser.add_argument("-o", "--output", metavar="PICTURE")
    options = parser.parse_args()
    print("epsilon nodes   at least    at most      Duchi  piecewise     hybrid  CPU s")
    rows = []
    for epsilon, gap in GAPS.items():
        start, e = time.process_time(), float(epsilon)
        solution = optimum(epsilon, gap)
        low, high, nodes = float(solution.bound), float(solution.value), solution.cells + 1
        rows.append((e, low, high))
        others = "".join(f" {formula(e):10.6g}" for formula in (duchi, piecewise, hybrid))
        seconds = time.process_time() - start
        print(f"{e:7g} {nodes:5d} {low:10.6g} {high:10.6g}{others} {seconds:6.1f}", flush=True)
    if options.output:
        plot(rows, options.output)


if __name__ == "__main__":
    main()
