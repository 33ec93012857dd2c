"""The least loss at each of many budgets."""

from __future__ import annotations

import re
import warnings
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from mechdesign.designs.facade import check_limits, check_problem
from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.designs.warm_starts import Steps
from mechdesign.errors import InfeasibleError, InputError, shown
from mechdesign.exact import as_fraction
from mechdesign.labels import data_frame
from mechdesign.problem import Problem
from mechdesign.routes import AUTO
from mechdesign.sweeps.finished import Cache, Finished
from mechdesign.sweeps.many import are_several, design_each

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Frontier", "FrontierPoint", "design_frontier", "trace_frontier"]


PLACE = re.compile(r"^problems\[\d+\]: ")
"""Begins a message of `design_each`; a frontier shows the budget instead."""


@dataclass(frozen=True)
class FrontierPoint:
    """The best channel at one budget, or why there is none.

    Attributes
    ----------
    epsilon
        The budget in nats, exact.
    solution
        The certified answer; None where no channel is private at this budget.
    reason
        Why there is none.
    """

    epsilon: Fraction
    solution: Solution | None
    reason: str = ""

    @property
    def status(self) -> str:
        """``"optimal"``, ``"bounded"`` or ``"infeasible"``."""
        return "infeasible" if self.solution is None else self.solution.status

    def to_json(self) -> dict[str, Any]:
        """Return plain data: value, bound, gap and route are null where there is no channel."""
        answer = {} if self.solution is None else self.solution.to_json()
        keys = ("value", "bound", "gap", "route")
        told = {"epsilon": float(self.epsilon), "status": self.status}
        told |= {key: answer.get(key) for key in keys}
        return told if self.solution is not None else {**told, "reason": self.reason}


@dataclass(frozen=True)
class Frontier:
    """The best channels of a problem at some budgets. Its repr is a table.

    Attributes
    ----------
    problem
        The problem; what its own epsilon is does not matter.
    points
        One for each budget, in the order in which the budgets were given.
    ended
        Why there are points for some budgets only, as after Ctrl-C; else empty.
    """

    problem: Problem
    points: tuple[FrontierPoint, ...]
    ended: str = ""

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The certified answers, where there are any."""
        return tuple(point.solution for point in self.points if point.solution is not None)

    @property
    def label(self) -> str:
        """The notions in words, for legends."""
        return " and ".join(notion.name for notion in self.problem.privacy)

    def to_json(self) -> dict[str, Any]:
        """Return plain data: the problem in a few words, and every point; why it ended early."""
        ended = {"ended": self.ended} if self.ended else {}
        return {
            "title": self.problem.title,
            "privacy": [notion.name for notion in self.problem.privacy],
            "objective": self.problem.utility.name,
            "sense": self.problem.utility.sense,
            "points": [point.to_json() for point in self.points],
            **ended,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a pandas DataFrame, a row for each budget.

        Its columns are ``epsilon``, ``status``, ``value``, ``bound``, ``gap`` and ``route``; they
        are empty where no channel is private.
        """
        columns = ("epsilon", "status", "value", "bound", "gap", "route")
        points = [point.to_json() for point in self.points]
        data = {name: [point[name] for point in points] for name in columns}
        return data_frame(data, range(len(points)), columns)

    def __repr__(self) -> str:
        what = "gain" if self.problem.utility.is_maximized else "loss"
        head = f"Frontier of {self.label}: {what} is {self.problem.utility.name}, epsilon in nats"
        lines = [head, f"  {'epsilon':>10}  {what:>14}  {'bound':>14}  {'gap':>7}  status"]
        for point in self.points:
            told = point.to_json()
            if point.solution is None:
                cells = f"{'-':>14}  {'-':>14}  {'-':>7}"
            else:
                cells = f"{told['value']:>14.9g}  {told['bound']:>14.9g}  {told['gap']:>7.0e}"
            lines.append(f"  {told['epsilon']:>10.6g}  {cells}  {point.status}")
        return "\n".join([*lines, f"  {self.ended}"] if self.ended else lines)


def trace_frontier(
    problem: Problem,
    epsilons: Iterable[Any],
    *,
    gap: float | None = None,
    time_limit: float | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    cache: Cache | None = None,
) -> Frontier:
    """Design a problem at each of some budgets; say where no channel is private.

    Parameters
    ----------
    problem
        With one notion that has an epsilon; what its epsilon is does not matter.
    epsilons
        Budgets in nats, in any order.
    gap
        As for :func:`~mechdesign.design`.
    time_limit
        Seconds in all. Every budget gets an equal share of what is left; a search that ends early
        leaves a channel and a bound that are certified as ever, with a larger gap.
    progress
        Whether to show a bar; None where standard error is a terminal.
    n_jobs, backend, cache
        As for :func:`~mechdesign.design_many`. In one process every budget is warm-started from
        the one below; several work on all budgets at once, and each may take the time that is left.

    Returns
    -------
    Frontier
        In the order of the budgets, each certified. Ctrl-C returns the budgets that are finished;
        :attr:`Frontier.ended` then says how many.

    Raises
    ------
    InputError
        If the problem has no notion or several with an epsilon, or a budget is none.
    UnsupportedError, SolverError
        As for :func:`~mechdesign.design`.
    KeyboardInterrupt
        On Ctrl-C before any budget is finished.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> survey = Problem(["yes", "no"], LDP(1), HammingLoss())
    >>> curve = trace_frontier(survey, [0.5, 1, 2])
    >>> [round(float(point.solution.value), 4) for point in curve.points]
    [0.3775, 0.2689, 0.1192]
    """
    options = FrontierOptions(gap, time_limit, progress, n_jobs, backend, cache)
    return _trace(problem, epsilons, options, strict=False)


