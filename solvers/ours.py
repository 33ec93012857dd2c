"""Our routes, as solvers: the value is that of the repaired, exactly private channel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from mechdesign import Channel, design
from mechdesign.designs import design as design_module
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.problem import Problem
from mechdesign.search import RawSolution, Route
from mechdesign.search.limits import Limits
from mechdesign.search.starts.route import Start
from solvers.base import (
    FailedError,
    FloatArray,
    Solver,
    SolverResult,
    UnsuitableError,
    stopwatch,
)


def by_route(route: str, name: str | None = None, **limits: float) -> Solver:
    """Return the solver that takes one route of ours.

    Parameters
    ----------
    route
        As in ``mechdesign solve --route``.
    name
        What to call it; default the route.
    limits
        Passed on to :func:`mechdesign.design`.
    """

    def solve(problem: Problem) -> SolverResult:
        with stopwatch() as seconds, _recorded() as raw:
            try:
                solution = design(problem, route=route, **limits)
            except UnsupportedError as error:
                raise UnsuitableError(str(error)) from None
            except SolverError as error:
                raise FailedError(str(error)) from None
            if solution.route.startswith(Start.name):  # the route itself had no answer
                raise FailedError("; ".join(solution.notes))
            whole = seconds()
        proving = solution.timings["repair"] + solution.timings["certify"]
        return SolverResult(
            float(solution.value),
            solution.channel.matrix if isinstance(solution.channel, Channel) else None,
            whole,
            name or route,
            {"solve": whole - proving, "prove": proving},
            solution,
            raw[-1] if raw else None,
        )

    return solve


class _Recorder(Route):
    """A route that keeps the matrices that another gives."""

    name = summary = "recorder"

    def __init__(self, route: Route, raw: list[FloatArray]) -> None:
        self._route, self._raw = route, raw

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        return self._route.suits(problem, named)

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        found = self._route.solve(problem, limits)
        self._raw.append(found.matrix)
        return found


@contextmanager
def _recorded() -> Iterator[list[FloatArray]]:
    """Keep the matrices of the routes that the design tries."""
    raw: list[FloatArray] = []
    plan = design_module.plan

    def recorded(*arguments: Any, **options: Any) -> Iterator[tuple[Route, str]]:
        for chosen, why in plan(*arguments, **options):
            yield _Recorder(chosen, raw), why

    with mock.patch.object(design_module, "plan", recorded):
        yield raw
