"""The contract of a route: a method that finds the best channel for suitable problems.

A route returns a channel and evidence for a bound. Both are repaired and certified afterwards, so
an error in a route cannot become a false claim.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import InputError, shown
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.limits import Limits

USED = 1e-12
"""A column with all entries below this is dropped."""


@dataclass(frozen=True)
class RejectedRoute:
    """A closed form that a reader would expect, or a route, and why it does not apply."""

    name: str
    reason: str


class Route(ABC):
    """A method to find the best channel.

    To add one, write its class beside its algorithm and list it in
    :data:`mechdesign.search.router.ROUTES`. Slow imports, such as scipy and the solvers, are inside
    :meth:`solve`.
    """

    name: ClassVar[str]
    """Its name: ``mechdesign solve --route NAME``."""

    summary: ClassVar[str]
    """One line for the documentation, and for the error if it does not suit a problem."""

    setting: ClassVar[str] = ""
    """The setting after the name and a colon, such as ``"METHOD"``."""

    allows_non_conic: ClassVar[bool] = False
    """Whether it supports constraints on the whole channel, not only on columns."""

    uses_symmetry: ClassVar[bool] = False
    """Whether it uses :attr:`~mechdesign.search.limits.Limits.symmetry`."""

    matrices: ClassVar[int] = 12
    """The number of matrices of the size of the channel that it holds at once."""

    def configured(self, setting: str) -> Route:
        """Return the route with the setting after the colon, which may be empty."""
        if setting:
            expected = f"{self.name} with nothing after it"
            raise InputError("route", expected, shown(f"{self.name}:{setting}"))
        return self

    @abstractmethod
    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Return the reason to try the route on the problem.

        None if it does not support the problem, or if another route is better and the user has not
        named this one.
        """

    @abstractmethod
    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Return a channel and evidence for a bound, for a problem that the route suits.

        Raises
        ------
        SolverError
            If a solver fails, or the time is over before there is an answer.
        """

    def memory(self, problem: Problem) -> float:
        """Return the approximate memory of :meth:`solve` in bytes."""
        return self.matrices * 8.0 * len(problem.domain) * len(problem.outputs or problem.domain)

    def alternatives(self, problem: Problem) -> Iterator[Route]:
        """Yield the route with other settings, to be tried if the gap is still too large."""
        yield from ()


class LinearRoute(Route):
    """A route for losses that are linear in the channel.

    A utility is replaced by its :attr:`~mechdesign.utilities.base.Utility.linear_form`.
    """

    def suits(self, problem: Problem, named: bool = False) -> str | None:
        """Require a linear loss, or a utility with a linear form."""
        loss = problem.utility.linear_form
        if loss is None:
            return None
        if loss is not problem.utility:
            return "releasing the best guess itself makes the gain linear"
        return "the loss and the notion are linear in the channel"

    @abstractmethod
    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve a problem whose utility is a linear loss."""

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the problem, or that of the best guess in its place.

        The gain of a guess is a ceiling minus its loss, at least the gain without a report. So the
        gap of the loss, which is at most the ceiling, must be smaller in proportion.
        """
        loss = problem.utility.linear_form
        if loss is None or loss is problem.utility:
            return self.solve_linear(problem, limits)
        guesses = Problem(problem.domain, problem.privacy, loss, prior=problem.prior)
        within = limits.part(unit=1.0)
        utility = problem.utility
        costs = loss.cost(problem.domain, problem.prior, guesses.outputs or ())
        within.gap = limits.gap * (1 - float(costs.sum(axis=0).min()) / float(utility.ceiling))
        raw = self.solve_linear(guesses, within)
        matrix = raw.matrix[:, raw.matrix.max(axis=0) > USED]
        outputs = name_outputs(problem, matrix.shape[1])
        return replace(raw, matrix=matrix, outputs=outputs, value=None)
