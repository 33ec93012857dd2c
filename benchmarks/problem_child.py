"""One solver on one problem file, in a separate process, and the repair of its answer.

The processes are forked from one that has imported everything, so that imports are not measured; on
systems without fork, they are started anew.
"""

from __future__ import annotations

import json
import multiprocessing as mp
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed_child import Record, answer, limit_memory, privacy_record, runs, warm_up
from mechdesign.files import load_problem
from mechdesign.problem import Problem
from problems.families import FAMILIES
from solvers import SOLVERS, SolverResult
from solvers.raw_privacy import raw_privacy
from solvers.repaired import repaired

PRELOADED = [__name__, "cvxpy"]


def measure(path: str, name: str, limit: float, most: int) -> Iterator[Record]:
    """Yield the records of :func:`benchmarks.speed_child.runs` for a problem file and a solver."""
    solver = SOLVERS[name]
    warm_up(FAMILIES["ldp-numeric"](2), solver)
    yield from runs(partial(load_problem, path), solver, limit, most, answer_and_repair)


def answer_and_repair(problem: Problem, result: SolverResult) -> Iterator[Record]:
    """Yield the measurements of an answer; for a peer, also those of its repaired matrix."""
    yield {"sense": problem.utility.sense}
    yield from answer(problem, result)
    if result.solution is not None:
        yield {"repaired_value": result.value}
        return
    channel, value = repaired(problem, result.matrix)
    exact = np.ldexp(channel.numerators.astype(np.longdouble), -channel.bits)
    yield {"repaired_value": value, "privacy": privacy_record(raw_privacy(problem, exact))}


class Forked:
    """A process of ``multiprocessing`` with the interface of ``subprocess.Popen``."""

    def __init__(self, process: mp.process.BaseProcess) -> None:
        self._process = process

    @property
    def returncode(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return its exit status, None while it runs."""
        return self._process.exitcode

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    def wait(self) -> int:
        """Wait for its end."""
        self._process.join()
        return self._process.exitcode or 0


def start(asked: Record, watched: Path, complaints: Path) -> Forked:
    """Start :func:`measure` with these arguments; its records go to a file."""
    ways = mp.get_all_start_methods()
    context: Any = mp.get_context("forkserver" if "forkserver" in ways else "spawn")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_run, args=(asked, watched, complaints), daemon=True)
    process.start()
    return Forked(process)


def _run(asked: Record, watched: Path, complaints: Path) -> None:
    """Run in the new process."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # solvers print from C
    os.dup2(os.open(complaints, os.O_WRONLY | os.O_CREAT), 2)
    limit_memory()
    with watched.open("a", encoding="utf-8") as stream:
        for record in measure(**asked):
            stream.write(json.dumps(record, allow_nan=False) + "\n")
            stream.flush()
