"""One channel for each user: LIP with a prior of their own, mean absolute error, all certified.

    python benchmarks/many_users.py            # 10,000 users with 21 inputs
    python benchmarks/many_users.py 1000 --jobs 1

Prints Markdown: what ``design_many`` takes, beside ``design`` on a few of the same problems.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mechdesign import design, design_many
from problems.families import lip_numeric

INPUTS = 21
ALONE = 50
"""So many are also designed one by one."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("users", nargs="?", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    start = time.perf_counter()
    problems = [lip_numeric(INPUTS, seed=seed) for seed in range(options.users)]
    built = time.perf_counter()
    solutions = design_many(problems, n_jobs=options.jobs)
    done = time.perf_counter()
    few = problems[:ALONE]
    for problem in few:
        design(problem)
    alone = (time.perf_counter() - done) / len(few)
    each = (done - built) / options.users
    optimal = sum(solution.status == "optimal" for solution in solutions)
    print("| users | jobs | stating (s) | design_many (s) | each (ms) | design, each (ms) |")
    print("|---|---|---|---|---|---|")
    row = (options.users, options.jobs, f"{built - start:.1f}", f"{done - built:.1f}")
    print(f"| {' | '.join(map(str, row))} | {1000 * each:.1f} | {1000 * alone:.1f} |")
    worst = max(solution.gap for solution in solutions)
    print(f"\n{optimal} of {options.users} optimal and certified, largest gap {worst:.1e}.")


if __name__ == "__main__":
    main()
