"""The time of the best channel for the posterior-mean squared error, with its proof.

Run ``python benchmarks/posterior_error.py [SIZES...]``: prints a Markdown table of one run of
`design` each (random prior, values 0..k-1, epsilon = 1), and of what the checker takes to verify
the saved file. CPU seconds, since other processes may run.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from mechdesign import LDP, LIP, PosteriorMeanSquaredError, Prior, Problem, design
from mechdesign.kernel import verify
from mechdesign.notions import Notion

T = TypeVar("T")

ROWS: list[tuple[Notion, int]] = [
    *((LIP(1), k) for k in (20, 50, 100, 200, 500, 1000)),
    *((LDP(1), k) for k in (10, 20, 50)),
]


def timed(run: Callable[[], T]) -> tuple[T, float]:
    """Return what a function returns, and its CPU seconds."""
    start = time.process_time()
    found = run()
    return found, time.process_time() - start


def row(notion: Notion, k: int) -> str:
    """Return one row of the table."""
    prior = Prior.from_counts(np.random.default_rng(0).integers(1, 50, k).tolist())
    problem = Problem(range(k), notion, PosteriorMeanSquaredError(), prior=prior)
    solution, seconds = timed(lambda: design(problem, route="decoder-grid"))
    text = json.dumps(solution.document())
    _, checking = timed(lambda: verify(json.loads(text)))
    outputs = len(solution.channel.outputs)
    size = len(json.dumps(solution.certificate)) / 1000
    return (
        f"| {notion.name} | {k} | {seconds:.2f} | {solution.gap:.1e} | {solution.status} "
        f"| {outputs} | {checking:.2f} | {size:.0f} |"
    )


def main(sizes: list[int]) -> None:
    """Print the table."""
    print("| notion | inputs | design, s | gap | status | outputs | verify, s | certificate, kB |")
    print("|---|---|---|---|---|---|---|---|")
    for notion, k in ROWS:
        if not sizes or k in sizes:
            print(row(notion, k), flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]])
