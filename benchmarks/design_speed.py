"""The time of the best channel: ours by each route, a textbook transcription, cvxpy, libqif.

Run ``python benchmarks/design_speed.py [--families ...] [--solvers ...] [--out FILE.json]`` from
anywhere; ``--quick`` takes seconds. Every contender solves every problem in a process of its own,
right after the others, so that ratios are between neighbors in time; what is out of time in one
size is not tried in a larger one. Prints Markdown tables, and with ``--out`` writes all figures as
JSON, after every case, and the tables beside it.

The times are medians over runs, wall clock. ``build`` states the problem (for ours: reads and
compiles it), ``solve`` runs the algorithm, ``prove`` repairs the channel and certifies it. Privacy
is that of the solver's matrix, evaluated beyond the precision of its floats.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

# run as a file, it does not see the folders around the library, which are not installed
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.speed_cases import QUICK, SUITES, contenders
from benchmarks.speed_problems import missing
from benchmarks.speed_tables import tables
from mechdesign.writing.atomic import write_atomically

ROOT = Path(__file__).resolve().parents[1]

Record = dict[str, Any]

PACKAGES = ("mechdesign", "numpy", "scipy", "highspy", "cvxpy", "clarabel", "ecos", "scs", "qif")

TIME_LIMIT, TO_PROVE = 60.0, 60.0
"""Default time limit of a run; and seconds allowed beyond the time limit of our routes."""

START_UP, GRACE, POLL = 60.0, 5.0, 0.02
"""Seconds for a process to start, beyond the limit of a run, and between two polls."""

LINES_KEPT = 30
"""Characters kept of the output of a failed process."""

GIVEN_UP = ("out of time", "unsuitable")
"""Results after which a contender is not tried in a larger size."""


class Child(Protocol):
    """A process, as ``subprocess.Popen`` is."""

    @property
    def returncode(self) -> int | None:
        """Its exit status, None before it has ended or been asked."""

    def poll(self) -> int | None:
        """Return its exit status, None while it runs."""

    def kill(self) -> None:
        """End it."""

    def wait(self) -> int:
        """Wait for its end."""


def machine() -> Record:
    """Return the properties of the machine."""
    installed = {}
    for package in PACKAGES:
        try:
            installed[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            installed[package] = None
    return {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.system(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "packages": installed,
    }


def _processor() -> str:
    """Return the model of the processor, read from Linux."""
    source = Path("/proc/cpuinfo")
    lines = source.read_text(encoding="utf-8").splitlines() if source.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def run_one(suite: str, size: int, solver: str, limit: float, most: int) -> Record:
    """Let one contender solve one problem in a fresh process, and end it after the time limit."""
    asked = {"suite": suite, "size": size, "name": solver, "limit": limit, "most": most}

    def start(watched: Path, complaints: Path) -> Child:
        with complaints.open("wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "benchmarks.speed_child", json.dumps(asked), str(watched)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    return {"suite": suite, "size": size, "solver": solver, **run_child(start, limit)}


def run_child(start: Callable[[Path, Path], Child], limit: float) -> Record:
    """Start a process, end it after the time limit, and return its records, with medians over runs.

    ``start`` gets the file for the process's records, and the file for its error output.
    """
    with tempfile.TemporaryDirectory() as folder:
        watched, complaints = Path(folder) / "records", Path(folder) / "stderr"
        watched.touch()
        process = start(watched, complaints)
        try:
            ended = _watch(process, watched, limit)
        finally:
            process.kill()  # in any case; harmless after its end
            process.wait()
        whole_lines = watched.read_text("utf-8").rpartition("\n")[0].splitlines()
        records = [json.loads(line) for line in whole_lines]
        said = complaints.read_text("utf-8", errors="replace").strip().splitlines()
    found: Record = {"status": "out of time"}
    if ended and process.returncode:
        reason = said[-1] if said else f"exit status {process.returncode}"
        found |= {"status": "failed", "reason": reason, "stderr": said[-LINES_KEPT:]}
    runs = [record.pop("run") for record in records if "run" in record]
    for record in records:
        found |= record
    if found["status"] == "out of time":
        found |= {"reason": f"more than {limit:g} s", "limit": limit}
    parts = {key for run in runs for key in run}
    found["runs"] = runs
    found["median"] = {key: statistics.median(run[key] for run in runs) for key in sorted(parts)}
    return found


def _watch(process: Child, watched: Path, limit: float) -> bool:
    """Wait for the end, or until there is no output for too long; return whether it ended."""
    seen, patience, since = 0, START_UP + limit, time.monotonic()
    while process.poll() is None:
        if watched.stat().st_size > seen:
            seen, patience, since = watched.stat().st_size, limit + GRACE, time.monotonic()
        if time.monotonic() - since > patience:
            return False
        time.sleep(POLL)
    return True


def results(options: argparse.Namespace) -> Iterator[Record]:
    """Yield one record for each problem and contender, with a progress bar."""
    from tqdm import tqdm

    plan = [
        (suite, size, solver)
        for suite in options.families
        for size in options.sizes or _sizes(suite, options.quick)
        for solver in options.solvers
        if solver in (SUITES[suite].only or options.solvers)
    ]
    given_up: dict[tuple[str, str], Record] = {}
    bar = tqdm(plan, unit="case", disable=None, leave=False)
    for suite, size, solver in bar:
        bar.set_postfix_str(f"{suite} {size}: {solver}")
        case: Record = {"suite": suite, "size": size, "solver": solver}
        absent = missing(SUITES[suite].family)
        if absent:
            yield {**case, "status": "skipped", "reason": absent, "runs": [], "median": {}}
            continue
        before = given_up.get((suite, solver))
        if before is not None:
            why = f"{before['status']} at size {before['size']}"
            yield {**case, "status": "skipped", "reason": why, "runs": [], "median": {}}
            continue
        own_limit = SUITES[suite].limits.get("time_limit")
        limit = options.time_limit if own_limit is None else own_limit + TO_PROVE
        found = run_one(suite, size, solver, limit, 1 if options.quick else options.runs)
        if found["status"] in GIVEN_UP:
            given_up[suite, solver] = found
        yield found


def _sizes(suite: str, quick: bool) -> Sequence[int]:
    return (SUITES[suite].small,) if quick else SUITES[suite].sizes


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = _options(arguments)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
    report = {"format": "design-speed", "version": 1, **machine(), "limit": options.time_limit}
    found: list[Record] = []
    for result in results(options):
        found.append(result)
        if options.out:
            text = json.dumps({**report, "results": found}, indent=1, allow_nan=False)
            write_atomically(options.out, text + "\n")
    text = tables(report, found)
    print(text)
    if options.out:
        write_atomically(options.out.with_suffix(".md"), text + "\n")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How long the best channel takes.")
    known = list(contenders())
    parser.add_argument("--quick", action="store_true", help="small problems, one run of each")
    named = ", ".join(SUITES).replace("%", "%%")  # argparse formats its help
    parser.add_argument("--families", nargs="+", choices=list(SUITES), metavar="NAME", help=named)
    parser.add_argument(
        "--solvers",
        nargs="+",
        metavar="NAME",
        help=f"{', '.join(known)}; or 'ours:', 'vectorised:' for all of a kind",
    )
    parser.add_argument("--sizes", nargs="+", type=int, help="in place of those of the families")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, metavar="SECONDS")
    parser.add_argument(
        "--runs", type=int, default=15, help="at most, of one contender on one problem"
    )
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    options = parser.parse_args(arguments)
    families, solvers = QUICK if options.quick else (list(SUITES), known)
    options.families = options.families or families
    asked, options.solvers = options.solvers or solvers, []
    for name in asked:
        stem = name.rstrip(":") + ":"
        chosen = [name] if name in known else [other for other in known if other.startswith(stem)]
        if not chosen:
            parser.error(f"no contender {name!r}; there are {', '.join(known)}")
        options.solvers += chosen
    return options


if __name__ == "__main__":
    main()
