"""Continuous inputs: certified gap, number of cells, and time.

``python -m benchmarks.continuous`` prints the tables: the worst-case absolute error on [0, 1]
beside the best piecewise mechanism that is published, the salaries of a city under pure LIP (with
the data folder, see docs/problem_files.md), and metric privacy with a mixture law. ``papers`` has
the mechanisms of TIFS Fig. 12 for the salaries, as ``benchmarks.papers`` computed them; if it did
not yet, that takes minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import mechdesign as md
from mechdesign.files.data_files import DataFile
from mechdesign.files.reading import find_data

PIECEWISE = {1: 0.37754076607, 2: 0.26894142302, 4: 0.11920292367}
"""The worst-case absolute error of the best piecewise mechanism (Zheng et al. 2025, PETS)."""

LARGEST_SALARY = 300_000


def solved(problem: md.ContinuousProblem, gap: float) -> str:
    """Return the columns of all tables."""
    start = time.process_time()
    solution = md.design(problem, gap=gap)
    seconds = time.process_time() - start
    return (
        f"{float(solution.value):12.6g} {float(solution.bound):12.6g} {solution.gap:8.2%} "
        f"{solution.cells:6} {seconds:8.1f}"
    )


HEAD = f"{'value':>12} {'bound':>12} {'gap':>8} {'cells':>6} {'CPU s':>8}"


def worst_case() -> None:
    """Print the worst-case absolute error on [0, 1] under LDP."""
    print(f"LDP on [0, 1], worst-case absolute error\n{'epsilon':>8} {HEAD} {'piecewise':>12}")
    for epsilon, published in PIECEWISE.items():
        loss = md.MeanAbsoluteError(worst_case=True)
        problem = md.ContinuousProblem([0, 1], md.LDP(epsilon), loss)
        print(f"{epsilon:8} {solved(problem, 0.003)} {published:12.6g}", flush=True)


def salaries() -> None:
    """Print the mean absolute error of salaries under pure LIP."""
    try:
        file = find_data("baltimore/salaries.csv.gz", Path(), "file")
    except md.InputError as error:
        print(f"salaries: left out, {error}")
        return
    table = {"file": file.name, "column": "gross_pay"}
    cells = [cell for _, (cell,) in DataFile(table, "file", file.parent, "column").cells() if cell]
    law = md.Samples(cells)
    print(f"\nLIP on [0, {LARGEST_SALARY}], gross pay of {len(cells)} people, mean absolute error")
    print(f"{'epsilon':>8} {HEAD}")
    for epsilon in PIECEWISE:
        interval, loss = [0, LARGEST_SALARY], md.MeanAbsoluteError()
        problem = md.ContinuousProblem(interval, md.LIP(epsilon), loss, prior=law)
        print(f"{epsilon:8} {solved(problem, 0.02)}", flush=True)


def papers() -> None:
    """Print the losses of the mechanisms of TIFS Fig. 12 for the salaries, in dollars."""
    from benchmarks.papers.__main__ import Places, computed

    name = "tifs_figure_12"
    (ours, _), _ = computed(name, False, Places.of(None, False).results / f"{name}.json")
    print("\nmean absolute error of the same salaries by mechanisms with a delta, on their range")
    print(f"{'':32}" + "".join(f"epsilon = {epsilon:<6}" for epsilon in PIECEWISE))
    for panel in ours[1:]:
        for curve in panel.curves:
            errors = [1000 * panel.at(curve, epsilon) for epsilon in PIECEWISE]
            cells = "".join(f"{error:<16.0f}" for error in errors)
            print(f"{panel.title:>10}  {curve:<24}  {cells}")


def by_distance() -> None:
    """Print the mean absolute error under metric privacy, for a mixture of two normal laws."""
    law = md.GaussianMixture([0.4, 0.6], [0.3, 0.7], [0.1, 0.05])
    print(f"\nmetric privacy on [0, 1], mixture law, mean absolute error\n{'epsilon':>8} {HEAD}")
    for epsilon in (2, 5, 10):
        notion = md.MetricPrivacy(epsilon, "absolute")
        problem = md.ContinuousProblem([0, 1], notion, md.MeanAbsoluteError(), prior=law)
        print(f"{epsilon:8} {solved(problem, 0.02)}", flush=True)


TABLES = {"worst-case": worst_case, "salaries": salaries, "papers": papers, "distance": by_distance}


def main(words: list[str] | None = None) -> None:
    """Print the requested tables."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    kept = [name for name in TABLES if name != "papers"]
    parser.add_argument("tables", nargs="*", default=kept, help=", ".join(TABLES))
    for name in parser.parse_args(words).tables:
        TABLES[name]()


if __name__ == "__main__":
    main()
