"""Prices that are feasible for the dual: potentials at which no ray has a negative reduced cost.

A solver's potentials meet that to its tolerance, by the size of the largest entry of a ray. What
the checker would take off the bound for it is far more than what the bound loses if all potentials
are lowered by the least mean cost of a ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual
from mechdesign.routes.column_generation.chain_pricer import ChainPricer
from mechdesign.routes.column_generation.sorted_pricer import LiftPricer, SubsetPricer
from mechdesign.routes.lp.warm_column import WarmColumn

__all__ = ["PRICERS", "feasible_prices", "multiplier_bound", "row_multipliers"]

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


def feasible_prices(problem: Problem, dual: Dual) -> Dual:
    """Lower potentials until no private column has a negative reduced cost, up to rounding.

    Parameters
    ----------
    problem
        With a linear loss, or one that stands for it.
    dual
        Returned as they are, if their ``search`` is no key of :data:`PRICERS`.
    """
    potentials = dual.potentials
    if potentials is None or dual.search not in PRICERS:
        return dual
    unit = float(np.abs(potentials).max(initial=0.0)) or 1.0
    pricer = PRICERS[dual.search].of(problem, _costs(problem, dual.input_multipliers) / unit)
    if pricer is None:
        return dual
    lowered = potentials / unit
    for _ in range(TURNS):
        least = float(pricer.price(lowered, lambda: False).reduced.min())
        if least >= 0:
            break
        lowered = lowered + (least - MARGIN)
    return replace(dual, potentials=lowered * unit)


def row_multipliers(
    problem: Problem,
    potentials: FloatArray,
    weights: FloatArray | None,
    outputs: Sequence[int],
) -> tuple[FamilyDual, ...]:
    """Return multipliers of rows that show the prices to be feasible, at some outputs.

    They are the dual variables of the least reduced cost of a private column.

    Parameters
    ----------
    problem
        As in :func:`feasible_prices`.
    potentials, weights
        Of the inputs; the weights of a worst case, else None.
    outputs
        Places among the outputs allowed. The multipliers count them from 0, in this order.
    """
    reduced = _costs(problem, weights)[:, outputs] - potentials[:, None]
    unit = float(np.abs(reduced).max(initial=0.0)) or 1.0
    k = len(reduced)
    column = WarmColumn(problem.cone, np.full(k, 1 / k))
    found = [column.cheapest(v)[1].dual[:-1] for v in reduced.T / unit]
    return column.families([np.maximum(-own, 0.0) for own in found], unit)


def multiplier_bound(problem: Problem, dual: Dual) -> float | None:
    """Return the bound on a linear loss that multipliers prove, in floating point.

    None for another objective, and for notions about the whole channel.
    """
    if problem.utility.linear_form is None or not problem.is_conic or dual.decoders is not None:
        return None
    costs = _costs(problem, dual.input_multipliers)
    for family in dual.families:
        for found in family.multipliers:
            problem.cone.families[family.notion].add_terms(costs, found, family.priors)
    return float(costs.min(axis=1).sum())


def _costs(problem: Problem, weights: FloatArray | None) -> FloatArray:
    """Return the cost of each entry of Q, for a worst case that of a mean with these weights."""
    loss = problem.utility.linear_form
    if loss is None:
        raise UnsupportedError("objective", "a loss that is linear", problem.utility.name)
    table = loss.loss(problem.domain, problem.guesses).array
    mass = problem.prior.array if weights is None else weights / weights.sum()
    return np.asarray(mass[:, None] * table)
