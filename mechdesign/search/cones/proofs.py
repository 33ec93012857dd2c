"""Prices that are feasible for the dual: potentials at which no ray has a negative reduced cost.

A solver's potentials meet that to its tolerance, by the size of the largest entry of a ray. What
the checker would take off the bound for it is far more than what the bound loses if all potentials
are lowered by the least mean cost of a ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.multipliers import FamilyDual
from mechdesign.evidence.rows import Proof, ceiling_of, certificate, spared
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.oracles import Knapsack, Line, OneBudget, Oracles
from mechdesign.kernel.packed import Numbers
from mechdesign.problem import Problem
from mechdesign.search.cones.chain_pricer import ChainPricer
from mechdesign.search.cones.input_line import InputLine
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.cones.price_search import price_search
from mechdesign.search.cones.sorted_pricer import LiftPricer, SubsetPricer

__all__ = ["PRICERS", "feasible_prices", "linear_proof", "multiplier_bound", "weighted_costs"]

PRICERS: dict[str, type[ChainPricer | SubsetPricer | LiftPricer]] = {
    "chain": ChainPricer,
    "one-budget": SubsetPricer,
    "lifts": LiftPricer,
}
"""The pricer for each form of the cone that :func:`~.price_search.price_search` names."""

TURNS = 4
"""How often potentials are lowered; the pricer of lifts finds the least mean cost in some turns."""

MARGIN = 1e-15
"""Potentials are lowered by this more, relative to them: floats have a rounding of their own."""


def linear_proof(
    duals: Sequence[FamilyDual],
    matrix: FloatArray,
    gap: float,
    *,
    potentials: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> Proof:
    """Return what makes the certificate of a bound on a linear loss.

    Parameters
    ----------
    duals
        Multipliers of rows of the notions; not asked for where there are potentials.
    matrix, gap
        ``(n_inputs, n_outputs)``, with all outputs, and the relative gap that is aimed at: how many
        of the multipliers are needed depends on what is left between the bound and the loss.
    potentials
        ``(n_inputs,)``, where :func:`~.price_search.price_search` says that they prove a bound.
    weights
        For a worst case ``(n_inputs,)`` multipliers of the losses of the inputs; else None.
    """
    if potentials is not None:
        return partial(_of_prices, potentials, weights)
    return partial(_of_rows, duals, weights, matrix, gap)


def _of_rows(
    duals: Sequence[FamilyDual],
    weights: FloatArray | None,
    matrix: FloatArray,
    gap: float,
    problem: Problem,
) -> Certificate:
    """Return the certificate of multipliers."""

    def spare() -> float:
        value = float((weighted_costs(problem, weights) * matrix).sum())
        return spared(value, multiplier_bound(problem, duals, weights), gap)

    return certificate(problem, duals=duals, weights=weights, spare=spare)


def _of_prices(potentials: FloatArray, weights: FloatArray | None, problem: Problem) -> Certificate:
    """Return the certificate of potentials; a gain is a loss less its ceiling at each input."""
    lowered = feasible_prices(problem, potentials, weights)
    mass = ceiling_of(problem) * problem.prior.array
    prices = Numbers((lowered - mass).tolist())
    return certificate(problem, oracle=_oracle(problem), weights=weights, prices=prices)


def _oracle(problem: Problem) -> Oracles:
    """Return how the kernel finds the least cost of a private column."""
    form = price_search(problem)
    if form == "lifts":
        return Knapsack()
    if form == "one-budget":
        budget = OneBudgetCone.of(problem.cone)
        return OneBudget(None if budget is None else budget.block_groups)
    line = InputLine.of_problem(problem)
    order = None if line is None else tuple(line.order.tolist())
    return Line(None if order == tuple(range(len(problem.domain))) else order)


def feasible_prices(
    problem: Problem, potentials: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Lower potentials until no private column has a negative reduced cost, up to rounding.

    Parameters
    ----------
    problem
        With a linear loss, or one that stands for it, under a cone with a pricer.
    potentials, weights
        ``(n_inputs,)``; the weights of a worst case, else None.
    """
    unit = float(np.abs(potentials).max(initial=0.0)) or 1.0
    pricer = PRICERS[price_search(problem)].of(problem, weighted_costs(problem, weights) / unit)
    if pricer is None:
        return potentials
    lowered = potentials / unit
    for _ in range(TURNS):
        least = float(pricer.price(lowered, lambda: False).reduced.min())
        if least >= 0:
            break
        lowered = lowered + (least - MARGIN)
    return np.asarray(lowered * unit)


def multiplier_bound(
    problem: Problem, duals: Sequence[FamilyDual], weights: FloatArray | None = None
) -> float:
    """Return the bound on a linear loss that multipliers prove, in floating point.

    It is -inf for notions about the whole channel.
    """
    if not problem.is_conic:
        return -np.inf
    costs = weighted_costs(problem, weights)
    for family in duals:
        for found in family.multipliers:
            problem.cone.families[family.notion].add_terms(costs, found, family.priors)
    return float(costs.min(axis=1).sum())


def weighted_costs(problem: Problem, weights: FloatArray | None) -> FloatArray:
    """Return the cost of each entry of Q, for a worst case that of a mean with these weights."""
    loss = problem.utility.linear_form
    if loss is None:
        raise UnsupportedError("objective", "a loss that is linear", problem.utility.name)
    table = loss.loss(problem.domain, problem.guesses).array
    mass = problem.prior.array if weights is None else weights / weights.sum()
    return np.asarray(mass[:, None] * table)
