"""Estimating a distribution: our optimum beside subset selection and the published schemes.

Run ``python benchmarks/estimation_risk.py``: prints Markdown tables of the l2-risk (n times the
squared error of the best linear unbiased estimator) at the uniform distribution. A scheme from a
paper is judged by its channel, with the best estimator for it, so that the comparison is of
channels alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mechdesign import LDP, BlockLDP, HighLowLDP, L2Risk, Problem, design
from mechdesign.notions import Notion

FloatArray = npt.NDArray[np.float64]

EPSILONS = ("0.5", "1", "2")
HIGH_LOW = ((3, 5), (4, 8), (5, 20), (8, 24))
BLOCKS = ((4, 4), (2, 6, 16), (12, 12))


def risk(Q: FloatArray) -> float:
    """Return tr M**-1 - |p|**2 of a channel, ``(n_inputs, n_outputs)``, at the uniform p."""
    k = len(Q)
    return float(np.trace(np.linalg.inv((Q / Q.mean(axis=0)) @ Q.T))) - 1 / k


def subset_selection(k: int, epsilon: float) -> tuple[float, int]:
    """Return the l2-risk of the best subset selection, by its formula, and its size."""
    t = math.exp(epsilon)

    def of(j: int) -> float:
        return (k - 1) ** 2 / (k**2 * (j * t**2 + k - j) / (j * t + k - j) ** 2 - k)

    return min((of(j), j) for j in range(1, k))


def hadamard_response(k: int, epsilon: float) -> FloatArray:
    """Return the channel of Hadamard response (Acharya, Sun and Zhang 2019)."""
    size = 1 << k.bit_length()  # the least power of 2 above k
    inside = scipy.linalg.hadamard(size)[1 : k + 1] > 0
    t = math.exp(epsilon)
    channel: FloatArray = np.where(inside, t, 1.0) * 2 / (size * (1 + t))
    return channel


def hadamard_high_low(s: int, k: int, epsilon: float) -> FloatArray:
    """Return the high-low scheme of Acharya et al. 2020, Section 5, on k inputs, s sensitive."""
    t, coded = math.exp(epsilon), hadamard_response(s, epsilon)
    hidden = np.full((k - s, coded.shape[1]), 2 / (coded.shape[1] * (t + 1)))
    alone = np.vstack([np.zeros((s, k - s)), np.eye(k - s) * (t - 1) / (t + 1)])
    return np.hstack([np.vstack([coded, hidden]), alone])


def hadamard_blocks(sizes: Iterable[int], epsilon: float) -> FloatArray:
    """Return Hadamard response inside each block (Acharya et al. 2020, Section 4)."""
    channel: FloatArray = scipy.linalg.block_diag(*[hadamard_response(s, epsilon) for s in sizes])
    return channel


def ours(k: int, notion: Notion) -> tuple[float, float, int, float]:
    """Return value, gap, number of outputs and seconds of our design."""
    start = time.perf_counter()
    found = design(Problem(range(k), notion, L2Risk()))
    seconds = time.perf_counter() - start
    return float(found.value), found.gap, found.channel.shape[1], seconds


def line(*cells: object) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def ldp(sizes: Iterable[int]) -> None:
    """Print the table for LDP."""
    line("inputs", "ε", "ours", "gap", "outputs", "subset selection", "j", "Hadamard", "s")
    line(*["---"] * 9)
    for k in sizes:
        for epsilon in EPSILONS:
            value, gap, outputs, seconds = ours(k, LDP(epsilon))
            best, j = subset_selection(k, float(epsilon))
            published = risk(hadamard_response(k, float(epsilon)))
            line(
                k,
                epsilon,
                f"{value:.5f}",
                f"{gap:.0e}",
                outputs,
                f"{best:.5f} ({value / best - 1:+.0e})",
                j,
                f"{published:.5f} ({published / value - 1:+.1%})",
                f"{seconds:.2f}",
            )


def compared(name: str, k: int, notion: Notion, published: float, epsilon: str) -> None:
    """Print one row: ours against a published scheme."""
    value, gap, outputs, seconds = ours(k, notion)
    less = 1 - value / published
    cells = (f"{value:.4f}", f"{gap:.0e}", outputs, f"{published:.4f}", f"{less:.1%}")
    line(name, epsilon, *cells, f"{seconds:.2f}")


def main() -> None:
    """Print the tables."""
    print("LDP\n")
    ldp([*range(3, 11), 16, 32])
    print("\nHigh-low and block-structured LDP\n")
    line("problem", "ε", "ours", "gap", "outputs", "with Hadamard codes", "ours is less by", "s")
    line(*["---"] * 8)
    for epsilon in EPSILONS:
        for s, k in HIGH_LOW:
            published = risk(hadamard_high_low(s, k, float(epsilon)))
            notion = HighLowLDP(epsilon, range(s))
            compared(f"{s} of {k} sensitive", k, notion, published, epsilon)
        for sizes in BLOCKS:
            ends = np.cumsum([0, *sizes]).tolist()
            blocks = [list(range(a, b)) for a, b in pairwise(ends)]
            published = risk(hadamard_blocks(sizes, float(epsilon)))
            name = f"blocks of {', '.join(str(s) for s in sizes)}"
            compared(name, sum(sizes), BlockLDP(epsilon, blocks), published, epsilon)


if __name__ == "__main__":
    main()
