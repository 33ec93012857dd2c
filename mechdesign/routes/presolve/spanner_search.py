"""Search over spanners: a bound and a private channel from few pairs, then from more.

Each round solves two programs on the same pairs: a relaxation, with their true lengths, for the
bound, and a restriction, with shorter ones that imply all pairs, for the channel. The last round
has all pairs and is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.notions.rows.cone import Cone
from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.problem import Problem
from mechdesign.routes.base import FamilyDual, RawSolution
from mechdesign.routes.limits import Limits, Progress
from mechdesign.routes.presolve.chain import conic_program, raw_solution, solve_chain
from mechdesign.routes.presolve.components import Components
from mechdesign.routes.presolve.implied_pairs import count_pairs
from mechdesign.routes.presolve.reduction import (
    Answer,
    Backend,
    ConicProgram,
    Reduced,
    Reduction,
    reduced_costs,
)
from mechdesign.routes.presolve.spanner import Spanner, spanner

__all__ = ["solve_spanner"]


FIRST_PAIRS = 20
"""Pairs for each input in the first round; twice as many in each round after."""

ROUGH, SHARE = 1e-5, 0.05
"""Programs on some of the pairs have other optima anyhow: they are solved to this gap, or to this
share of the gap that is aimed at, whichever is larger."""

SLOWER = 4.0
"""The factor by which the next round is expected to take longer."""


def solve_spanner(
    problem: Problem, limits: Limits, backend: Backend, per_input: float = FIRST_PAIRS
) -> RawSolution:
    """Solve a problem on some of its pairs, and on more of them while there is time.

    Parameters
    ----------
    problem
        With an expected loss, for notions that bound ratios of entries.
    limits
        When to end. Without a time limit the last round is exact.
    backend
        What solves the programs.
    per_input
        Pairs for each input in the first round.

    Raises
    ------
    UnsupportedError
        If the loss is not linear, or a worst case.
    """
    program, unit = conic_program(problem)
    if program.worst_case:
        raise UnsupportedError("objective", "an expected loss", "a worst case")
    value, bound, rounds = math.inf, -math.inf, 0
    best: Answer | None = None
    duals: Sequence[FamilyDual] = ()
    while True:
        rounds, before = rounds + 1, limits.elapsed
        with limits.stopwatch.phase("presolve"):
            ratios = [family.ratio_rows() for family in program.cone.families]
            spanners = [None if rows is None else spanner(rows, per_input) for rows in ratios]
        is_exact = not any(spanners)

        def solve(step: Reduction, watch: Callable[[Progress], None], exact: bool) -> Answer:
            part = limits.part()
            part.watch = watch
            if not exact:
                part.gap = max(SHARE * limits.gap, ROUGH)
            return solve_chain(program, [step, Components()], backend, part)

        def relaxed(p: Progress, value: float = value, bound: float = bound) -> None:
            limits.tell(p.rounds, value * unit, max(bound, p.bound) * unit)

        outer = solve(Relaxation(spanners), relaxed, is_exact)
        proved = float(reduced_costs(program, outer.duals).min(axis=1).sum())
        if proved > bound:
            bound, duals, note = proved, outer.duals, _note(program.cone, spanners)

        def restricted(p: Progress, value: float = value, bound: float = bound) -> None:
            limits.tell(p.rounds, min(value, p.value) * unit, bound * unit)

        inner: Answer | None = outer
        if not is_exact:
            inner = None
            if not limits.over():
                inner = solve(Restriction(spanners, outer), restricted, exact=False)
        if inner is not None and float((program.cost * inner.matrix).sum()) < value:
            value, best = float((program.cost * inner.matrix).sum()), inner
        if limits.tell(rounds, value * unit, bound * unit) or is_exact:
            break
        if SLOWER * (limits.elapsed - before) > limits.left:
            limits.ended = f"the time limit of {limits.seconds:g} s is too near for more pairs"
            break
        per_input *= 2
    route = f"spanner: {outer.route}, {rounds} round{'s' * (rounds > 1)}"
    answer = Answer((best or outer).matrix, tuple(duals), route, notes=(note,))
    return raw_solution(problem, answer, unit)


def _note(cone: Cone, spanners: Sequence[Spanner | None]) -> str:
    """Return how many pairs there are, in words."""
    total = count_pairs(cone)
    left_out = sum(
        rows.n_pairs - found.rows
        for family, found in zip(cone.families, spanners, strict=True)
        if found is not None and (rows := family.ratio_rows()) is not None
    )
    if not any(spanners):
        return f"Spanner: all {total:,} pairs"
    kept = total - left_out
    return f"Spanner: the bound is by {kept:,} of {total:,} pairs; shortened, they imply all"


@dataclass(frozen=True)
class Relaxation(Reduction):
    """Leave out all pairs but those of the spanners: a bound for what is left is one for all.

    The multipliers are those of rows of the whole.
    """

    spanners: Sequence[Spanner | None]

    def apply(self, program: ConicProgram) -> Reduced:
        """Replace the families that have a spanner."""
        families = [
            family if found is None else found.outer
            for family, found in zip(program.cone.families, self.spanners, strict=True)
        ]
        return Reduced((replace(program, cone=Cone(families)),), "pairs of a spanner")


@dataclass(frozen=True)
class Restriction(Reduction):
    """Shorten the pairs of the spanners so that they imply all: what is left has private channels.

    Its multipliers prove nothing for the whole and are dropped.
    """

    spanners: Sequence[Spanner | None]
    relaxed: Answer

    def apply(self, program: ConicProgram) -> Reduced:
        """Shorten the pairs where it costs least to first order, by the relaxation's duals."""
        families = [
            family
            if found is None
            else found.inner(_sensitivities(found.outer, dual, self.relaxed.matrix))
            for family, found, dual in zip(
                program.cone.families, self.spanners, self.relaxed.duals, strict=True
            )
        ]
        return _Restricted((replace(program, cone=Cone(families)),), "shorter pairs of a spanner")


class _Restricted(Reduced):
    def invert(self, answers: Sequence[Answer]) -> Answer:
        """Drop the multipliers."""
        (answer,) = answers
        return replace(answer, duals=())


def _sensitivities(family: PairRows, dual: FamilyDual, matrix: FloatArray) -> FloatArray:
    """Return what shortening each pair by a nat costs: Sum_y w_y e**-E q_y(x), to first order."""
    found = np.zeros(family.index.shape)
    shrunk = np.exp(-np.where(family.index == FREE, 0.0, family.lengths()))
    for m in dual.multipliers:
        cost = m.weight * shrunk[m.x, m.other] * np.maximum(matrix[m.x, m.output], 0.0)
        np.add.at(found, (m.x, m.other), cost)
    return found
