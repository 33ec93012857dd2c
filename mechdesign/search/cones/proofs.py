"""The evidence of a bound on a linear loss: prices of the inputs, or multipliers of rows.

A solver's potentials are feasible to its tolerance, relative to the largest entry of a ray. The
kernel's correction of the bound would be far larger than the loss from lowering all potentials by
the least mean cost of a ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.rows import (
    Proof,
    blocks_of,
    ceiling_of,
    certificate,
    shortened,
    spared,
)
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import Costs
from mechdesign.kernel.oracles import Orthant
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.relaxations import Representatives
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.cones.pricing import pricer_of

TURNS = 4
"""The number of times that potentials are lowered."""

MARGIN = 1e-15
"""Potentials are lowered by an additional relative margin for floating-point rounding."""


def linear_proof(
    duals: Sequence[Multipliers],
    matrix: FloatArray,
    gap: float,
    *,
    potentials: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> Proof:
    """Return the function that makes the certificate of a bound on a linear loss.

    Parameters
    ----------
    duals
        Multipliers of rows of the notions; not used if there are potentials.
    matrix, gap
        ``(n_inputs, n_outputs)``, with all outputs, and the relative gap of the search: the number
        of needed multipliers depends on the difference between the bound and the loss.
    potentials
        ``(n_inputs,)``, if :func:`~.pricing.pricer_of` finds that they prove a bound.
    weights
        For a worst case ``(n_inputs,)`` multipliers of the losses of the inputs; else None.
    """
    if potentials is not None:
        return partial(_of_prices, potentials, weights)

    def of_rows(problem: Problem) -> Certificate:
        def spare() -> float:
            value = float((weighted_costs(problem, weights) * matrix).sum())
            return spared(value, multiplier_bound(problem, duals, weights), gap)

        return certificate(problem, duals=duals, weights=weights, spare=spare)

    return of_rows


@dataclass(frozen=True)
class RepresentativesProof:
    """Multipliers of rows on representatives, in place of all inputs.

    Attributes
    ----------
    stands
        The representative of each input.
    duals
        Multipliers of rows of the notions.
    spare
        The loss of the bound allowed for omitted multipliers.
    """

    stands: tuple[int, ...]
    duals: Sequence[Multipliers]
    spare: float

    @property
    def n_inputs(self) -> int:
        """The number of representatives."""
        return len(set(self.stands))

    def __call__(self, problem: Problem) -> Certificate:
        """Return the certificate."""
        rows = shortened(problem, self.duals, len(problem.guesses), lambda: self.spare)
        blocks = tuple(blocks_of(problem, self.renumbered(rows), {}))
        return Certificate(Costs(), Orthant(), (Representatives(self.stands),), blocks)

    def renumbered(self, parts: Sequence[Multipliers]) -> list[Multipliers]:
        """Return multipliers with inputs numbered among the representatives."""
        at: IntArray = np.zeros(max(self.stands) + 1, dtype=np.intp)
        at[np.unique(self.stands)] = np.arange(self.n_inputs)
        return [replace(m, x=at[m.x], other=at[m.other]) for m in parts]


def _of_prices(potentials: FloatArray, weights: FloatArray | None, problem: Problem) -> Certificate:
    """Return the certificate of potentials; a gain is a ceiling at each input minus a loss."""
    pricer, lowered = pricer_of(problem), feasible_prices(problem, potentials, weights)
    mass = ceiling_of(problem) * problem.prior.array
    prices, oracle = Numbers((lowered - mass).tolist()), getattr(pricer, "oracle", None)
    return certificate(problem, oracle=oracle, weights=weights, prices=prices)


def feasible_prices(
    problem: Problem, potentials: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Lower potentials until no private column has a negative reduced cost, up to rounding."""
    unit = float(np.abs(potentials).max(initial=0.0)) or 1.0
    lowered, pricer = potentials / unit, pricer_of(problem)
    if pricer is None:
        return potentials
    cost = weighted_costs(problem, weights) / unit
    for _ in range(TURNS):
        least = float(pricer.price(cost - lowered[:, None]).reduced.min())
        if least >= 0:
            break
        lowered = lowered + (least - MARGIN) * pricer.weight
    return np.asarray(lowered * unit)


def multiplier_bound(
    problem: Problem, duals: Sequence[Multipliers], weights: FloatArray | None = None
) -> float:
    """Return the bound on a linear loss proved by multipliers, in floating point.

    It is -inf for notions about the whole channel.
    """
    if not problem.is_conic:
        return -np.inf
    costs = weighted_costs(problem, weights)
    for found in duals:
        problem.cone.families[found.notion].add_terms(costs, found)
    return float(costs.min(axis=1).sum())


def weighted_costs(problem: Problem, weights: FloatArray | None) -> FloatArray:
    """Return the cost of each entry of Q, for a worst case that of the mean with these weights."""
    loss = problem.utility.linear_form
    if loss is None:
        raise UnsupportedError("objective", "a loss that is linear", problem.utility.name)
    table = loss.loss(problem.domain, problem.guesses).array
    mass = problem.prior.array if weights is None else weights / weights.sum()
    return np.asarray(mass[:, None] * table)
