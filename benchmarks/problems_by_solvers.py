"""Every problem of the library by every solver: value, privacy, time, memory.

    python -m benchmarks.problems_by_solvers [--quick] [--only NAME ...] [--solvers NAME ...]
        [--time-limit SECONDS] [--runs N] [--out FOLDER] [--fresh]

Every pair runs in a process of its own that ends when time is up. Of each answer: its value, beside
that in the file and the certified optimum; whether the solver's own matrix is private, exactly; the
value after the repair that makes it so; seconds to build, to solve and, of ours, to prove; memory.

Results go to ``benchmarks/problems_by_solvers.json`` after every pair, and at the end as a page to
``docs/benchmarks.md``; with ``--quick`` or ``--out`` to a folder. A pair that is in the file is not
run again, unless its problem, a version or the machine has changed, or with ``--fresh``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.design_speed import ROOT, machine, run_child
from benchmarks.problem_child import start
from benchmarks.problem_tables import page
from benchmarks.start import set_data_folder
from mechdesign.files import load_problem
from mechdesign.writing.atomic import write_atomically
from solvers import SOLVERS

Record = dict[str, Any]

TABLE_FROM_ELSEWHERE = "data = {"
"""The mark of a problem file that reads a table outside of this repository."""

LIBRARY = {
    path.relative_to(ROOT / "problems").with_suffix("").as_posix(): path
    for path in sorted((ROOT / "problems").glob("*/*.toml"))
    if TABLE_FROM_ELSEWHERE not in path.read_text(encoding="utf-8")
}
"""Problem files by name; one with an external table is replaced by its twin with counts."""

PEERS = (
    "textbook",
    "vectorised:CLARABEL",
    "vectorised:HIGHS",
    "vectorised:ECOS",
    "vectorised:SCS",
    "direct-lp",
    "libqif",
    "vertices",
)
"""The default solvers besides ours."""

QUICK = (
    ("classic/randomized_response", "lip/three_levels"),
    ("ours", "textbook", "vectorised:HIGHS"),
)
"""Problems and solvers of the quick mode."""

TIME_LIMIT, RUNS = 8.0, 3
"""Seconds for a run, and the largest number of runs of a pair."""


@dataclass(frozen=True)
class Places:
    """The paths of results and of the page."""

    results: Path
    page: Path

    @classmethod
    def of(cls, out: Path | None, quick: bool) -> Places:
        """Return the places of a run."""
        if out is None and not quick:
            name = "problems_by_solvers.json"
            return cls(ROOT / "benchmarks" / name, ROOT / "docs" / "benchmarks.md")
        folder = ROOT / ".cache" / "benchmarks" if out is None else out
        return cls(folder / "problems_by_solvers.json", folder / "benchmarks.md")


def stated(name: str) -> Record:
    """Return the record of a problem."""
    problem = load_problem(LIBRARY[name])
    expected = problem.expected
    return {
        "title": problem.title,
        "inputs": len(problem.domain),
        "expected": None if expected is None else expected.value,
        "digest": hashlib.sha256(LIBRARY[name].read_bytes()).hexdigest(),
    }


def known(path: Path, setting: Record) -> tuple[dict[str, Record], list[Record]]:
    """Return the problems and the results in a file that are still valid."""
    if not path.is_file():
        return {}, []
    document = json.loads(path.read_text(encoding="utf-8"))
    if any(document.get(key) != value for key, value in setting.items()):
        return {}, []
    problems = {
        name: record
        for name, record in document["problems"].items()
        if name in LIBRARY and record == stated(name)
    }
    found = [r for r in document["results"] if r["problem"] in problems and r["solver"] in SOLVERS]
    return problems, found


def run_one(problem: str, solver: str, limit: float, most: int) -> Record:
    """Let one solver solve one problem in a fresh process."""
    asked = {"path": str(LIBRARY[problem]), "name": solver, "limit": limit, "most": most}
    found = run_child(partial(start, asked), limit)
    found["runs"] = len(found["runs"])
    return {"problem": problem, "solver": solver, **found}


def run(
    names: Sequence[str],
    solvers: Sequence[str],
    path: Path,
    *,
    limit: float = TIME_LIMIT,
    most: int = RUNS,
    fresh: bool = False,
) -> Record:
    """Run the pairs without a result, write the file after every pair, and return the document.

    Parameters
    ----------
    names, solvers
        Names in :data:`LIBRARY` and in :data:`solvers.SOLVERS`.
    path
        The file of results.
    limit, most
        Seconds for a run, and runs of a pair at most.
    fresh
        Whether to repeat pairs that have a result.
    """
    from tqdm import tqdm

    setting = {"format": "problems-by-solvers", "version": 1, **_lasting(machine())}
    setting |= {"limit": limit}
    problems, found = known(path, setting)
    pairs = [(name, solver) for name in names for solver in solvers]
    if fresh:
        found = [r for r in found if (r["problem"], r["solver"]) not in pairs]
    problems |= {name: stated(name) for name in names}
    done = {(r["problem"], r["solver"]) for r in found}
    path.parent.mkdir(parents=True, exist_ok=True)
    bar = tqdm([pair for pair in pairs if pair not in done], unit="pair", disable=None, leave=False)
    for name, solver in bar:
        bar.set_postfix_str(f"{name}: {solver}")
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        found.append({**run_one(name, solver, limit, most), "load": load})
        _write(path, {**setting, "problems": problems}, found)
    document = {**setting, "problems": dict(sorted(problems.items())), "results": in_order(found)}
    _write(path, {key: document[key] for key in (*setting, "problems")}, document["results"])
    return document


def in_order(found: Iterable[Record]) -> list[Record]:
    """Return results by problem, and by solver in the order of the registry."""
    order = list(SOLVERS)
    return sorted(found, key=lambda r: (r["problem"], order.index(r["solver"])))


def _lasting(record: Record) -> Record:
    """Return the properties of a record other than its time."""
    return {key: value for key, value in record.items() if key != "date"}


def _write(path: Path, head: Record, found: Sequence[Record]) -> None:
    """Write a document with a line for each result."""
    opened = json.dumps(head, indent=1, allow_nan=False).removesuffix("\n}")
    lines = ",\n".join("  " + json.dumps(result, allow_nan=False) for result in found)
    write_atomically(path, f'{opened},\n "results": [\n{lines}\n ]\n}}\n')


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chosen problems and solvers."""
    set_data_folder()
    options = _options(arguments)
    places = Places.of(options.out, options.quick)
    document = run(
        options.only,
        options.solvers,
        places.results,
        limit=options.time_limit,
        most=options.runs,
        fresh=options.fresh,
    )
    places.page.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(places.page, page(document))
    print(f"{places.results}\n{places.page}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.problems_by_solvers",
        description="Every problem of the library by every solver.",
    )
    parser.add_argument("--quick", action="store_true", help="two problems, three solvers, one run")
    parser.add_argument(
        "--only", nargs="+", choices=LIBRARY, metavar="NAME", help="as metric/railway"
    )
    named = ", ".join(SOLVERS)
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, metavar="NAME", help=named)
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, metavar="SECONDS")
    parser.add_argument("--runs", type=int, help="at most, of one pair")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    parser.add_argument("--fresh", action="store_true", help="run again pairs that have a result")
    options = parser.parse_args(arguments)
    names, solvers = QUICK if options.quick else (tuple(LIBRARY), ("ours", *PEERS))
    options.only, options.solvers = options.only or names, options.solvers or solvers
    options.runs = options.runs or (1 if options.quick else RUNS)
    return options


if __name__ == "__main__":
    main(sys.argv[1:])
