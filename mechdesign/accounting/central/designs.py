"""Designs whose shuffled or summed reports keep a central budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq

from mechdesign.accounting.arguments import below_one, positive
from mechdesign.accounting.central.central import (
    after_aggregation,
    after_shuffling,
    largest_local_budget,
    view,
)
from mechdesign.accounting.central.comparisons import central_budget, reports
from mechdesign.accounting.central.result import Central
from mechdesign.accounting.central.sums import SummedReports
from mechdesign.accounting.crossings import bisected
from mechdesign.channel import BITS
from mechdesign.designs.design import check_problem, design
from mechdesign.designs.solution import Solution
from mechdesign.domain import Domain, DomainLike
from mechdesign.errors import InfeasibleError
from mechdesign.exact import Exact
from mechdesign.mechanisms import GeneralizedRandomizedResponse, OptimizedUnaryEncoding
from mechdesign.mechanisms.base import LEAST_BUDGET, MOST_BUDGET, Mechanism, inputs_of
from mechdesign.problem import Problem
from mechdesign.solver_guard import called

RATIOS = np.geomspace(0.25, 1e5, 24)
"""Initial ratios of 1 - p to q in the search; symmetric unary encoding has 1."""

DIGITS = 8
"""Significant binary digits of q."""

STEPS = 60
"""Maximum number of times that q is raised by 0.5 % to prove the budget."""


@dataclass(frozen=True)
class AggregatedDesign:
    """Bit vectors whose sum keeps a central budget.

    Attributes
    ----------
    epsilon
        The central budget, in nats.
    mechanism
        Unary encoding; for two inputs possibly randomized response.
    aggregated
        Bounds on the central leakage of the sum.
    standard_error
        The standard error of an estimated count, given the data: the root mean square over the
        inputs if each is held by equally many people.
    """

    epsilon: float
    mechanism: Mechanism
    aggregated: Central
    standard_error: float

    def __repr__(self) -> str:
        error = f"standard error of a count: {self.standard_error:.4g}"
        return f"{self.mechanism!r}\n{error}\n{self.aggregated!r}"


def design_for_aggregation(
    inputs: DomainLike, n: int, epsilon: Exact, delta: Exact
) -> AggregatedDesign:
    """Return the bit vectors with the least standard error whose sum keeps a central budget.

    A bit is 1 with probability p for the person's own input, and q for any other. The search finds,
    for each ratio of 1 - p to q, the least q at which no data set tried exceeds the budget, then
    the best ratio, and raises q until the budget is proved for all data sets. With two inputs
    randomized response is tried as well. The budget is proved; that the noise is minimal is not.

    Parameters
    ----------
    inputs
        A :class:`Domain`, its labels, or its size; at least 2 inputs.
    n
        Number of reports in the sum.
    epsilon
        The central budget in nats, > 0.
    delta
        Above 0, below 1.

    Raises
    ------
    InputError
        If an argument is out of range.
    InfeasibleError
        If no mechanism tried keeps the budget.

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
    made: list[Mechanism | None] = [_unary(domain, n, central, delta)]
    if len(domain) == 2:  # one bit determines both entries
        most = max(20, min(2 * central, float(MOST_BUDGET)))

        def family(budget: float) -> GeneralizedRandomizedResponse:
            return GeneralizedRandomizedResponse(domain, budget)

        largest = largest_local_budget(
            n, central, delta, family, summed=True, most=most, precision="0.005"
        )
        made.append(family(largest.enough))
    found = [(_error(each, n), each) for each in made if each is not None]
    if not found:
        raise InfeasibleError(f"no bit vectors keep epsilon = {central:g} for a sum of {n} reports")
    error, best = min(found, key=lambda pair: pair[0])
    leakage = after_aggregation(best, n, delta)
    proved = replace(leakage, epsilon=min(leakage.epsilon, central))
    return AggregatedDesign(central, best, proved, error)


def _error(mechanism: Mechanism, n: int) -> float:
    """Return the standard error of a count, without sampling error of the people."""
    k = len(mechanism.inputs)
    return math.sqrt(n * max(mechanism.risk / k - (1 - 1 / k) / k, 0.0))


