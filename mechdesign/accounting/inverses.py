"""Inverse questions: how many reports, or how much local budget, a central budget asks for.

Both are asked of the reports as they are seen: shuffled, or added up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from mechdesign.accounting.aggregation.after_aggregation import data_sets_of
from mechdesign.accounting.aggregation.data_sets import DataSets
from mechdesign.accounting.continuous.arguments import below_one, positive
from mechdesign.accounting.shuffling.after_shuffling import Randomizer
from mechdesign.accounting.shuffling.comparisons import (
    MOST_REPORTS,
    Comparison,
    central_budget,
    compared,
    reports,
)
from mechdesign.accounting.shuffling.crossings import bisected
from mechdesign.accounting.shuffling.lower import delta_below
from mechdesign.accounting.shuffling.upper import delta_above, is_within
from mechdesign.errors import InfeasibleError, InputError
from mechdesign.exact import Exact

__all__ = ["LeastReports", "LocalBudget", "View", "largest_local_budget", "least_reports", "view"]


class LeastReports(NamedTuple):
    """How many reports a central budget asks for.

    ``enough`` is proved to be; ``too_few`` is proved not to be (0 if one report is enough).
    """

    enough: int
    too_few: int


class LocalBudget(NamedTuple):
    """How much local budget a central one allows: ``enough`` is within it, ``too_much`` is not.

    ``too_much`` is infinite where no budget that was tried is proved to exceed the central one.
    """

    enough: float
    too_much: float


class Shuffle(NamedTuple):
    """The reports in any order; some questions are decided neither way."""

    comparison: Comparison

    def is_within(self, n: int, epsilon: float, delta: float) -> bool:
        """Whether n shuffled reports surely are within (epsilon, delta)."""
        return is_within(self.comparison, n, epsilon, delta)

    def worst(self, n: int, epsilon: float) -> int:
        """Return the pair of inputs that is the hardest to hide."""
        return delta_above(self.comparison, n, epsilon)[1]

    def exceeds(self, n: int, epsilon: float, delta: float, pair: int) -> bool:
        """Whether n shuffled reports surely are not within (epsilon, delta)."""
        return delta_below(self.comparison, pair, n, math.nextafter(epsilon, math.inf)) > delta


class Sum(NamedTuple):
    """The sum of the reports, which are vectors of bits."""

    data_sets: Callable[..., DataSets]
    local_epsilon: float

    def is_within(self, n: int, epsilon: float, delta: float) -> bool:
        """Whether the sum of n reports surely is within (epsilon, delta)."""
        if epsilon >= self.local_epsilon:
            return True
        sets = self.data_sets(n=n, delta=delta)
        return sets.delta_below(epsilon) <= delta and sets.is_within(epsilon, delta)

    def worst(self, _n: int, _epsilon: float) -> int:
        """Return 0: all pairs of inputs are alike."""
        return 0

    def exceeds(self, n: int, epsilon: float, delta: float, _pair: int) -> bool:
        """Whether the sum of n reports surely is not within (epsilon, delta)."""
        sets = self.data_sets(n=n, delta=delta)
        return sets.delta_below(math.nextafter(epsilon, math.inf)) > delta


View = Shuffle | Sum
"""Shuffled reports, or their sum."""


def view(channel: Any, *, summed: bool) -> View:
    """Return what is seen of the reports: their counts, or their sum."""
    data_sets = data_sets_of(channel) if summed else None
    return Shuffle(compared(channel)) if data_sets is None else Sum(data_sets, channel.leakage)


def least_reports(
    channel: Randomizer, epsilon: Exact, delta: Exact, *, summed: bool = False
) -> LeastReports:
    """Return how many reports a central budget asks for, shuffled or added up.

    Parameters
    ----------
    channel
        As for :func:`after_shuffling`, or with ``summed`` for :func:`after_aggregation`.
    epsilon
        The central budget in nats, > 0.
    delta
        Above 0, below 1.
    summed
        Whether the sum of the reports is seen, as under secure aggregation. With one more person it
        leaks less: that person's report is noise added to it.

    Raises
    ------
    InputError, UnsupportedError
        As for :func:`after_shuffling`.
    InfeasibleError
        If 10**9 reports are not proved to be enough.

    Examples
    --------
    >>> from mechdesign import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> least_reports(warner, "0.1", "1e-6")
    LeastReports(enough=1916, too_few=1875)
    >>> from mechdesign.mechanisms import SymmetricUnaryEncoding
    >>> least_reports(SymmetricUnaryEncoding(4, 2), "0.5", "1e-6", summed=True)
    LeastReports(enough=165, too_few=164)
    """
    seen, central = view(channel, summed=summed), central_budget(epsilon)
    delta = below_one(delta, "delta")
    enough = _least(lambda n: seen.is_within(n, central, delta))
    if enough is None:
        expected = f"a budget that {MOST_REPORTS} reports keep"
        raise InfeasibleError(f"least_reports: expected {expected}, got epsilon = {central:g}")
    pair = seen.worst(enough, central)
    most = _least(lambda n: not seen.exceeds(n, central, delta, pair))
    return LeastReports(enough, 0 if most is None else min(most, enough) - 1)


def _least(passes: Callable[[int], bool]) -> int | None:
    """Return a number that passes, the one before it not; None if none does."""
    high = 1
    while not passes(high):
        if high == MOST_REPORTS:
            return None
        high = min(4 * high, MOST_REPORTS)
    return bisected(lambda n: not passes(n), high // 4, high, 1)[1]


def largest_local_budget(
    n: int,
    epsilon: Exact,
    delta: Exact,
    family: Callable[[float], Randomizer] | None = None,
    *,
    summed: bool = False,
    most: Exact = 20,
    precision: Exact = "1e-4",
) -> LocalBudget:
    """Return the largest local budget whose reports, shuffled or added up, keep a central one.

    Parameters
    ----------
    n
        How many reports there are.
    epsilon, delta
        The central budget.
    family
        From a local budget in nats to a channel or a mechanism; default, any channel with it.
    summed
        As for :func:`least_reports`.
    most
        The largest local budget that is tried, in nats.
    precision
        The width in nats to which both sides are searched.

    Raises
    ------
    InputError, UnsupportedError
        As for :func:`after_shuffling`.
    InfeasibleError
        If not even the channel at the central budget keeps it.

    Examples
    --------
    >>> enough, too_much = largest_local_budget(10_000, "0.5", "1e-6")
    >>> round(enough, 3), round(too_much, 3)
    (4.336, 4.349)
    """
    n, delta, central = reports(n), below_one(delta, "delta"), central_budget(epsilon)
    last, width = positive(most, "most"), positive(precision, "precision")
    if last < central:
        raise InputError("most", f"a budget of at least epsilon, {central:g}", last)

    def at(local: float) -> View:
        return view(local if family is None else family(local), summed=summed)

    def keeps(local: float) -> bool:
        return at(local).is_within(n, central, delta)

    def exceeds(local: float) -> bool:
        seen = at(local)
        return seen.exceeds(n, central, delta, seen.worst(n, central))

    if keeps(last):
        return LocalBudget(last, math.inf)
    if not keeps(central):
        raise InfeasibleError(f"largest_local_budget: the channel at {central:g} does not keep it")
    enough, _ = bisected(keeps, central, last, width)
    if not exceeds(last):
        return LocalBudget(enough, math.inf)
    return LocalBudget(enough, bisected(lambda local: not exceeds(local), enough, last, width)[1])
