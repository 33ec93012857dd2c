"""Designs along rising budgets: each warm-started from the last, within one time limit."""

from __future__ import annotations

import math
import time

from mechdesign.designs.answers import SolutionPool
from mechdesign.designs.design import check_limits, design
from mechdesign.designs.solution import EARLY, Solution
from mechdesign.errors import CertificateError
from mechdesign.problem import Problem
from mechdesign.search import AUTO, Attempt, plan
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import OPTIMAL, Limits

__all__ = ["Steps"]

INTERRUPTED = f"{EARLY}: interrupted"
"""The note of a solution after Ctrl-C."""

WHY = "the loss and the notion are linear in the channel; warm-started from a smaller budget"


class Steps:
    """Designs one problem at one budget after the other.

    A larger budget makes the cone larger, so that a point on the central path of a smaller budget
    is feasible. A large program starts there, which spares about a third of the steps.

    Parameters
    ----------
    gap
        As for :func:`~mechdesign.design`.
    time_limit
        Seconds for all steps; None: no limit.

    Raises
    ------
    InputError
        If one of them is no number above 0.
    """

    def __init__(self, gap: float | None, time_limit: float | None) -> None:
        check_limits(gap, time_limit)
        self._gap, self._start = gap, time.perf_counter()
        self._seconds = math.inf if time_limit is None else time_limit
        self._last: RawSolution | None = None

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self._seconds - (time.perf_counter() - self._start))

    def design(self, problem: Problem, share: float = 1.0) -> Solution:
        """Design the problem at its budget, in a share of the time that is left."""
        seconds = self.left * share
        solution = self._from_last(problem, seconds)
        if solution is None:
            self._last = None
            solution = design(problem, gap=self._gap, time_limit=_limit(seconds))
        if INTERRUPTED in solution.notes:
            raise KeyboardInterrupt  # the user means all designs, not only this one
        return solution

    def _from_last(self, problem: Problem, seconds: float) -> Solution | None:
        """Design from where the last design was; None where that is no way, or not good enough."""
        path = None if self._last is None else self._last.path
        route = next(plan(problem, AUTO, [])).route.started_at(path)
        if route is None:
            return None
        answers = SolutionPool(
            problem, Limits(OPTIMAL if self._gap is None else self._gap, seconds)
        )
        try:
            raw = answers.attempt(Attempt(route, WHY))
        except CertificateError:
            return None
        if raw is None or not answers.are_enough:
            return None
        self._last = raw
        return answers.solution()


def _limit(seconds: float) -> float | None:
    """Return a time limit as `design` takes it: some time, or none."""
    return None if math.isinf(seconds) else max(seconds, 1e-3)
