"""The spanner route: a private channel and a bound from few pairs, and from more in time.

Each round solves two programs on the same pairs: with their true lengths for the bound, and made
shorter, so that they imply the rest, for the channel. The last round has all pairs and is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.routes.limits import Limits, Progress
from mechdesign.routes.lp.backends import Answer, Engine, in_parts
from mechdesign.routes.lp.linear_program import expected_cost
from mechdesign.routes.presolve.chain import scaled_duals
from mechdesign.routes.presolve.shortest_paths import lengths
from mechdesign.routes.presolve.spanner import Spanner, spanner

__all__ = ["solve_spanner"]


FIRST_PAIRS = 20
"""Pairs for each input in the first round; twice as many in each round after."""

ROUGH, SHARE = 1e-5, 0.05
"""Programs on some of the pairs are off, so that they are solved to this gap, or to this share of
the gap that is aimed at."""

SLOWER = 4.0
"""By this factor the next round is expected to be slower."""


def solve_spanner(
    problem: Problem, limits: Limits, solve: Engine, per_input: float = FIRST_PAIRS
) -> RawSolution:
    """Solve a problem on some of its pairs, and on more of them while there is time.

    Parameters
    ----------
    problem
        With an expected loss, for notions that bound ratios of entries.
    limits
        When to end. Without a time limit the last round is exact.
    solve
        The engine.
    per_input
        Pairs for each input in the first round.

    Raises
    ------
    UnsupportedError
        If the loss is not linear, or a worst case.
    """
    cost, scale = expected_cost(problem)
    value, bound, rounds = math.inf, -math.inf, 0
    matrix: FloatArray | None = None
    duals: Sequence[FamilyDual] = ()
    while True:
        rounds, before = rounds + 1, limits.elapsed
        search = _Round(problem.cone, cost, per_input)

        def outside(p: Progress, value: float = value, bound: float = bound) -> None:
            limits.tell(p.rounds, value * scale, max(bound, p.bound) * scale)

        outer = search.outer(search.limits(limits, outside), solve)
        if outer.bound > bound:
            bound, duals, note = outer.bound, outer.duals, search.note

        def inside(p: Progress, value: float = value, bound: float = bound) -> None:
            limits.tell(p.rounds, min(value, p.value) * scale, bound * scale)

        within = search.limits(limits, inside)
        inner = None if limits.over() else search.inner(within, solve, outer)
        if inner is not None and float((cost * inner.matrix).sum()) < value:
            value, matrix = float((cost * inner.matrix).sum()), inner.matrix
        if limits.tell(rounds, value * scale, bound * scale) or search.is_exact:
            break
        if SLOWER * (limits.elapsed - before) > limits.left:
            limits.ended = f"the time limit of {limits.seconds:g} s is too near for more pairs"
            break
        per_input *= 2
    found = outer.matrix if matrix is None else matrix
    dual = Dual(tuple(scaled_duals(list(duals), scale)))
    route = f"spanner: {outer.method}, {rounds} round{'s' * (rounds > 1)}"
    return RawSolution(found, problem.outputs or (), dual, route, [note])


class _Round:
    """The programs on so many pairs for each input."""

    def __init__(self, cone: Cone, cost: FloatArray, per_input: float) -> None:
        self.cone, self.cost = cone, cost
        self.spanners: list[Spanner | None] = [
            spanner(family, per_input) if isinstance(family, PairRows) else None
            for family in cone.families
        ]
        self.is_exact = not any(self.spanners)

    @property
    def note(self) -> str:
        """How many pairs there are, in words."""
        pairs = [family for family in self.cone.families if isinstance(family, PairRows)]
        total = sum(int((family.index != FREE).sum()) for family in pairs)
        if self.is_exact:
            return f"Spanner: all {total:,} pairs"
        kept = sum(
            int((family.index != FREE).sum()) if found is None else found.rows
            for family, found in zip(self.cone.families, self.spanners, strict=True)
            if isinstance(family, PairRows)
        )
        return f"Spanner: the bound is by {kept:,} of {total:,} pairs; shortened, they imply all"

    def outer(self, limits: Limits, solve: Engine) -> Answer:
        """Solve on the pairs with their true lengths."""
        families = [
            family if found is None else found.outer
            for family, found in zip(self.cone.families, self.spanners, strict=True)
        ]
        return in_parts(Cone(families), self.cost, limits, solve)

    def inner(self, limits: Limits, solve: Engine, outer: Answer) -> Answer:
        """Solve on the pairs with lengths that imply all others."""
        if self.is_exact:
            return outer
        families = [
            family if found is None else found.inner(_prices(found.outer, dual, outer.matrix))
            for family, found, dual in zip(
                self.cone.families, self.spanners, outer.duals, strict=True
            )
        ]
        return in_parts(Cone(families), self.cost, limits, solve)

    def limits(self, whole: Limits, watch: Callable[[Progress], None]) -> Limits:
        """Return the limits of one of the two programs, which tells its progress to ``watch``."""
        part = whole.part()
        part.watch = watch
        if not self.is_exact:
            part.gap = max(SHARE * whole.gap, ROUGH)
        return part


def _prices(family: PairRows, dual: FamilyDual, matrix: FloatArray) -> FloatArray:
    """Return what a nat less of each pair costs: Sum_y w_y e**-E q_y(x), to first order."""
    prices = np.zeros(family.index.shape)
    shrunk = np.exp(-np.where(family.index == FREE, 0.0, lengths(family)))
    for m in dual.multipliers:
        price = m.weight * shrunk[m.x, m.other] * np.maximum(matrix[m.x, m.output], 0.0)
        np.add.at(prices, (m.x, m.other), price)
    return prices
