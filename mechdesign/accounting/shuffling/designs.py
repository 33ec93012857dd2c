"""Design for the shuffle: the least loss whose shuffled reports keep a central budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.accounting.continuous.arguments import below_one, positive
from mechdesign.accounting.shuffling.after_shuffling import Shuffled, after_shuffling
from mechdesign.accounting.shuffling.comparisons import central_budget, compared, reports
from mechdesign.accounting.shuffling.epsilons import is_within
from mechdesign.accounting.shuffling.inverses import last_that_serves
from mechdesign.designs.facade import design
from mechdesign.designs.progress import tqdm_bar
from mechdesign.designs.solution import Solution
from mechdesign.errors import InfeasibleError, InputError, listed
from mechdesign.exact import Exact
from mechdesign.problem import Problem
from mechdesign.text import Table, Tabular

__all__ = ["ShuffledDesign", "ShuffledFrontier", "design_for_shuffle", "shuffled_frontier"]


@dataclass(frozen=True)
class ShuffledDesign:
    """A channel whose shuffled reports keep a central budget.

    Attributes
    ----------
    epsilon
        The central budget, in nats.
    local
        The budget of the notion that the channel was designed at.
    solution
        The channel, certified as the best at that local budget.
    shuffled
        What its shuffled reports tell, at most and at least.
    """

    epsilon: float
    local: Fraction
    solution: Solution
    shuffled: Shuffled


@dataclass(frozen=True, repr=False)
class ShuffledFrontier(Tabular):
    """The least losses that were found at some central budgets. Its repr is a table.

    Attributes
    ----------
    n, delta
        How many reports are shuffled, and the delta of every central budget.
    points
        One for each central budget, in the order given; None where nothing was found.
    epsilons
        The central budgets.
    """

    n: int
    delta: float
    epsilons: tuple[float, ...]
    points: tuple[ShuffledDesign | None, ...]

    def _head(self) -> str:
        return f"Designs for {self.n} shuffled reports at delta = {self.delta:g}"

    def _table(self) -> Table:
        rows = []
        for epsilon, point in zip(self.epsilons, self.points, strict=True):
            told = ("-", "-", "-")
            if point is not None:
                value = float(point.solution.value)
                name = " and ".join(notion.name for notion in point.solution.problem.privacy)
                told = (f"{float(point.local):.4f}", f"{value:.6g}", name)
            rows.append((f"{epsilon:.4g}", *told))
        return Table(("central epsilon", "local epsilon", "value", "notion"), rows, ">>><")


def shuffled_frontier(
    problems: Problem | Iterable[Problem],
    n: int,
    epsilons: Iterable[Exact],
    delta: Exact,
    *,
    most: Exact = 12,
    precision: Exact = "0.01",
    gap: float | None = None,
    progress: bool | None = None,
) -> ShuffledFrontier:
    """Design channels whose n shuffled reports keep each of some central budgets.

    At each local budget the best channel is designed and accounted after shuffling; the largest
    local budget whose channel keeps the central one is found by bisection. Of several problems,
    which differ in their notions, the one with the best value is taken. The channels are the best
    at their local budget. Another channel that is private after shuffling, but not under the notion
    at that budget, might be better still.

    Parameters
    ----------
    problems
        A problem, or several with one objective; each with one notion that has an epsilon, whose
        own value does not matter.
    n
        How many reports are shuffled.
    epsilons
        Central budgets in nats, > 0.
    delta
        Above 0, below 1.
    most
        The largest local budget that is tried, in nats.
    precision
        The width in nats to which local budgets are searched.
    gap
        As for :func:`~mechdesign.design`.
    progress
        Whether to show a bar; None where standard error is a terminal.

    Raises
    ------
    InputError
        If an argument is out of range, or the objectives differ.
    UnsupportedError, SolverError
        As for :func:`~mechdesign.design`.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> question = Problem(range(4), LDP(1), HammingLoss())
    >>> shuffled_frontier(question, 1000, ["0.2", "0.5"], "1e-6", precision="0.1")
    Designs for 1000 shuffled reports at delta = 1e-06
    central epsilon  local epsilon     value  notion
                0.2         1.4062  0.423691  ldp
                0.5         2.3438  0.223543  ldp
    """
    n, delta = reports(n), below_one(delta, "delta")
    given = [problems] if isinstance(problems, Problem) else _problems(problems)
    budgets = listed(epsilons, "epsilons", "a list of budgets")
    central = tuple(central_budget(epsilon) for epsilon in budgets)
    ends = positive(most, "most"), positive(precision, "precision")
    searches = [_Search(problem, n, delta, gap) for problem in given]
    points: list[ShuffledDesign | None] = []
    for epsilon in tqdm_bar(progress, central, desc="shuffle", unit="budget"):
        tried = [search.best(epsilon, *ends) for search in searches]
        found = [each for each in tried if each is not None]
        if not found:
            points.append(None)
            continue
        local, solution = min(found, key=_loss)
        told = after_shuffling(solution.channel, n, delta)
        points.append(ShuffledDesign(epsilon, local, solution, told))
    return ShuffledFrontier(n, delta, central, tuple(points))


def design_for_shuffle(
    problems: Problem | Iterable[Problem], n: int, epsilon: Exact, delta: Exact, **options: Any
) -> ShuffledDesign:
    """Design a channel whose n shuffled reports keep a central budget.

    Parameters
    ----------
    problems, n, delta, options
        As for :func:`shuffled_frontier`.
    epsilon
        The central budget in nats, > 0.

    Raises
    ------
    InfeasibleError
        If no channel that was tried keeps it.
    InputError, UnsupportedError, SolverError
        As for :func:`shuffled_frontier`.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> question = Problem(range(4), LDP(1), HammingLoss())
    >>> found = design_for_shuffle(question, 1000, "0.2", "1e-6", precision="0.1")
    >>> found.shuffled.epsilon <= 0.2 < float(found.local)
    True
    """
    point = shuffled_frontier(problems, n, [epsilon], delta, **options).points[0]
    if point is None:
        raise InfeasibleError(f"no design keeps epsilon = {epsilon} after shuffling {n} reports")
    return point


def _problems(problems: Iterable[Problem]) -> list[Problem]:
    given = listed(problems, "problems", "a problem or a list of them")
    if not given or not all(isinstance(problem, Problem) for problem in given):
        raise InputError("problems", "a problem or a list of them", given)
    objectives = [problem.utility.to_table(problem.domain) for problem in given]
    if any(table != objectives[0] for table in objectives):
        raise InputError("problems", "one objective", objectives)
    return given


def _loss(found: tuple[Fraction, Solution]) -> Fraction:
    """Return the loss, or less the gain."""
    value = Fraction(found[1].value)
    return -value if found[1].problem.utility.is_maximized else value


class _Search:
    """The designs of one problem at the local budgets that were tried."""

    def __init__(self, problem: Problem, n: int, delta: float, gap: float | None) -> None:
        self._problem, self._n, self._delta, self._gap = problem, n, delta, gap
        self._solutions: dict[Fraction, Solution | None] = {}

    def _solution(self, local: Fraction) -> Solution | None:
        if local not in self._solutions:
            try:
                self._solutions[local] = design(self._problem.at(local), gap=self._gap)
            except InfeasibleError:
                self._solutions[local] = None
        return self._solutions[local]

    def best(
        self, epsilon: float, most: float, precision: float
    ) -> tuple[Fraction, Solution] | None:
        """Return the design at the largest local budget that keeps a central one, by bisection.

        Where no channel is private at a budget the search goes on above it.
        """
        found: list[tuple[Fraction, Solution]] = []

        def keeps(tried: Fraction) -> bool:
            solution = self._solution(tried)
            if solution is None:
                return True
            kept = is_within(compared(solution.channel), self._n, epsilon, self._delta)
            found.extend([(tried, solution)] * kept)
            return kept

        if not keeps(Fraction(most)):
            last_that_serves(keeps, Fraction(0), Fraction(most), Fraction(precision))
        return found[-1] if found else None
