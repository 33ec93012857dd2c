"""Design for secure aggregation: the bit vectors with the least noise at a central budget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import brentq

from mechdesign.accounting.aggregation.after_aggregation import Aggregated, after_aggregation
from mechdesign.accounting.aggregation.data_sets import DataSets
from mechdesign.accounting.continuous.arguments import below_one
from mechdesign.accounting.inverses import largest_local_budget, view
from mechdesign.accounting.shuffling.comparisons import central_budget, reports
from mechdesign.channel import BITS
from mechdesign.domain import Domain
from mechdesign.errors import InfeasibleError
from mechdesign.exact import Exact
from mechdesign.mechanisms import GeneralizedRandomizedResponse, OptimizedUnaryEncoding
from mechdesign.mechanisms.base import LEAST_BUDGET, MOST_BUDGET, Mechanism, inputs_of
from mechdesign.solver_guard import called

__all__ = ["AggregatedDesign", "design_for_aggregation"]

RATIOS = np.geomspace(0.25, 1e5, 24)
"""Ratios of 1 - p to q at which the search begins; symmetric unary encoding has 1."""

DIGITS = 8
"""Binary digits of q beyond its leading zeros."""

STEPS = 60
"""How often q is raised by 0.5 % until the budget is proved."""


@dataclass(frozen=True)
class AggregatedDesign:
    """Bit vectors whose sum keeps a central budget.

    Attributes
    ----------
    epsilon
        The central budget, in nats.
    mechanism
        Unary encoding, or with two inputs perhaps randomized response.
    aggregated
        The central leakage of its sum, between two bounds.
    standard_error
        That of an estimated count of people, given what the people hold, as the root of the mean
        square over inputs that equally many hold.
    """

    epsilon: float
    mechanism: Mechanism
    aggregated: Aggregated
    standard_error: float


def design_for_aggregation(
    inputs: Domain | Iterable[Any] | int, n: int, epsilon: Exact, delta: Exact
) -> AggregatedDesign:
    """Return the bit vectors with the least standard error whose sum keeps a central budget.

    A bit is 1 with probability p for the own input, and q for any other. For each ratio of 1 - p to
    q the least q is found at which no data set that is tried exceeds the budget, then the best
    ratio; then q is raised until the budget is proved for all data sets. With two inputs
    randomized response is tried as well. Both searches are numerical: the budget is proved, that
    nothing has less noise is not.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    n
        How many reports are added up.
    epsilon
        The central budget in nats, > 0.
    delta
        Above 0, below 1.

    Raises
    ------
    InputError
        If an argument is out of range.
    InfeasibleError
        If no mechanism that was tried keeps the budget.

    Examples
    --------
    >>> found = design_for_aggregation(100, 10_000, "0.5", "1e-9")
    >>> p, q = found.mechanism.chances
    >>> round(float(p), 2), round(float(q), 3), round(found.standard_error, 1)
    (0.97, 0.022, 15.5)
    >>> found.aggregated.epsilon <= 0.5
    True
    """
    domain, n = inputs_of(inputs), reports(n)
    central, delta = central_budget(epsilon), below_one(delta, "delta")
    search = _Search(domain, n, central, delta)
    found = [each for each in (search.unary(), search.single_bit()) if each is not None]
    if not found:
        raise InfeasibleError(f"no bit vectors keep epsilon = {central:g} for a sum of {n} reports")
    best = min(found, key=search.error)
    leakage = after_aggregation(best, n, delta)
    proved = replace(leakage, epsilon=min(leakage.epsilon, central))
    return AggregatedDesign(central, best, proved, search.error(best))


class _Search:
    def __init__(self, domain: Domain, n: int, epsilon: float, delta: float) -> None:
        self._domain, self._n, self._epsilon, self._delta = domain, n, epsilon, delta

    def error(self, mechanism: Mechanism) -> float:
        """Return the standard error of a count, without that of drawing the people."""
        k = len(self._domain)
        return math.sqrt(self._n * max(mechanism.risk / k - (1 - 1 / k) / k, 0.0))

    def _least(self, ratio: float) -> float:
        """Return the least q at which no data set tried exceeds the budget; infinite if none."""

        def height(log: float) -> float:
            q = Fraction(math.exp(log))
            chances = 1 - q * Fraction(ratio), q
            sets = DataSets(*chances, self._n, len(self._domain), self._delta)
            below = max(sets.delta_below(self._epsilon, each) for each in corners)
            return math.log(max(below, 1e-300) / self._delta)

        others = self._n - 1
        corners = (others, 0), (0, others if len(self._domain) == 2 else 0)
        low, high = -float(MOST_BUDGET) / 2, math.log(0.9999 / (1 + ratio))
        if low >= high or height(high) > 0:
            return math.inf
        if height(low) <= 0:
            return math.exp(low)
        return math.exp(called("SciPy", brentq, height, low, high, xtol=1e-4))

    def _tried(self, ratio: float) -> tuple[float, float, float]:
        """Return the square of the standard error by n at a ratio, its q, and the ratio."""
        k, q = len(self._domain), self._least(ratio)
        if math.isinf(q):
            return q, q, ratio
        p = 1 - ratio * q
        noise = (q * (1 - q) * (1 - 1 / k) + p * (1 - p) / k) / (p - q) ** 2
        return noise, q, ratio

    def unary(self) -> OptimizedUnaryEncoding | None:
        """Return the best unary encoding that is proved to keep the budget."""
        tried = [self._tried(ratio) for ratio in RATIOS]
        near = min(tried)[2] * RATIOS[1:4] / RATIOS[2]  # the neighbors, and itself
        noise, q, ratio = min(map(self._tried, np.geomspace(near[0], near[2], 11)))
        if math.isinf(noise):
            return None
        for _ in range(STEPS):
            mechanism = self._made(q, 1 - ratio * q)
            if mechanism:
                seen = view(mechanism, summed=True)
                if seen.is_within(self._n, self._epsilon, self._delta):
                    return mechanism
            q *= 1.005
        return None

    def _made(self, q: float, p: float) -> OptimizedUnaryEncoding | None:
        """Return unary encoding with about these probabilities; None where p is not above q."""
        digits = min(math.ceil(-math.log2(q)) + DIGITS, BITS)
        others = math.ceil(q * 2**digits)
        q = others / 2**digits
        if not q < p:
            return None
        local = math.log(p / (1 - p) * (1 - q) / q)
        if not LEAST_BUDGET <= local <= MOST_BUDGET:
            return None
        return OptimizedUnaryEncoding(self._domain, f"{local:.9f}", digits, others)

    def single_bit(self) -> GeneralizedRandomizedResponse | None:
        """Return randomized response on two inputs: one bit determines both entries."""
        if len(self._domain) > 2:
            return None
        most = max(20, min(self._epsilon * 2, float(MOST_BUDGET)))

        def family(budget: float) -> GeneralizedRandomizedResponse:
            return GeneralizedRandomizedResponse(self._domain, budget)

        kept = self._epsilon, self._delta
        found = largest_local_budget(
            self._n, *kept, family, summed=True, most=most, precision="0.005"
        )
        return family(found.enough)
