"""Means under LDP on [-1, 1]: the least worst-case variance of an unbiased reading, with proof.

    python benchmarks/mean_estimation.py [-o PICTURE]

One report of a number x is read as v(Y) with E[v(Y) | x] = x; the loss is the largest variance over
x in [-1, 1]. The optimum V* over all epsilon-LDP mechanisms and readings lies between two numbers
that one design on nodes -1 = x_1 < ... < x_k = 1 gives:

* **Below.** A mechanism for the interval is one for the nodes, so that V* is at least the bound
  that is proved there.
* **Above.** Send x, between the nodes a and b = a + h, to b with probability t = (x - a) / h and to
  a otherwise, then through the channel of the nodes. This is epsilon-LDP, since every row is a
  mixture of rows of the channel, and unbiased, as (1 - t) a + t b = x. Its second moment is
  (1 - t) S_a + t S_b, and as x**2 = (1 - t) a**2 + t b**2 - t (1 - t) h**2, its variance is

      (1 - t) V_a + t V_b + t (1 - t) h**2  <=  max(V_a, V_b) + h**2 / 4.

  The largest over t is a formula; here it is evaluated in rationals for the exact channel.

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
from fractions import Fraction
from itertools import pairwise

import mechdesign as md

NODES = {"0.25": 33, "0.5": 33, "1": 33, "2": 33, "3": 49, "4": 49, "6": 49}
"""How many nodes there are at each epsilon."""

MIXED_ABOVE = 0.61


def duchi(epsilon: float) -> float:
    """Return the worst-case variance of the two-valued mechanism."""
    return math.tanh(epsilon / 2) ** -2


def piecewise(epsilon: float) -> float:
    """Return that of the piecewise mechanism."""
    c = math.exp(epsilon / 2)
    return 4 * c / (3 * (c - 1) ** 2)


def hybrid(epsilon: float) -> float:
    """Return that of the hybrid of both."""
    c = math.exp(epsilon / 2)
    if epsilon <= MIXED_ABOVE:
        return duchi(epsilon)
    return (c + 3) / (3 * c * (c - 1)) + (c**2 + 1) ** 2 / (c * (c**2 - 1) ** 2)


def optimum(epsilon: str, nodes: int) -> tuple[Fraction, Fraction]:
    """Return rationals below and above the least worst-case variance on [-1, 1].

    Parameters
    ----------
    epsilon
        In nats.
    nodes
        How many equidistant nodes there are, at least 2.
    """
    x = [Fraction(2 * n, nodes - 1) - 1 for n in range(nodes)]
    utility = md.UnbiasedVariance(x, worst_case=True)
    solution = md.design(md.Problem(range(nodes), md.LDP(epsilon), utility), gap=1e-4)
    squares = [v * v for v in solution.decoder or ()]
    whole = solution.channel.denominator
    V = [
        sum((n * s for n, s in zip(row, squares, strict=True)), Fraction(0)) / whole - a * a
        for a, row in zip(x, solution.channel.numerators.tolist(), strict=True)
    ]
    square = Fraction(2, nodes - 1) ** 2
    most = max(
        max(a, b)
        if abs(b - a) >= square
        else (a + b) / 2 + square / 4 + (b - a) ** 2 / (4 * square)
        for a, b in pairwise(V)
    )
    return solution.bound, most


def plot(rows: list[tuple[float, float, float]], path: str) -> None:
    """Draw the variances, over that of the optimum."""
    import matplotlib.pyplot as plt

    epsilon = [row[0] for row in rows]
    figure, axes = plt.subplots(figsize=(5, 3.5))
    for name, formula in (("Duchi", duchi), ("piecewise", piecewise), ("hybrid", hybrid)):
        axes.plot(epsilon, [formula(e) / low for e, low, _ in rows], marker="o", label=name)
    axes.fill_between(epsilon, 1, [high / low for _, low, high in rows], label="optimum, proved")
    axes.set(xlabel="epsilon", ylabel="worst-case variance, over the lower bound", ylim=(0.9, 3))
    axes.legend()
    figure.savefig(path, bbox_inches="tight")


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description="means under LDP on [-1, 1]")
    parser.add_argument("-o", "--output", metavar="PICTURE")
    options = parser.parse_args()
    print("epsilon nodes   at least    at most      Duchi  piecewise     hybrid  CPU s")
    rows = []
    for epsilon, nodes in NODES.items():
        start, e = time.process_time(), float(epsilon)
        low, high = (float(v) for v in optimum(epsilon, nodes))
        rows.append((e, low, high))
        others = "".join(f" {formula(e):10.6g}" for formula in (duchi, piecewise, hybrid))
        seconds = time.process_time() - start
        print(f"{e:7g} {nodes:5d} {low:10.6g} {high:10.6g}{others} {seconds:6.1f}", flush=True)
    if options.output:
        plot(rows, options.output)


if __name__ == "__main__":
    main()
