"""Linear programs for notions on the whole channel, with constraint generation.

A sum of largest linear excesses has an auxiliary variable s[j, y] for every excess j and output y:

    minimize  Sum_xy cost[x,y] Q[x,y]   with   s[j,y] >= rows_j . q_y,   Sum_y s[j,y] <= limit_j

in addition to the rows on columns. If there are many excesses, those that the last solution
violates are added in rounds, after a start without a program of this size (`strict_mixture`). A
bound on mutual information is not linear: cvxpy solves it (`cvxpy_solver`), unless the other
notions imply it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.kernel.limits import Gauge
from mechdesign.notions import ChannelConstraint
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.proofs import linear_proof
from mechdesign.search.conic.strict_mixture import strict_mixture
from mechdesign.search.limits import Limits
from mechdesign.search.lp.extended_formulation import extended_formulation
from mechdesign.search.lp.linear_program import by_highs
from mechdesign.search.presolve.chain import UNLIKELY, conic_program

__all__ = ["UNLIKELY", "solve_non_conic"]


MOST_ENTRIES = 4_000_000
ALL_AT_ONCE = 10_000
"""The number of rows up to which all excesses are in the first program."""

FEW_ROUNDS, ROUNDS = 6, 50
VIOLATION, LEAST_VIOLATION = 1e-9, 1e-14
"""A sum is violated if it exceeds its limit by this, relative and absolute."""


def solve_non_conic(
    problem: Problem,
    method: str = "simplex",
    limits: Limits | None = None,
    unlikely: float = UNLIKELY,
) -> RawSolution:
    """Solve a problem with a linear loss and notions on the whole channel.

    Parameters
    ----------
    problem
        With a linear loss. Bounds on information are ignored: if they bind, the repair mixes the
        answer with a constant channel, which is then far from optimal.
    method
        ``"simplex"`` or ``"ipm"``.
    limits
        The limits of the search; default at the optimum. Every round gives a bound, and the repair
        makes its channel private, for any number of violated excesses.
    unlikely
        The share of the largest cost that an input of prior 0 has.

    Raises
    ------
    UnsupportedError
        If the loss is not linear, or the program is too large.
    SolverError
        If HiGHS fails, or the time is over before there is an answer.
    """
    limits = limits or Limits()
    program, unit = conic_program(problem, unlikely)
    program, within = replace(program, is_priced=False), limits.part(unit)
    k, m = program.cost.shape
    sums = [_Excesses(place, constraint, m) for place, constraint in _excess_constraints(problem)]
    all_linear = all(
        constraint is None or constraint.is_linear for constraint in problem.channel_constraints
    )
    evidence, matrix, bound, value = None, np.zeros((0, 0)), -np.inf, np.nan
    rounds, violated, done = 0, True, False
    start = strict_mixture(problem, program, within) if all_linear else None
    if start is not None:
        evidence, value, bound = start
        matrix = evidence.matrix
        for some in sums:
            some.add(evidence.duals)
        done = within.report(0, value, bound)
    while violated and not done and rounds < ROUNDS:
        active = [
            (some.place, some.constraint.part(np.flatnonzero(some.active)))
            for some in sums
            if some.active.any()
        ]
        entries = m * extended_formulation(program.cone, True, active).A.nnz
        if entries > MOST_ENTRIES:
            if start is not None:
                break
            most = f"a program of at most {MOST_ENTRIES} entries"
            given = f"{entries}, for {k} inputs and {m} outputs"
            raise UnsupportedError("privacy", most, given)
        try:
            answer = by_highs(replace(program, sums=active), within, method)
        except SolverError:
            if evidence is None or not limits.expired():
                raise
            break
        rounds += 1
        if not answer.is_optimal:
            if evidence is None:
                evidence, matrix = answer, answer.matrix
            break
        least = program.loss(answer.matrix)
        if least > bound:
            evidence, bound = answer, least
        violated = sum(some.add_violated(answer.matrix, rounds > FEW_ROUNDS) for some in sums) > 0
        if start is None or not violated:
            matrix, value = answer.matrix, least if all_linear and not violated else np.nan
        done = within.report(rounds, value, bound)
        if rounds > FEW_ROUNDS:  # nearly all bind: ipm is faster for such a large program
            method = "ipm"
    notes = [f"violated sums were added in {rounds} rounds"] if rounds > 1 else []
    route = f"conic: HiGHS {method}" if rounds else "conic: the strict optimum and the truth, mixed"
    duals = [] if evidence is None else [m.scaled(unit) for m in evidence.duals]
    weights = None if evidence is None else evidence.worst_case_multipliers
    proof = linear_proof(duals, matrix, limits.gap, weights=weights)
    return RawSolution(matrix, problem.outputs or (), [proof], route, notes)


def _excess_constraints(problem: Problem) -> list[tuple[int, ChannelConstraint]]:
    """Return the constraints that are sums of linear excesses, with their positions."""
    return [
        (place, constraint)
        for place, constraint in enumerate(problem.channel_constraints)
        if constraint is not None and constraint.is_linear
    ]


class _Excesses:
    """The excesses of one constraint; if there are many, the program has only violated ones."""

    def __init__(self, place: int, constraint: ChannelConstraint, m: int) -> None:
        self.place, self.constraint, self.limits = place, constraint, constraint.limits()
        few = len(constraint.members) * m <= ALL_AT_ONCE
        self.active: BoolArray = np.full(len(self.limits), few)

    def add(self, duals: Sequence[Multipliers]) -> None:
        """Add the sums of rows that have multipliers."""
        for found in duals:
            self.active[found.other] = True

    def add_violated(self, Q: FloatArray, add_all: bool) -> bool:
        """Add the most violated sum for each input on either side, or all violated ones.

        Returns whether there is any.
        """
        over = self.constraint.sums(Q) - self.limits
        violated = ~self.active & (over > VIOLATION * self.limits + LEAST_VIOLATION)
        order = np.flatnonzero(violated)[np.argsort(-over[violated], kind="stable")]
        seen = set[tuple[int, Any]]()
        for j in order.tolist():
            row = cast(Gauge, self.constraint.units[j]).parts[-1]
            sides = {(0, row.left), (1, row.right)}
            if add_all or not sides <= seen:
                self.active[j] = True
                seen |= sides
        return bool(len(order))
