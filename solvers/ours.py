"""Our routes, as solvers: the value is that of the repaired, exactly private channel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

from mechdesign import design
from mechdesign.designs import facade
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.problem import Problem
from solvers.base import (
    FailedError,
    FloatArray,
    Solver,
    SolverResult,
    UnsuitableError,
    stopwatch,
)

__all__ = ["by_route"]


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
        with stopwatch() as seconds, _watched() as (solving, raw):
            try:
                solution = design(problem, route=route, **limits)
            except UnsupportedError as error:
                raise UnsuitableError(str(error)) from None
            except SolverError as error:
                raise FailedError(str(error)) from None
            whole = seconds()
        return SolverResult(
            float(solution.value),
            solution.channel.matrix,
            whole,
            name or route,
            {"solve": sum(solving), "prove": whole - sum(solving)},
            solution,
            raw[-1] if raw else None,
        )

    return solve


@contextmanager
def _watched() -> Iterator[tuple[list[float], list[FloatArray]]]:
    """Time the routes that the facade tries, and keep the matrices that they give."""
    solving: list[float] = []
    raw: list[FloatArray] = []

    def timed(run: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*arguments: Any, **options: Any) -> Any:
            with stopwatch() as seconds:
                try:
                    found = run(*arguments, **options)
                finally:
                    solving.append(seconds())
            if hasattr(found, "matrix"):
                raw.append(found.matrix)
            return found

        return measured

    plan = facade.plan

    def watched(*arguments: Any, **options: Any) -> Iterator[Any]:
        attempts = plan(*arguments, **options)
        following = timed(lambda: next(attempts, None))
        while (attempt := following()) is not None:
            bound = attempt.numeric_bound
            yield replace(
                attempt,
                run=timed(attempt.run),
                numeric_bound=None if bound is None else timed(bound),
            )

    with mock.patch.object(facade, "plan", watched):
        yield solving, raw