def design_frontier(
    problem: Problem,
    epsilons: Iterable[Any],
    *,
    gap: float | None = None,
    time_limit: float | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    cache: Cache | None = None,
) -> list[Solution]:
    """Design a problem at each of some budgets; :func:`trace_frontier` as a plain list.

    Parameters
    ----------
    problem, epsilons, gap, time_limit, progress, n_jobs, backend, cache
        As for :func:`trace_frontier`.

    Returns
    -------
    list of Solution
        In the order of the budgets, each certified. Ctrl-C returns those that are finished, and a
        warning says how many; small budgets come first.

    Raises
    ------
    InputError
        If the problem has no notion or several with an epsilon, or a budget is none.
    InfeasibleError
        If no channel is private at one of the budgets.
    UnsupportedError, SolverError
        As for :func:`~mechdesign.design`.
    KeyboardInterrupt
        On Ctrl-C before any budget is finished.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> survey = Problem(range(4), LDP(1), HammingLoss())
    >>> [round(float(s.value), 4) for s in design_frontier(survey, [0.5, 1, 2])]
    [0.6453, 0.5246, 0.2888]
    """
    options = FrontierOptions(gap, time_limit, progress, n_jobs, backend, cache)
    curve = _trace(problem, epsilons, options, strict=True)
    if curve.ended:
        warnings.warn(curve.ended, stacklevel=2)
    return list(curve.solutions)


@dataclass(frozen=True)
class FrontierOptions:
    """How to design at every budget: the parameters of :func:`trace_frontier`."""

    gap: float | None
    time_limit: float | None
    progress: bool | None
    n_jobs: int | None
    backend: str | None
    cache: Cache | None


def _trace(
    problem: Problem, epsilons: Iterable[Any], options: FrontierOptions, *, strict: bool
) -> Frontier:
    """Design at every budget, the smallest first; strictly, none may be infeasible."""
    check_problem(problem)
    check_limits(options.gap, options.time_limit)
    try:
        budgets = [as_fraction(e, f"epsilons[{n}]") for n, e in enumerate(epsilons)]
    except TypeError:
        raise InputError("epsilons", "a list of budgets", shown(epsilons)) from None
    order = sorted(range(len(budgets)), key=budgets.__getitem__)
    rising = [budgets[n] for n in order]
    several = are_several(options.n_jobs, options.backend)
    answers = (_at_once if several else _in_turn)(problem, rising, options)
    found, ended = dict[int, FrontierPoint](), ""
    try:
        for n, answer in zip(order, answers, strict=False):
            if isinstance(answer, InfeasibleError) and not strict:
                found[n] = FrontierPoint(budgets[n], None, PLACE.sub("", str(answer)))
            elif isinstance(answer, Exception):
                raise answer
            else:
                found[n] = FrontierPoint(budgets[n], answer)
    except KeyboardInterrupt:
        if not found:
            raise
        ended = f"interrupted: {len(found)} of {len(budgets)} budgets are designed"
    finally:
        answers.close()
    return Frontier(problem, tuple(found[n] for n in sorted(found)), ended)


Found: TypeAlias = Generator[Solution | InfeasibleError, None, None]


def _in_turn(problem: Problem, rising: Sequence[Fraction], options: FrontierOptions) -> Found:
    """Design at one budget after the other, each from where the last one was."""
    steps = Steps(options.gap, options.time_limit)
    finished = options.cache and Finished(options.cache, AUTO, options.gap)
    for n, budget in enumerate(tqdm_bar(options.progress, rising, desc="frontier", unit="budget")):
        try:
            asked = problem.at(budget)
            solution = finished.find(asked) if finished else None
            if solution is None:
                solution = steps.design(asked, 1 / (len(rising) - n))
                if finished:
                    finished.keep(solution)
        except InfeasibleError as error:
            yield error
        else:
            yield solution


def _at_once(problem: Problem, rising: Sequence[Fraction], options: FrontierOptions) -> Found:
    """Design at all budgets, in processes or on machines."""
    refused, asked = dict[int, InfeasibleError](), list[Problem]()
    for n, budget in enumerate(rising):
        try:
            asked.append(problem.at(budget))
        except InfeasibleError as error:
            refused[n] = error
    answers = design_each(
        asked,
        gap=options.gap,
        time_limit=options.time_limit,
        progress=options.progress,
        n_jobs=options.n_jobs,
        backend=options.backend,
        cache=options.cache,
        errors="return",
    )
    with closing(answers):
        for n in range(len(rising)):
            answer = refused[n] if n in refused else next(answers)
            if isinstance(answer, Exception) and not isinstance(answer, InfeasibleError):
                raise answer
            yield answer
