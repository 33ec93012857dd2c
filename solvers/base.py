"""Input and output of every solver here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mechdesign.designs.solution import Solution
from mechdesign.problem import Problem

FloatArray: TypeAlias = npt.NDArray[np.float64]


class UnsuitableError(Exception):
    """The solver does not take such a problem: the wrong kind, or too large for it."""


class FailedError(Exception):
    """The solver takes such problems but found no optimum of this one."""


@dataclass(frozen=True)
class SolverResult:
    """The answer of one solver.

    Attributes
    ----------
    value
        The optimal loss that it reports.
    matrix
        The channel that it reports, ``(n_inputs, n_outputs used)``: private up to its own
        tolerance only, unless it is ours; None for noise, which has none written out.
    seconds
        Wall-clock time, with whatever it takes to state the problem.
    name
        The name in :data:`solvers.SOLVERS`.
    parts
        Seconds of ``"build"``, to state the problem to a solver; of ``"solve"``; and of ours
        ``"prove"``, to repair and certify. Only the parts that can be measured apart.
    solution, raw
        Of ours: the certified solution, and the last matrix before the repair; else None.
    """

    value: float
    matrix: FloatArray | None
    seconds: float
    name: str
    parts: Mapping[str, float] = field(default_factory=dict)
    solution: Solution | None = None
    raw: FloatArray | None = None


Solver: TypeAlias = Callable[[Problem], SolverResult]


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Yield a function that returns the seconds since the start."""
    start = time.perf_counter()
    yield lambda: time.perf_counter() - start
