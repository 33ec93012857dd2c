"""One contender on one problem, in a process of its own: times, memory, value, privacy.

Run by `design_speed`, which ends it when time is up. Every finished run is a line of JSON in a file
that is watched, so that nothing that was measured is lost.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.speed_cases import SUITES, contenders
from mechdesign.errors import CertificateError
from mechdesign.kernel import verify
from mechdesign.problem import Problem
from solvers import FailedError, Solver, SolverResult, UnsuitableError
from solvers.base import stopwatch
from solvers.raw_privacy import RawPrivacy, raw_privacy

Record = dict[str, Any]
State: TypeAlias = Callable[[], Problem]
Answer: TypeAlias = Callable[[Problem, SolverResult], Iterator[Record]]

LEAST_RUNS, MOST_RUNS = 3, 15
MEMORY_SHARE = 0.8
"""The share of the machine's memory that one contender may use."""

LONG_ENOUGH = 1.0
"""Three runs that take so many seconds together are enough."""


def measure(
    suite: str, size: int, name: str, limit: float, most: int = MOST_RUNS
) -> Iterator[Record]:
    """Yield a record when ready, one after every run, and then the final measurements.

    Parameters
    ----------
    suite, size
        The problem.
    name
        The contender.
    limit
        Seconds; no further run starts that is expected to end later.
    most
        Runs at most.
    """
    kind = SUITES[suite]
    solver = contenders(kind.limits)[name]
    warm_up(kind.problem(kind.small), solver)
    yield from runs(partial(kind.problem, size), solver, limit, most)


def runs(
    state: State, solver: Solver, limit: float, most: int, last: Answer | None = None
) -> Iterator[Record]:
    """Yield a record when ready, one after every run, and then the record of ``last``.

    Parameters
    ----------
    state
        Returns the problem: its time counts as that of stating it.
    solver
        The contender.
    limit, most
        As for :func:`measure`.
    last
        Default :func:`answer`.
    """
    yield {"base_mb": peak_memory()}
    times: list[float] = []
    while not times or not _enough(times, limit, most):
        gc.collect()
        try:
            result, run = _one_run(state, solver)
        except (UnsuitableError, FailedError) as error:
            status = "unsuitable" if isinstance(error, UnsuitableError) else "failed"
            yield {"status": status, "reason": str(error)}
            return
        times.append(run["seconds"])
        yield {"run": run, "peak_mb": peak_memory()}
    yield from (last or answer)(state(), result)


def warm_up(problem: Problem, solver: Solver) -> None:
    """Import what the solver imports, so that no run pays for it."""
    with contextlib.suppress(UnsuitableError, FailedError):  # it may take the problem itself
        solver(problem)


def _enough(times: list[float], limit: float, most: int) -> bool:
    total = sum(times)
    settled = len(times) >= LEAST_RUNS and total >= LONG_ENOUGH
    return settled or len(times) >= most or total + statistics.median(times) > limit


def _one_run(state: State, solver: Solver) -> tuple[SolverResult, Record]:
    """Return the answer and the seconds; of ours, with those of stating, which compiles."""
    start, cpu = time.perf_counter(), time.process_time()
    problem = state()
    stating, cpu_stating = time.perf_counter() - start, time.process_time() - cpu
    result = solver(problem)
    cpu_all = time.process_time() - cpu
    if result.solution is None:
        run = {"seconds": result.seconds, "cpu": cpu_all - cpu_stating, **result.parts}
    else:
        run = {
            "seconds": stating + result.seconds,
            "cpu": cpu_all,
            "build": stating,
            **result.parts,
        }
    return result, run


def answer(problem: Problem, result: SolverResult) -> Iterator[Record]:
    """Yield the record of an answer: its value, its privacy, and, for ours, the proof.

    What takes longest comes last.
    """
    solution = result.solution
    found: Record = {"status": "solved", "inputs": len(problem.domain), "value": result.value}
    if solution is not None:
        found |= {"gap": solution.gap, "bound": float(solution.bound), "route": solution.route}
    yield found
    raw = result.matrix if result.raw is None else result.raw
    if raw is not None:
        yield {"raw_privacy": privacy_record(raw_privacy(problem, raw))}
    if solution is not None:
        if raw is not None:  # else it is noise, whose matrix is not written out
            channel = solution.channel
            exact = np.ldexp(channel.numerators.astype(np.longdouble), -channel.bits)
            yield {"privacy": privacy_record(raw_privacy(problem, exact))}
        text = json.dumps(solution.document())
        yield {"megabytes": len(text) / 1e6}
        with stopwatch() as seconds:
            try:
                verify(json.loads(text))
                proof: Record = {"certified": True}
            except CertificateError as error:
                proof = {"certified": False, "reason": str(error)}
            yield {**proof, "verify": seconds()}


def privacy_record(privacy: RawPrivacy) -> Record:
    """Return a verdict as JSON has it, where infinity is a word."""
    return {
        key: str(value) if isinstance(value, float) and not np.isfinite(value) else value
        for key, value in dataclasses.asdict(privacy).items()
    }


def peak_memory() -> float:
    """Return the most memory that this process has had, in MB.

    Linux reports it for the program that runs now; the figure of ``getrusage`` is at least that of
    the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def limit_memory() -> None:
    """Limit the memory of this process, so that it fails before the machine does."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (int(MEMORY_SHARE * whole), hard))


if __name__ == "__main__":
    limit_memory()
    asked, watched = json.loads(sys.argv[1]), Path(sys.argv[2])
    with watched.open("a", encoding="utf-8") as stream:
        for record in measure(**asked):
            stream.write(json.dumps(record, allow_nan=False) + "\n")
            stream.flush()
