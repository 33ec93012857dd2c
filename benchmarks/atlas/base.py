"""The base classes of what the atlas measures: a grid, a claim, a problem and its optimum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from mechdesign.channel import Channel
from mechdesign.continuous.problem import ContinuousProblem
from mechdesign.designs.design import design
from mechdesign.designs.solution import Solution
from mechdesign.errors import InputError, MechdesignError, UnsupportedError
from mechdesign.exact import fraction_text
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.sweeps.many import design_each

FloatArray = npt.NDArray[np.float64]

EPSILONS = (
    *("0.1", "0.125", "0.16", "0.2", "0.25", "0.32", "0.4", "0.5", "0.63", "0.8", "1"),
    *("1.25", "1.6", "2", "2.5", "3.2", "4", "5"),
)
"""Budgets in nats, about evenly spaced in their logarithm."""

QUICK_EPSILONS = ("0.25", "1", "2.5")

NEAR = 1e-6
"""How far from the bound, relative to it, a loss may be that counts as optimal."""

SECOND = "extreme-rays"
"""The route to try where the first ends with a gap."""


class Region(StrEnum):
    """The verdict on a formula at one point of its map."""

    OPTIMAL = "optimal"
    """Private, and no private channel is better by more than 1e-6 of its loss."""

    FEASIBLE = "feasible"
    """Private, and another private channel is better."""

    INFEASIBLE = "infeasible"
    """Not private at this budget."""


class Point(NamedTuple):
    """One point of a map.

    Attributes
    ----------
    epsilon
        The budget in nats, exact.
    parameter
        The other coordinate, exact.
    """

    epsilon: Fraction
    parameter: Fraction


@dataclass(frozen=True)
class Axis:
    """The upright axis of a map.

    Attributes
    ----------
    key
        The name of the parameter in the tables.
    label
        The label of the axis.
    values, quick
        The values of the whole map, and the few of the quick one, rising.
    """

    key: str
    label: str
    values: tuple[Fraction, ...]
    quick: tuple[Fraction, ...]


@dataclass(frozen=True)
class Boundary:
    """A boundary that is known exactly: the parameter as a function of the budget.

    Attributes
    ----------
    text
        Its equation.
    height
        The parameter at a budget; nan where there is no boundary.
    above, below
        The region on either side, next to the line.
    """

    text: str
    height: Callable[[float], float]
    above: Region
    below: Region


class Optimum(NamedTuple):
    """The optimum of private channels or kernels.

    Attributes
    ----------
    value
        The loss, or gain, of the best one found, which is exactly private.
    bound
        What no private one is better than, proved.
    route
        How it was found.
    """

    value: float
    bound: float
    route: str


class Measured(NamedTuple):
    """Leakage of a mechanism, as ``Notion.leakage``, and its loss or gain, rounded up."""

    leakage: float
    loss: float


class Entry(ABC):
    """A mechanism with a claim, and the map that the claim is measured on.

    A subclass states the claim and its region, the mechanism's leakage and loss at a point, and
    what the optimum of the same problem is. The region follows.
    """

    name: ClassVar[str]
    """Its name in tables and on the command line."""

    title: ClassVar[str]
    """A few words above its map."""

    source: ClassVar[str]

    claim: ClassVar[str]
    """The claim of optimality with its source, and the measure."""

    axis: ClassVar[Axis]
    boundaries: ClassVar[tuple[Boundary, ...]] = ()

    gap: ClassVar[float] = NEAR
    """How far the optima are from their bounds at most, relative to them."""

    @abstractmethod
    def problem(self, at: Point) -> Problem | ContinuousProblem:
        """Return the problem whose optimum the mechanism is compared with: its sole notion too."""

    @abstractmethod
    def optima(self, points: Sequence[Point], n_jobs: int | None = None) -> Iterator[Optimum]:
        """Yield the optimum at each point; ``n_jobs`` as for :func:`~mechdesign.design_many`."""

    @abstractmethod
    def measured(self, at: Point) -> Measured:
        """Return what the mechanism leaks and loses at a point."""

    def proved(self, at: Point) -> Region | None:
        """Return the region that follows from a proof; None where there is none."""
        return None

    def points(self, quick: bool = False) -> list[Point]:
        """Return the points of the map."""
        budgets = [Fraction(text) for text in (QUICK_EPSILONS if quick else EPSILONS)]
        values = self.axis.quick if quick else self.axis.values
        return [Point(epsilon, value) for value in values for epsilon in budgets]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.points())} points)"


class Formula(Entry):
    """A closed form of a channel on finitely many inputs."""

    @abstractmethod
    def problem(self, at: Point) -> Problem:
        """Return the problem whose optimum the formula is compared with: its sole notion too."""

    @abstractmethod
    def channel(self, at: Point) -> Channel:
        """Return the channel of the formula, as published, rounded to multiples of 2**-62."""

    def leakage(self, at: Point, problem: Problem, channel: Channel) -> float:
        """Return the smallest epsilon of the exact channel, rounded up; see ``Notion.leakage``."""
        (notion,) = problem.privacy
        return notion.leakage(channel, problem.prior)

    def optima(self, points: Sequence[Point], n_jobs: int | None = None) -> Iterator[Optimum]:
        """Yield the optima, all designed in one batch."""
        problems = [self.problem(at) for at in points]
        for solution in design_each(problems, n_jobs=n_jobs, progress=False):
            if isinstance(solution, MechdesignError):
                raise solution
            best = _closest(solution)
            yield Optimum(float(best.value), float(best.bound), best.route)

    def measured(self, at: Point) -> Measured:
        """Return the leakage and the loss of the exact channel."""
        problem, channel = self.problem(at), self.channel(at)
        own: Any = problem.utility.value(channel, problem.prior, problem.outputs)
        return Measured(self.leakage(at, problem, channel), float(own))


def _closest(solution: Solution) -> Solution:
    """Return the solution; by another route where the first left a gap and the other does not."""
    if solution.gap <= NEAR:
        return solution
    try:
        other = design(solution.problem, route=SECOND)
    except UnsupportedError:
        return solution
    return min(solution, other, key=lambda found: found.gap)


def shares(text: str) -> tuple[Fraction, ...]:
    """Return the exact numbers in a text.

    Examples
    --------
    >>> shares("0.01 1/3")
    (Fraction(1, 100), Fraction(1, 3))
    """
    return tuple(Fraction(word) for word in text.split())


def sizes(values: Iterable[int]) -> tuple[Fraction, ...]:
    """Return whole numbers, as exact ones."""
    return tuple(Fraction(value) for value in values)


def one_rare(size: int, share: Fraction) -> Prior:
    """Return the prior with one input of probability ``share``, all others alike.

    Raises
    ------
    InputError
        If the share is above that of the others.

    Examples
    --------
    >>> one_rare(4, Fraction(1, 10))
    Prior(0.1, 0.3, 0.3, 0.3)
    """
    if not 0 < share * size <= 1:
        raise InputError("share", f"a number above 0, at most 1/{size}", fraction_text(share))
    return Prior([share, *[(1 - share) / (size - 1)] * (size - 1)])


def as_channel(problem: Problem, matrix: FloatArray) -> Channel:
    """Return a matrix as a channel on the domain of a problem, with the outputs that it allows."""
    return Channel.from_matrix(matrix, inputs=problem.domain, outputs=problem.outputs)
