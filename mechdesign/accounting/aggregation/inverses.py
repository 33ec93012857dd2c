"""How many reports, or how much local budget, a central budget of their sum asks for."""

from __future__ import annotations

from collections.abc import Callable

from mechdesign.accounting.aggregation.after_aggregation import (
    checked_mechanism,
    exceeds,
    is_within,
)
from mechdesign.accounting.continuous.arguments import below_one, positive
from mechdesign.accounting.shuffling.comparisons import MOST_REPORTS, central_budget, reports
from mechdesign.accounting.shuffling.inverses import (
    LeastReports,
    LocalBudget,
    first_that_serves,
    last_that_serves,
)
from mechdesign.errors import InfeasibleError, InputError
from mechdesign.exact import Exact
from mechdesign.mechanisms.base import MOST_BUDGET, Mechanism

__all__ = ["largest_aggregated_budget", "least_aggregated_reports"]


def least_aggregated_reports(mechanism: Mechanism, epsilon: Exact, delta: Exact) -> LeastReports:
    """Return how many reports must be added up for a central budget.

    With one more person the sum tells less: that person's report is noise added to it.

    Parameters
    ----------
    mechanism
        As for :func:`after_aggregation`.
    epsilon
        The central budget in nats, > 0.
    delta
        Above 0, below 1.

    Raises
    ------
    InputError, UnsupportedError
        As for :func:`after_aggregation`.
    InfeasibleError
        If 10**9 reports are not proved to be enough.

    Examples
    --------
    >>> from mechdesign.mechanisms import SymmetricUnaryEncoding
    >>> least_aggregated_reports(SymmetricUnaryEncoding(4, 2), "0.5", "1e-6")
    LeastReports(enough=165, too_few=164)
    """
    mechanism, central = checked_mechanism(mechanism), central_budget(epsilon)
    delta = below_one(delta, "delta")
    enough = first_that_serves(lambda n: is_within(mechanism, n, central, delta))
    if enough is None:
        expected = f"a budget that the sum of {MOST_REPORTS} reports keeps"
        raise InfeasibleError(
            f"least_aggregated_reports: expected {expected}, got epsilon = {central:g}"
        )
    most = first_that_serves(lambda n: not exceeds(mechanism, n, central, delta))
    return LeastReports(enough, 0 if most is None else min(most, enough) - 1)


def largest_aggregated_budget(
    family: Callable[[float], Mechanism],
    n: int,
    epsilon: Exact,
    delta: Exact,
    *,
    most: Exact = 20,
    precision: Exact = "1e-3",
) -> LocalBudget:
    """Return the largest local budget whose reports, added up, keep a central one.

    Parameters
    ----------
    family
        From a local budget in nats to a mechanism, as for :func:`after_aggregation`.
    n
        How many reports are added up.
    epsilon, delta
        The central budget, epsilon > 0.
    most
        The largest local budget that is tried, in nats, at most 30.
    precision
        The width in nats to which both sides are searched.

    Raises
    ------
    InputError, UnsupportedError
        As for :func:`after_aggregation`.

    Examples
    --------
    >>> from mechdesign.mechanisms import SymmetricUnaryEncoding
    >>> def symmetric(budget):
    ...     return SymmetricUnaryEncoding(10, budget, digits=62)
    >>> enough, too_much = largest_aggregated_budget(symmetric, 10_000, "0.5", "1e-6")
    >>> round(enough, 1), round(too_much, 1)
    (8.4, 8.4)
    """
    n, delta, central = reports(n), below_one(delta, "delta"), central_budget(epsilon)
    last, width = positive(most, "most"), positive(precision, "precision")
    if not central < last <= MOST_BUDGET:
        raise InputError("most", f"a budget above epsilon, {central:g}, at most 30", last)

    def at(local: float) -> Mechanism:
        return checked_mechanism(family(local))

    if is_within(at(last), n, central, delta):
        return LocalBudget(last, float("inf"))
    enough, _ = last_that_serves(
        lambda e: is_within(at(e), n, central, delta), central, last, width
    )
    if not exceeds(at(last), n, central, delta):
        return LocalBudget(enough, float("inf"))
    _, too_much = last_that_serves(
        lambda e: not exceeds(at(e), n, central, delta), enough, last, width
    )
    return LocalBudget(enough, too_much)
