"""The saving by the substitution of least entries on LDP: the same program with and without it.

Run ``python benchmarks/least_entries.py [SIZES...]``: prints a Markdown table of medians over three
runs, side by side in one process, and the ratio.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

from mechdesign import LDP, MeanAbsoluteError, Prior, Problem
from mechdesign.search.lp import linear_program
from mechdesign.search.lp.extended_formulation import (
    NONE,
    ExtendedFormulation,
    extended_formulation,
)
from mechdesign.search.lp.linear_program import solve_linear

RUNS = 3


def seconds(problem: Problem) -> tuple[float, float]:
    """Return the median seconds of the linear route, and the value it finds."""
    taken, value = [], 0.0
    for _ in range(RUNS):
        start = time.perf_counter()
        raw = solve_linear(problem, "simplex")
        taken.append(time.perf_counter() - start)
        cost = problem.utility.cost(problem.domain, problem.prior, raw.outputs)  # type: ignore[attr-defined]
        value = float((cost * raw.matrix).sum())
    return statistics.median(taken), value


def without(problem: Problem) -> tuple[float, float]:
    """The same with the rows t <= q kept as rows."""

    def stated(*parts: Any) -> ExtendedFormulation:
        return replace(extended_formulation(*parts), least=NONE)

    with mock.patch.object(linear_program, "extended_formulation", stated):
        return seconds(problem)


def main(sizes: list[int]) -> None:
    """Print the table."""
    print("| inputs | t and q, s | t and s = q - t, s | ratio | values agree to |")
    print("|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    for k in sizes:
        prior = Prior.from_counts(rng.integers(1, 1000, k).tolist())
        problem = Problem(range(k), LDP(1), MeanAbsoluteError(), prior=prior)
        (slow, a), (fast, b) = without(problem), seconds(problem)
        print(f"| {k} | {slow:.3f} | {fast:.3f} | {slow / fast:.1f} | {abs(a - b) / a:.0e} |")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [30, 60, 100])
