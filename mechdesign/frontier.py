"""The frontier: the least loss at each of many budgets, each search starting where the last was."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

from mechdesign.candidate import Candidate
from mechdesign.certify.statement import read_statement
from mechdesign.errors import CertificateError, InputError, SolverError, shown
from mechdesign.exact import as_fraction
from mechdesign.facade import design
from mechdesign.problem import Problem
from mechdesign.routes import ways
from mechdesign.routes.base import RawSolution
from mechdesign.routes.limits import OPTIMAL, Limits
from mechdesign.solution import Solution

__all__ = ["design_frontier"]

WHY = "the loss and the notion are linear in the channel; it began where the budget below it was"


def design_frontier(
    problem: Problem,
    epsilons: Iterable[Any],
    *,
    gap: float | None = None,
    progress: bool | None = None,
) -> list[Solution]:
    """Design a problem at each of some budgets.

    A larger budget makes the cone larger. So a large program starts from a point on the path of
    the budget below it, which spares about a third of the steps.

    Parameters
    ----------
    problem
        With one notion that has an epsilon; what its epsilon is does not matter.
    epsilons
        Budgets in nats, in any order.
    gap
        As for :func:`~mechdesign.design`.
    progress
        Whether to show a bar; None where standard error is a terminal.

    Returns
    -------
    list of Solution
        In the order of the budgets, each certified.

    Raises
    ------
    InputError
        If the problem has no notion or several with an epsilon, or a budget is none.
    InfeasibleError, UnsupportedError, SolverError
        As for :func:`~mechdesign.design`.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> survey = Problem(range(4), LDP(1), HammingLoss())
    >>> [round(float(s.value), 4) for s in design_frontier(survey, [0.5, 1, 2])]
    [0.6453, 0.5246, 0.2888]
    """
    from tqdm import tqdm

    try:
        budgets = [as_fraction(e, f"epsilons[{n}]") for n, e in enumerate(epsilons)]
    except TypeError:
        raise InputError("epsilons", "a list of budgets", shown(epsilons)) from None
    order = sorted(range(len(budgets)), key=budgets.__getitem__)
    found: dict[int, Solution] = {}
    last: RawSolution | None = None
    hidden = None if progress is None else not progress
    for n in tqdm(order, desc="frontier", unit="budget", disable=hidden, leave=False, delay=0.5):
        there = problem.at(budgets[n])
        found[n], last = _next(there, gap, last)
    return [found[n] for n in range(len(budgets))]


def _next(
    problem: Problem, gap: float | None, last: RawSolution | None
) -> tuple[Solution, RawSolution | None]:
    """Design one problem; return also the raw answer that the next can start from."""
    if not ways.is_by_interior(problem):
        return design(problem, gap=gap), None
    start = time.perf_counter()
    limits = Limits(OPTIMAL if gap is None else gap, math.inf)
    path = None if last is None else last.path
    attempt = ways.for_loss(problem, lambda p, within: ways.interior(p, within, path=path), WHY)
    try:
        raw = attempt.run(limits)
        candidate = Candidate(problem, read_statement(problem.to_table()), raw, attempt, raw.dual)
    except (CertificateError, SolverError):
        return design(problem, gap=gap), None
    if candidate.is_within(limits.gap):
        return candidate.solution(start), raw
    return design(problem, gap=gap), raw
