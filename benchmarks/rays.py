"""Histogram error and information by extreme rays: seconds, value and proved gap, by size.

Run ``python benchmarks/rays.py [quick]``: prints a Markdown table. LIP at epsilon = 1 with a prior
of counts and with one of nine random digits, of which the search over sums cannot make use; LDP and
a random E matrix with 30 % infinite entries where all rays can be listed, and beyond.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from mechdesign import (
    LDP,
    LIP,
    ContextAwareLDP,
    MutualInformation,
    PosteriorMeanSquaredError,
    Prior,
    Problem,
    design,
)
from mechdesign.kernel import verify
from mechdesign.notions import Notion


def counts(k: int) -> Prior:
    """Return a prior of whole counts below 50, random but the same in every run."""
    return Prior.from_counts(np.random.default_rng(k).integers(1, 50, k).tolist())


def digits(k: int) -> Prior:
    """Return a prior of nine random digits."""
    weights = np.random.default_rng(k).dirichlet(np.ones(k)) * 1e9
    return Prior.from_counts((weights.astype(int) + 1).tolist())


def matrix(k: int) -> Notion:
    """Return a random E matrix, 30 % of it infinite."""
    rng = np.random.default_rng(k)
    E = np.where(rng.random((k, k)) < 0.3, np.inf, rng.uniform(0.2, 2, (k, k)).round(3))
    np.fill_diagonal(E, 0)
    return ContextAwareLDP([["inf" if np.isinf(e) else str(e) for e in row] for row in E])


QUICK: list[tuple[str, int, Notion, Prior]] = [
    ("LIP, counts", 20, LIP(1), counts(20)),
    ("LDP", 8, LDP(1), counts(8)),
    ("E matrix", 8, matrix(8), counts(8)),
]
FULL: list[tuple[str, int, Notion, Prior]] = [
    *QUICK,
    ("LIP, nine digits", 20, LIP(1), digits(20)),
    ("LIP, counts", 50, LIP(1), counts(50)),
    ("LIP, counts", 83, LIP(1), counts(83)),
    ("LIP, nine digits", 83, LIP(1), digits(83)),
    ("LDP", 12, LDP(1), counts(12)),
    ("LDP", 20, LDP(1), counts(20)),
    ("E matrix", 10, matrix(10), counts(10)),
    ("E matrix", 20, matrix(20), counts(20)),
]


def main(cases: list[tuple[str, int, Notion, Prior]]) -> None:
    """Print the table."""
    print("| notion | inputs | objective | value | gap | design, s | verify, s | how |")
    print("|---|---|---|---|---|---|---|---|")
    for name, k, notion, prior in cases:
        for utility in (PosteriorMeanSquaredError(histogram=True), MutualInformation()):
            start = time.perf_counter()
            solution = design(Problem(range(k), notion, utility, prior=prior))
            middle = time.perf_counter()
            verify(solution.document())
            end = time.perf_counter()
            what = "information" if solution.problem.utility.is_maximized else "histogram"
            how = solution.notes[0] if solution.notes else solution.route
            print(
                f"| {name} | {k} | {what} | {float(solution.value):.8g} | {solution.gap:.1e} "
                f"| {middle - start:.2f} | {end - middle:.2f} | {how} |",
                flush=True,
            )


if __name__ == "__main__":
    main(QUICK if "quick" in sys.argv[1:] else FULL)
