"""Engines: what solves a cone and a cost, whatever was done to them before, and HiGHS as one.

    minimise  Sum_xy cost[x, y] Q[x, y],   columns of Q in the cone, rows that sum to 1

Reductions make such programs out of problems and take the answers back; they do not care by what
the programs are solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.notions.rows.cone import Cone
from mechdesign.routes.base import FamilyDual
from mechdesign.routes.interior.conversion import InteriorPart
from mechdesign.routes.interior.method import Path
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.linear_program import Part, renumbered

__all__ = ["Answer", "Engine", "by_highs", "by_interior", "in_parts", "reduced_costs"]


@dataclass(frozen=True)
class Answer:
    """What an engine found.

    Attributes
    ----------
    cone, cost
        What it was asked.
    matrix
        ``(n_inputs, n_outputs)``, a channel up to a tolerance.
    duals
        Weights on rows of the cone, one for each of its families, in the unit of the cost.
    method
        How it was found, for the report.
    path
        Where a program nearby can start, if the engine has such a thing.
    """

    cone: Cone
    cost: FloatArray
    matrix: FloatArray
    duals: tuple[FamilyDual, ...]
    method: str
    path: Path | None = None

    @cached_property
    def bound(self) -> float:
        """What the weights prove, in floating point; see :func:`reduced_costs`."""
        return float(reduced_costs(self.cone, self.cost, self.duals).min(axis=1).sum())


Engine: TypeAlias = Callable[[Cone, FloatArray, Limits], Answer]
"""Solves a cone and a cost within limits."""


def by_highs(cone: Cone, cost: FloatArray, limits: Limits) -> Answer:
    """Solve by HiGHS, all at once."""
    part = Part(cone, cost, worst_case=False, method="auto")
    part.solve(limits)
    pairs = zip(part.multipliers, part.prior_table, strict=True)
    duals = tuple(FamilyDual(n, tuple(found), table) for n, (found, table) in enumerate(pairs))
    return Answer(cone, cost, part.matrix, duals, part.method)


def by_interior(cone: Cone, cost: FloatArray, limits: Limits, path: Path | None = None) -> Answer:
    """Solve by the interior-point method, from where a program nearby has been."""
    part = InteriorPart(cone, cost)
    part.solve(limits, path)
    method = f"interior: {part.kind} blocks"
    return Answer(cone, cost, part.matrix, tuple(part.duals), method, part.path)


def reduced_costs(cone: Cone, cost: FloatArray, duals: Sequence[FamilyDual]) -> FloatArray:
    """Return the costs with the terms of weights, w (e**-a left - right), added to them.

    Those are at most 0 on private columns, so that Sum_x min_y of the result is a bound.

    Parameters
    ----------
    cone, cost
        As an engine takes them.
    duals
        Weights on rows of the cone, one for each family.
    """
    reduced = cost.copy()
    for family, dual in zip(cone.families, duals, strict=True):
        for m in dual.multipliers:
            family.add_terms(reduced, m, dual.priors)
    return reduced


def in_parts(cone: Cone, cost: FloatArray, limits: Limits, solve: Engine) -> Answer:
    """Solve each group of inputs that shares no row with others by itself.

    Parameters
    ----------
    cone, cost, limits
        As an engine takes them.
    solve
        The engine for each group.
    """
    component = cone.components()
    n_parts = int(component.max()) + 1
    if n_parts == 1:
        return solve(cone, cost, limits)
    matrix = np.zeros(cost.shape)
    duals = [FamilyDual(n, ()) for n in range(len(cone.families))]
    methods: dict[str, None] = {}
    for part in range(n_parts):
        inputs = np.flatnonzero(component == part)
        answer = solve(cone.restricted(inputs), cost[inputs], limits.part())
        matrix[inputs] = answer.matrix
        methods[answer.method] = None
        for n, dual in enumerate(answer.duals):  # rows on lifts join all inputs: ratios only
            moved = (renumbered(m, inputs, 1.0) for m in dual.multipliers)
            duals[n] = replace(duals[n], multipliers=(*duals[n].multipliers, *moved))
    return Answer(cone, cost, matrix, tuple(duals), " and ".join(methods))
