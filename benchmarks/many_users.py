"""One channel for each user: LIP with a prior of their own, mean absolute error, all certified.

    python benchmarks/many_users.py                              # 10,000 users with 21 inputs
    python benchmarks/many_users.py 100000 --cache FOLDER        # each certificate is kept

Prints Markdown: the time of ``design_each``, beside that of ``design`` on a few of the same
problems. The problems come from a generator and no solution is kept, as in a service that sends
each away. With ``--cache`` an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mechdesign import Solution, design
from mechdesign.sweeps import design_each
from problems.families import lip_numeric

INPUTS = 21
ALONE = 50
"""The number of problems also designed one by one."""


def megabytes(whose: int) -> float:
    """Return the peak memory of this process or of its children."""
    return resource.getrusage(whose).ru_maxrss / 1e3


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its children."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("users", nargs="?", type=int, default=10_000)
    parser.add_argument("--inputs", type=int, default=INPUTS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cache", metavar="FOLDER")
    options = parser.parse_args()
    start = time.perf_counter()
    problems = (lip_numeric(options.inputs, seed=seed) for seed in range(options.users))
    optimal, worst = 0, 0.0
    for answer in design_each(problems, n_jobs=options.jobs, cache=options.cache):
        assert isinstance(answer, Solution)
        optimal, worst = optimal + (answer.status == "optimal"), max(worst, answer.gap)
    done, spent = time.perf_counter(), cpu_seconds()
    for seed in range(ALONE):
        design(lip_numeric(options.inputs, seed=seed))
    alone = (time.perf_counter() - done) / ALONE
    each = (done - start) / options.users
    own, child = (megabytes(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print("| users | jobs | seconds | CPU s | each (ms) | design, each (ms) | MB, each process |")
    print("|---|---|---|---|---|---|---|")
    row = (options.users, options.jobs, f"{done - start:.1f}", f"{spent:.0f}", f"{1000 * each:.1f}")
    print(f"| {' | '.join(map(str, row))} | {1000 * alone:.1f} | {own:.0f}, {child:.0f} |")
    print(f"\n{optimal} of {options.users} optimal and certified, largest gap {worst:.1e}.")


if __name__ == "__main__":
    main()
