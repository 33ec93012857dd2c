"""How many shuffled reports, or how much local budget, a central budget asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, TypeVar

from mechdesign.accounting.continuous.arguments import below_one, positive
from mechdesign.accounting.shuffling.after_shuffling import Randomizer
from mechdesign.accounting.shuffling.comparisons import (
    MOST_REPORTS,
    Comparison,
    central_budget,
    compared,
    reports,
)
from mechdesign.accounting.shuffling.epsilons import delta_above, delta_below, is_within
from mechdesign.errors import InfeasibleError, InputError
from mechdesign.exact import Exact

__all__ = [
    "LeastReports",
    "LocalBudget",
    "first_that_serves",
    "largest_local_budget",
    "last_that_serves",
    "least_reports",
]


Number = TypeVar("Number", int, float, Fraction)


class LeastReports(NamedTuple):
    """How many shuffled reports a central budget asks for.

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


def least_reports(channel: Randomizer, epsilon: Exact, delta: Exact) -> LeastReports:
    """Return how many shuffled reports a central budget asks for.

    Parameters
    ----------
    channel
        As for :func:`after_shuffling`.
    epsilon
        The central budget in nats, > 0.
    delta
        Above 0, below 1.

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
    """
    comparison, central = compared(channel), central_budget(epsilon)
    delta = below_one(delta, "delta")
    enough = first_that_serves(lambda n: is_within(comparison, n, central, delta))
    if enough is None:
        expected = f"a budget that {MOST_REPORTS} shuffled reports keep"
        raise InfeasibleError(f"least_reports: expected {expected}, got epsilon = {central:g}")
    pair = delta_above(comparison, enough, central)[1]
    raised = math.nextafter(central, math.inf)
    most = first_that_serves(lambda n: delta_below(comparison, pair, n, raised) <= delta)
    return LeastReports(enough, 0 if most is None else min(most, enough) - 1)


def first_that_serves(serves: Callable[[int], bool]) -> int | None:
    """Return a number that serves, the one before it not, by bisection; None if none does."""
    high = 1
    while not serves(high):
        if high == MOST_REPORTS:
            return None
        high = min(4 * high, MOST_REPORTS)
    return last_that_serves(lambda n: not serves(n), high // 4, high, 1)[1]


def last_that_serves(
    serves: Callable[[Number], bool], low: Number, high: Number, width: Number
) -> tuple[Number, Number]:
    """Return two numbers near each other, of which the first serves and the second does not.

    Parameters
    ----------
    serves
        Asked between the ends only.
    low, high
        A number that serves, and one that does not.
    width
        How near: whole numbers, fractions and floats are halved as such.

    Examples
    --------
    >>> last_that_serves(lambda n: n * n <= 50, 1, 100, 1)
    (7, 8)
    """
    while high - low > width:
        middle = type(high)((low + high) / 2)
        low, high = (middle, high) if serves(middle) else (low, middle)
    return low, high


def largest_local_budget(
    n: int,
    epsilon: Exact,
    delta: Exact,
    family: Callable[[float], Randomizer] | None = None,
    *,
    most: Exact = 20,
    precision: Exact = "1e-4",
) -> LocalBudget:
    """Return the largest local budget whose reports keep a central one after shuffling.

    Parameters
    ----------
    n
        How many reports are shuffled.
    epsilon, delta
        The central budget.
    family
        From a local budget in nats to a channel or a mechanism; default, any channel with it.
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
    n, delta = reports(n), below_one(delta, "delta")
    central, last, width = (
        central_budget(epsilon),
        positive(most, "most"),
        positive(precision, "precision"),
    )
    if last < central:
        raise InputError("most", f"a budget of at least epsilon, {central:g}", last)
    raised = math.nextafter(central, math.inf)

    def at(local: float) -> Comparison:
        return compared(local if family is None else family(local))

    def exceeds(local: float) -> bool:
        comparison = at(local)
        pair = delta_above(comparison, n, central)[1]
        return delta_below(comparison, pair, n, raised) > delta

    if not is_within(at(central), n, central, delta):
        raise InfeasibleError(f"largest_local_budget: the channel at {central:g} does not keep it")
    if is_within(at(last), n, central, delta):
        return LocalBudget(last, math.inf)
    enough = last_that_serves(lambda e: is_within(at(e), n, central, delta), central, last, width)
    if not exceeds(last):
        return LocalBudget(enough[0], math.inf)
    too_much = last_that_serves(lambda e: not exceeds(e), enough[0], last, width)
    return LocalBudget(enough[0], too_much[1])
