"""The route by linear programming: the simplex or interior-point method of HiGHS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mechdesign.errors import InputError
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits
from mechdesign.search.lp.program_size import LARGE, MOST_FOR_HIGHS, program_rows
from mechdesign.search.route import LinearRoute

if TYPE_CHECKING:
    from mechdesign.search.presolve.symmetry_group import Symmetry

METHODS = ("simplex", "ipm")

BYTES = 2_000.0
"""Bytes for each row in the factors of HiGHS."""


class LinearProgram(LinearRoute):
    """Solves one linear program; the solutions of the simplex method are vertices.

    A large program for a worst case is first reduced by its symmetries, if there are any.

    Parameters
    ----------
    method
        ``"simplex"`` or ``"ipm"``; default by size.
    again
        Whether it is a retry for a smaller gap, in which inputs of prior 0 cost nothing.
    """

    name = "linear-program"
    summary = "linear programming by HiGHS, by the simplex or the interior-point method"
    setting = "METHOD"
    uses_symmetry = True

    def __init__(self, method: str = "", *, again: bool = False) -> None:
        self._method, self._again = method, again

    def configured(self, setting: str) -> LinearProgram:
        """Return the route with one method."""
        if setting and setting not in METHODS:
            expected = f"linear-program:METHOD with METHOD one of {', '.join(METHODS)}"
            raise InputError("route", expected, f"linear-program:{setting}")
        return LinearProgram(setting)

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a linear loss, and a program that is not too large for HiGHS."""
        reason = super().suits(problem)
        if reason is None or named:
            return reason
        small = problem.utility.worst_case or program_rows(problem) <= MOST_FOR_HIGHS
        return reason if small else None

    def memory(self, problem: Problem) -> float:
        """Return the memory of the rows of all outputs, and of the factors of HiGHS."""
        return BYTES * program_rows(problem)

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the program, with its symmetries if that is faster."""
        from mechdesign.search.lp.solve import UNLIKELY, solve_linear  # imports scipy and HiGHS

        symmetry = limits.symmetry
        if symmetry is None and not self._method and problem.utility.worst_case:
            symmetry = _found(problem)
        method = self._method or "auto"
        unlikely = 0.0 if self._again else UNLIKELY
        return solve_linear(problem, method, limits, symmetry, unlikely)

    def alternatives(self, problem: Problem) -> Iterator[LinearProgram]:
        """Yield both methods, unless the user has named one."""
        if not self._method:
            yield from (LinearProgram(method, again=True) for method in reversed(METHODS))


def _found(problem: Problem) -> Symmetry | None:
    """Return the symmetries of a large program; None without any."""
    if not (problem.is_conic and program_rows(problem) >= LARGE):
        return None
    from mechdesign.search.presolve.find_symmetries import symmetries

    return symmetries(problem)
