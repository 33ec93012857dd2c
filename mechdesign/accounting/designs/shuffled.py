"""Design for the shuffle: the least loss whose shuffled reports keep a central budget."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.accounting.continuous.arguments import below_one, positive
from mechdesign.accounting.shuffling.after_shuffling import Shuffled, after_shuffling
from mechdesign.accounting.shuffling.comparisons import central_budget, compared, reports
from mechdesign.accounting.shuffling.crossings import bisected
from mechdesign.accounting.shuffling.upper import is_within
from mechdesign.designs.design import check_problem, design
from mechdesign.designs.solution import Solution
from mechdesign.errors import InfeasibleError
from mechdesign.exact import Exact
from mechdesign.problem import Problem

__all__ = ["ShuffledDesign", "design_for_shuffle"]


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


def design_for_shuffle(
    problem: Problem,
    n: int,
    epsilon: Exact,
    delta: Exact,
    *,
    most: Exact = 12,
    precision: Exact = "0.01",
    gap: float | None = None,
) -> ShuffledDesign:
    """Design a channel whose n shuffled reports keep a central budget.

    At each local budget the best channel is designed and accounted after shuffling; the largest
    local budget whose channel keeps the central one is found by bisection. The channel is the best
    at its local budget. Another channel that is private after shuffling, but not under the notion
    at that budget, might be better still.

    Parameters
    ----------
    problem
        With one notion that has an epsilon, whose own value does not matter.
    n
        How many reports are shuffled.
    epsilon
        The central budget in nats, > 0.
    delta
        Above 0, below 1.
    most
        The largest local budget that is tried, in nats.
    precision
        The width in nats to which local budgets are searched.
    gap
        As for :func:`~mechdesign.design`.

    Raises
    ------
    InfeasibleError
        If no channel that was tried keeps it.
    InputError
        If an argument is out of range.
    UnsupportedError, SolverError
        As for :func:`~mechdesign.design`.

    Examples
    --------
    >>> from mechdesign import LDP, HammingLoss
    >>> question = Problem(range(4), LDP(1), HammingLoss())
    >>> found = design_for_shuffle(question, 1000, "0.2", "1e-6", precision="0.1")
    >>> found.shuffled.epsilon <= 0.2 < float(found.local)
    True
    """
    check_problem(problem)
    n, delta, central = reports(n), below_one(delta, "delta"), central_budget(epsilon)
    last, width = Fraction(positive(most, "most")), Fraction(positive(precision, "precision"))
    found: list[tuple[Fraction, Solution]] = []

    def keeps(local: Fraction) -> bool:
        """Whether the best channel keeps the budget, or there is none: then more is needed."""
        try:
            solution = design(problem.at(local), gap=gap)
        except InfeasibleError:
            return True
        kept = is_within(compared(solution.channel), n, central, delta)
        found.extend([(local, solution)] * kept)
        return kept

    if not keeps(last):
        bisected(keeps, Fraction(0), last, width)
    if not found:
        raise InfeasibleError(f"no design keeps epsilon = {epsilon} after shuffling {n} reports")
    local, solution = found[-1]
    leakage = after_shuffling(solution.channel, n, delta)
    return ShuffledDesign(central, local, solution, leakage)
