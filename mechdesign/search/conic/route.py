"""The routes by conic programming: non-conic notions, and any convex problem in cvxpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mechdesign.errors import InputError, UnsupportedError
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.conic.cvxpy_solver import CONIC_SOLVERS, solve_conic, solver_named
from mechdesign.search.limits import Limits
from mechdesign.search.route import LinearRoute, Route
from mechdesign.utilities import ConvexUtility

if TYPE_CHECKING:
    import cvxpy as cp

HIGHS = ("simplex", "ipm")
"""Methods of HiGHS; the other solvers are those of cvxpy."""


BYTES = 200.0
"""For each row of a program, in cvxpy and in the solver."""


class NonConic(LinearRoute):
    """Solves for linear losses under constraints on the whole channel.

    Sums of linear excesses give a linear program. A bound on mutual information is not linear and
    is left to cvxpy, unless the other notions imply it.

    Parameters
    ----------
    solver
        A method of HiGHS or a solver of cvxpy; default the first suitable one.
    again
        Whether it is a retry for a smaller gap, in which inputs of prior 0 cost nothing.
    """

    name = "conic"
    summary = "linear and conic programs for notions about the whole channel"
    allows_non_conic = True

    def __init__(self, solver: str = "", *, again: bool = False) -> None:
        self._solver, self._again = solver, again

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a linear loss, and a notion on the whole channel."""
        if problem.is_conic and not named:
            return None
        if problem.utility.linear_form is problem.utility:
            return "a notion bounds a convex function of the whole channel"
        return super().suits(problem)

    def memory(self, problem: Problem) -> float:
        """Return the memory of a row for each pair of inputs and each output."""
        return _rows_in_full(problem)

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve by one solver."""
        solver = self._solver or _solvers(problem)[0]
        if solver not in HIGHS:
            return solve_conic(problem, solver, limits)
        # scipy and HiGHS on demand
        from mechdesign.search.conic.non_conic import UNLIKELY, solve_non_conic

        return solve_non_conic(problem, solver, limits, 0.0 if self._again else UNLIKELY)

    def alternatives(self, problem: Problem) -> Iterator[NonConic]:
        """Yield the other solvers."""
        first, *others = _solvers(problem)
        if first in HIGHS and 0 in problem.prior.probabilities:
            others = [first, *others]
        yield from (NonConic(solver, again=True) for solver in others)


def _solvers(problem: Problem) -> tuple[str, ...]:
    """Return the solvers for a problem, in order of preference."""
    bounds = (bound for bound in problem.channel_constraints if bound is not None)
    if all(bound.is_linear for bound in bounds):
        return (*HIGHS, CONIC_SOLVERS[0])
    first = HIGHS[:1] if len(problem.privacy) > 1 else ()  # the bound on information may not bind
    return (*first, *CONIC_SOLVERS)


def _rows_in_full(problem: Problem) -> float:
    """Return the bytes of a program that states all pairs of inputs for each output."""
    return BYTES * len(problem.domain) ** 2 * len(problem.outputs or problem.domain)


class Cvxpy(LinearRoute):
    """States the problem directly in cvxpy: the reference for every faster route.

    Parameters
    ----------
    solvers
        Installed cvxpy solvers; default the conic ones, the most precise first.
    constraints
        The user's own constraints on ``problem.Q``.
    """

    name = "cvxpy"
    summary = "the original problem, by a solver of cvxpy, such as cvxpy:CLARABEL"
    setting = "NAME"
    allows_non_conic = True

    def __init__(
        self,
        solvers: Sequence[str] = CONIC_SOLVERS,
        constraints: Sequence[cp.Constraint] = (),
    ) -> None:
        self._solvers, self._constraints = solvers, constraints

    @classmethod
    def of_terms(cls, route: str, constraints: Sequence[cp.Constraint]) -> Cvxpy:
        """Return the route ``"auto"`` or ``"cvxpy:NAME"`` for the user's own terms."""
        name, _, option = route.partition(":")
        if name not in ("auto", "conic", "cvxpy") or (name == "cvxpy") != bool(option):
            expected = "auto or cvxpy:NAME, with constraints or an objective of your own"
            raise UnsupportedError("route", expected, route)
        return cls((solver_named(option),) if option else CONIC_SOLVERS, constraints)

    def configured(self, setting: str) -> Cvxpy:
        """Return the route with the named solver."""
        if not setting:
            raise InputError("route", "cvxpy:NAME, as in cvxpy:CLARABEL", "cvxpy")
        return Cvxpy((solver_named(setting),))

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Accept any problem if named, and the user's own convex terms."""
        if self._is_own(problem):
            return "constraints or a loss of your own, convex in the channel"
        return "asked for" if named else None

    def memory(self, problem: Problem) -> float:
        """Return the memory of a row for each pair of inputs and each output."""
        return _rows_in_full(problem)

    def _is_own(self, problem: Problem) -> bool:
        return bool(self._constraints) or isinstance(problem.utility, ConvexUtility)

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """State the problem and solve it."""
        if not self._is_own(problem):
            return super().solve(problem, limits)
        from mechdesign.search.conic.user_terms import solve_custom  # imports cvxpy

        return solve_custom(problem, self._constraints, self._solvers, limits)

    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve by the first solver."""
        return solve_conic(problem, self._solvers[0], limits)

    def alternatives(self, problem: Problem) -> Iterator[Route]:
        """Yield the other solvers."""
        yield from (Cvxpy((name,)) for name in self._solvers[1:])
