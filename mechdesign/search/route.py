"""The contract of a route: a method that finds the best channel for the problems that it suits.

A route proposes a channel and evidence for a bound. What it proposes is repaired and certified
afterwards, so that no mistake of a route can become a false claim.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import InputError, shown
from mechdesign.problem import Problem
from mechdesign.search.base import Path, RawSolution
from mechdesign.search.limits import Limits

if TYPE_CHECKING:
    from mechdesign.search.presolve.symmetry_group import Symmetry

__all__ = [
    "Attempt",
    "LinearRoute",
    "RejectedRoute",
    "Route",
    "Verdict",
    "recommended",
    "too_large",
]

USED = 1e-12
"""A column all of whose entries are below this is left out."""

MATRICES = 12
"""Matrices as large as the channel that a route holds, by default."""

AGAIN = "; another method for a smaller gap"


@dataclass(frozen=True)
class RejectedRoute:
    """A closed form that a reader would expect, or a route, and why it does not apply."""

    name: str
    reason: str


@dataclass(frozen=True)
class Verdict:
    """Whether a route solves a problem, and why.

    Attributes
    ----------
    holds
        Whether it does.
    reason
        Why, or why not, in a sentence.
    recommended
        Whether the router takes it unasked.
    considered
        Closed forms that do not apply.
    """

    holds: bool
    reason: str
    recommended: bool = True
    considered: tuple[RejectedRoute, ...] = ()


class Route(ABC):
    """A method to find the best channel.

    To add one, write its class beside its algorithm and list it in
    :data:`mechdesign.search.router.ROUTES`. What is slow to import, as scipy and the solvers, is
    imported inside :meth:`solve`.
    """

    name: ClassVar[str]
    """The word for it: ``mechdesign solve --route NAME``."""

    summary: ClassVar[str]
    """One line for the documentation."""

    setting: ClassVar[str] = ""
    """The setting after the name and a colon, such as ``"METHOD"``."""

    allows_non_conic: ClassVar[bool] = False
    """Whether it solves problems with constraints on the whole channel, not only on columns."""

    def configured(self, setting: str) -> Route:
        """Return the route with what the user wrote after the colon, which may be nothing.

        Raises
        ------
        InputError
            If it is no setting of this route.
        """
        if setting:
            expected = f"{self.name} with nothing after it"
            raise InputError("route", expected, shown(f"{self.name}:{setting}"))
        return self

    @abstractmethod
    def check(self, problem: Problem) -> Verdict:
        """Decide whether the route solves the problem."""

    @abstractmethod
    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Find a channel and evidence for a bound, where :meth:`check` holds.

        Raises
        ------
        SolverError
            If a solver fails, or time is over before there is an answer.
        """

    def memory(self, problem: Problem) -> float:
        """Return about how many bytes :meth:`solve` holds at once, from the sizes of the problem.

        Here it is that of a few matrices as large as the channel.
        """
        return MATRICES * 8.0 * len(problem.domain) * len(problem.outputs or problem.domain)

    def alternatives(self, problem: Problem) -> Iterator[Route]:
        """Yield the route with other settings, to be tried where the gap is still too large."""
        yield from ()

    def with_symmetry(self, symmetry: Symmetry) -> Route | None:
        """Return the route that uses symmetries named by the user; None where it uses none."""
        return None

    def started_at(self, path: Path | None) -> Route | None:
        """Return the route that starts where a problem nearby was; None if it has no warm start."""
        return None


class LinearRoute(Route):
    """A route for losses that are linear in the channel.

    A utility with another :attr:`~mechdesign.utilities.base.Utility.linear_form` is replaced by it.
    """

    def check(self, problem: Problem) -> Verdict:
        """Ask for a loss that is linear in the channel, or stands for one."""
        loss = problem.utility.linear_form
        if loss is None:
            return Verdict(False, f"{problem.utility.name} is not linear in the channel")
        if loss is not problem.utility:
            return Verdict(True, "releasing the best guess itself makes the gain linear")
        return Verdict(True, "the loss and the notion are linear in the channel")

    @abstractmethod
    def solve_linear(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve a problem whose utility is a linear loss."""

    def solve(self, problem: Problem, limits: Limits) -> RawSolution:
        """Solve the problem, or that of the best guess in its place.

        The value of a guess is its gain, a ceiling less its loss, at least that without a report.
        So the gap of the loss, which is at most the ceiling, is to be that much smaller.
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
        return replace(raw, matrix=matrix, outputs=name_outputs(problem, matrix.shape[1]))


def too_large(route: Route, problem: Problem, memory: float) -> RejectedRoute:
    """Say that a route would need more memory than there may be."""
    needed, allowed = (f"{size / 1e9:.2g} GB" for size in (route.memory(problem), memory))
    return RejectedRoute(
        route.name, f"it needs about {needed} of memory, and {allowed} are allowed"
    )


class Attempt(NamedTuple):
    """A route to try on a problem, and why."""

    route: Route
    why: str


def recommended(
    routes: Iterable[Route],
    problem: Problem,
    memory: float = math.inf,
    considered: list[RejectedRoute] | None = None,
) -> Iterator[Attempt]:
    """Yield the routes that suit a problem in order, each with its alternatives after it.

    Parameters
    ----------
    routes, problem
        Which to ask, about what.
    memory
        Bytes that a route may hold: one that is known to need more is left out.
    considered
        Filled with those that are left out for that.
    """
    tail = ""
    for route in routes:
        if not (problem.is_conic or route.allows_non_conic):
            continue
        verdict = route.check(problem)
        if verdict.holds and verdict.recommended:
            if route.memory(problem) > memory:
                if considered is not None:
                    considered.append(too_large(route, problem, memory))
                continue
            yield Attempt(route, verdict.reason + tail)
            tail = AGAIN
            for other in route.alternatives(problem):
                yield Attempt(other, verdict.reason + tail)