def _unary(domain: Domain, n: int, epsilon: float, delta: float) -> Mechanism | None:
    """Return the best unary encoding that provably keeps the budget."""
    k = len(domain)

    def tried(ratio: float) -> tuple[float, float, float]:
        """Return the squared standard error divided by n at a ratio, its q, and the ratio."""
        q = _least_q(ratio, k, n, epsilon, delta)
        if math.isinf(q):
            return q, q, ratio
        p = 1 - ratio * q
        noise = (q * (1 - q) * (1 - 1 / k) + p * (1 - p) / k) / (p - q) ** 2
        return noise, q, ratio

    near = min(map(tried, RATIOS))[2] * RATIOS[1:4] / RATIOS[2]  # the neighbors, and itself
    noise, q, ratio = min(map(tried, np.geomspace(near[0], near[2], 11)))
    for _ in range(STEPS if math.isfinite(noise) else 0):
        mechanism = _made(domain, q, 1 - ratio * q)
        if mechanism and view(mechanism, summed=True)(n, delta).is_within(epsilon):
            return mechanism
        q *= 1.005
    return None


def _least_q(ratio: float, k: int, n: int, epsilon: float, delta: float) -> float:
    """Return the least q at which no data set tried exceeds the budget; infinite if none."""
    corners = (n - 1, 0), (0, n - 1 if k == 2 else 0)

    def height(log: float) -> float:
        q = Fraction(math.exp(log))
        sets = SummedReports(n, delta, (1 - q * Fraction(ratio), q), k)
        below = max(sets.delta_below(epsilon, each) for each in corners)
        return math.log(max(below, 1e-300) / delta)

    low, high = -float(MOST_BUDGET) / 2, math.log(0.9999 / (1 + ratio))
    if height(high) > 0:
        return math.inf
    if height(low) <= 0:
        return math.exp(low)
    return math.exp(called("SciPy", brentq, height, low, high, xtol=1e-4))


def _made(domain: Domain, q: float, p: float) -> OptimizedUnaryEncoding | None:
    """Return unary encoding with about these probabilities; None unless p > q."""
    digits = min(math.ceil(-math.log2(q)) + DIGITS, BITS)
    others = math.ceil(q * 2**digits)
    q = others / 2**digits
    if not q < p:
        return None
    local = math.log(p / (1 - p) * (1 - q) / q)
    if not LEAST_BUDGET <= local <= MOST_BUDGET:
        return None
    return OptimizedUnaryEncoding(domain, f"{local:.9f}", digits, others)


@dataclass(frozen=True)
class ShuffledDesign:
    """A channel whose shuffled reports keep a central budget.

    Attributes
    ----------
    epsilon
        The central budget, in nats.
    local
        The local budget of the design.
    solution
        The channel, certified as optimal at that local budget.
    shuffled
        Bounds on the central leakage of its shuffled reports.
    """

    epsilon: float
    local: Fraction
    solution: Solution
    shuffled: Central

    def __repr__(self) -> str:
        return f"{self.solution!r}\n\n{self.shuffled!r}"


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

    Bisection finds the largest local budget whose optimal channel keeps the central budget after
    shuffling. The channel is optimal at its local budget. A channel that is not private under the
    notion at that budget, but private after shuffling, might be better still.

    Parameters
    ----------
    problem
        A problem with one notion that has an epsilon; its value is ignored.
    n
        Number of shuffled reports.
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
        If no channel tried keeps it.
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
        """Whether the optimal channel keeps the budget; true if the problem is infeasible."""
        try:
            solution = design(problem.at(local), gap=gap)
        except InfeasibleError:
            return True
        kept = view(solution.channel, summed=False)(n, delta).is_within(central)
        found.extend([(local, solution)] * kept)
        return kept

    if not keeps(last):
        bisected(keeps, Fraction(0), last, width)
    if not found:
        raise InfeasibleError(f"no design keeps epsilon = {epsilon} after shuffling {n} reports")
    local, solution = found[-1]
    leakage = after_shuffling(solution.channel, n, delta)
    return ShuffledDesign(central, local, solution, leakage)
