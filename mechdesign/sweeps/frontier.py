"""The least loss at each of several budgets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mechdesign.designs.design import check_problem
from mechdesign.designs.solution import Solution
from mechdesign.errors import InfeasibleError, InputError, shown
from mechdesign.exact import as_fraction
from mechdesign.labels import data_frame
from mechdesign.problem import Problem
from mechdesign.search import AUTO
from mechdesign.sweeps.many import answers_to
from mechdesign.sweeps.tasks import Cache, Options
from mechdesign.text import Table, Tabular

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FrontierPoint:
    """The best channel at one budget, or the reason why none is private.

    Attributes
    ----------
    epsilon
        The budget in nats, exact.
    solution
        The certified answer; None if no channel is private at this budget.
    reason
        Why no channel is private.
    """

    epsilon: Fraction
    solution: Solution | None
    reason: str = ""

    @property
    def status(self) -> str:
        """``"optimal"``, ``"bounded"`` or ``"infeasible"``."""
        return "infeasible" if self.solution is None else self.solution.status

    def to_json(self) -> dict[str, Any]:
        """Return plain data: value, bound, gap and route are null without a channel."""
        answer = {} if self.solution is None else self.solution.to_json()
        keys = ("value", "bound", "gap", "route")
        told = {"epsilon": float(self.epsilon), "status": self.status}
        told |= {key: answer.get(key) for key in keys}
        return told if self.solution is not None else {**told, "reason": self.reason}


class Frontier(Tabular, list[Solution]):
    """The certified answers at several budgets, a list of solutions that prints as a table.

    Attributes
    ----------
    problem
        The problem; its own epsilon is ignored.
    points
        One for each budget, in the order given, also where no channel is private.
    ended
        Why some budgets have no point, as after Ctrl-C; else empty.
    """

    indent = "  "

    def __init__(
        self, problem: Problem, points: Iterable[FrontierPoint] = (), ended: str = ""
    ) -> None:
        self.problem, self.points, self.ended = problem, tuple(points), ended
        super().__init__(point.solution for point in self.points if point.solution is not None)

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The certified answers."""
        return tuple(self)

    @property
    def label(self) -> str:
        """The notions as text, for legends."""
        return " and ".join(notion.heading for notion in self.problem.privacy)

    def to_json(self) -> dict[str, Any]:
        """Return plain data: a short form of the problem, all points, and why it ended early."""
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

        The columns are ``epsilon``, ``status``, ``value``, ``bound``, ``gap`` and ``route``; all
        but the first two are empty if no channel is private.
        """
        columns = ("epsilon", "status", "value", "bound", "gap", "route")
        points = [point.to_json() for point in self.points]
        data = {name: [point[name] for point in points] for name in columns}
        return data_frame(data, range(len(points)), columns)

    @property
    def _gain(self) -> str:
        return "gain" if self.problem.utility.is_maximized else "loss"

    def _head(self) -> str:
        name, ended = self.problem.utility.heading, f"; {self.ended}" * bool(self.ended)
        return f"Frontier of {self.label}: {self._gain} is {name}, epsilon in nats{ended}"

    def _table(self) -> Table:
        formats = {"value": ".9g", "bound": ".9g", "gap": ".0e"}
        rows = []
        for told in (point.to_json() for point in self.points):
            cells = ["-" if told[key] is None else f"{told[key]:{f}}" for key, f in formats.items()]
            rows.append((f"{told['epsilon']:.6g}", *cells, told["status"]))
        return Table(("epsilon", self._gain, "bound", "gap", "status"), rows, ">>>><")


def design_frontier(
    problem: Problem,
    epsilons: Iterable[Any],
    *,
    errors: str = "raise",
    gap: float | None = None,
    time_limit: float | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    cache: Cache | None = None,
) -> Frontier:
    """Design a problem at several budgets.

    Parameters
    ----------
    problem
        With one notion that has an epsilon, whose value is ignored.
    epsilons
        Budgets in nats, in any order.
    errors
        ``"raise"`` an error if no channel is private at one of the budgets, and warn of budgets
        that an interrupt left out; or ``"return"`` both, in :attr:`Frontier.points` and
        :attr:`Frontier.ended`.
    gap
        As for :func:`~mechdesign.design`.
    time_limit
        Seconds in total. Every budget gets an equal share of the remaining time; a search that ends
        early returns a certified channel and bound, with a larger gap.
    progress
        Whether to show a bar; None if standard error is a terminal.
    n_jobs, backend, cache
        As for :func:`~mechdesign.design_many`. Each process works on a few budgets.

    Returns
    -------
    Frontier
        The solutions in the order of the budgets, each certified. Ctrl-C returns the finished
        ones; small budgets are first.

    Raises
    ------
    InputError
        If the number of notions with an epsilon is not one, or a budget is invalid.
    InfeasibleError
        If no channel is private at one of the budgets, unless errors are returned.
    UnsupportedError, SolverError
        As for :func:`~mechdesign.design`.
    KeyboardInterrupt
        On Ctrl-C before any budget is finished.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> survey = Problem(["yes", "no"], LDP(1), HammingLoss())
    >>> curve = design_frontier(survey, [0.5, 1, 2])
    >>> [round(float(point.solution.value), 4) for point in curve.points]
    [0.3775, 0.2689, 0.1192]
    """
    check_problem(problem)
    sweep = Options(errors, AUTO, gap, time_limit, progress, n_jobs, backend, cache)
    sweep = replace(sweep, errors="return", is_frontier=True)
    try:
        budgets = [as_fraction(e, f"epsilons[{n}]") for n, e in enumerate(epsilons)]
    except TypeError:
        raise InputError("epsilons", "a list of budgets", shown(epsilons)) from None
    points, asked = dict[int, FrontierPoint](), dict[int, Problem]()
    for n in sorted(range(len(budgets)), key=budgets.__getitem__):
        try:
            asked[n] = problem.at(budgets[n])
        except InfeasibleError as error:
            points[n] = FrontierPoint(budgets[n], None, str(error))
    ended, answers = "", answers_to(list(asked.values()), sweep)
    try:
        for n, answer in zip(asked, answers, strict=True):
            if isinstance(answer, Solution):
                points[n] = FrontierPoint(budgets[n], answer)
            elif isinstance(answer, InfeasibleError):
                points[n] = FrontierPoint(budgets[n], None, str(answer))
            else:
                raise answer
    except KeyboardInterrupt:
        if not points:
            raise
        ended = f"interrupted: {len(points)} of {len(budgets)} budgets are designed"
    finally:
        answers.close()
    found = tuple(points[n] for n in sorted(points))
    lacking = next((point.reason for point in found if point.solution is None), None)
    if errors == "raise":
        if lacking is not None:
            raise InfeasibleError(lacking)
        if ended:
            warnings.warn(ended, stacklevel=2)
    return Frontier(problem, found, ended)
