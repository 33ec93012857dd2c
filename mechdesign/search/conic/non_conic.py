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
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.kernel.limits import Gauge
from mechdesign.notions import ChannelConstraint
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.proofs import linear_proof
from mechdesign.search.conic.strict_mixture import strict_mixture
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.limits import Limits
from mechdesign.search.presolve.chain import UNLIKELY, program_cost

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
    cost, scale = program_cost(problem, unlikely)
    k, m = cost.shape
    worst_case = problem.utility.worst_case
    sums = [_Excesses(place, constraint, m) for place, constraint in _excess_constraints(problem)]
    all_linear = all(
        constraint is None or constraint.is_linear for constraint in problem.channel_constraints
    )
    best, rounds, violated, done = _Best(), 0, True, False
    start = strict_mixture(problem, cost, scale, limits) if all_linear else None
    if start is not None:
        best.take_channel(start.matrix, start.value)
        best.take_bound([start.multipliers], start.input_multipliers, start.bound)
        for some in sums:
            some.add(start.multipliers)
        done = limits.report(0, best.value, best.bound)
    while violated and not done and rounds < ROUNDS:
        rounds += 1
        active = [
            (some.place, some.constraint.part(np.flatnonzero(some.active)))
            for some in sums
            if some.active.any()
        ]
        program = _ExcessProgram(problem, cost, worst_case, active)
        if program.A.nnz > MOST_ENTRIES:
            if start is not None:
                break
            most = f"a program of at most {MOST_ENTRIES} entries"
            given = f"{program.A.nnz}, for {k} inputs and {m} outputs"
            raise UnsupportedError("privacy", most, given)
        high = np.concatenate([*program.high, np.ones(k)])
        low = np.concatenate([np.full(len(high) - k, -np.inf), np.ones(k)])
        stated = LPModel(program.cost, program.A, low, high)
        try:
            result = solve_lp(stated, method, limits)
        except SolverError:
            if best.families is not None and limits.expired():
                break
            raise
        matrix = result.primal[: k * m].reshape(k, m)
        least = scale * float(program.cost @ result.primal)
        best.take_bound(*program.read_dual(np.maximum(-result.dual, 0.0), scale), least)
        violated = sum(some.add_violated(matrix, rounds > FEW_ROUNDS) for some in sums) > 0
        if start is None or not violated:
            best.take_channel(matrix, least if all_linear and not violated else np.nan)
        done = limits.report(rounds, best.value, best.bound)
        if rounds > FEW_ROUNDS:  # nearly all bind: ipm is faster for such a large program
            method = "ipm"
    notes = [f"violated sums were added in {rounds} rounds"] if rounds > 1 else []
    route = f"conic: HiGHS {method}" if rounds else "conic: the strict optimum and the truth, mixed"
    proof = linear_proof(best.families or (), best.matrix, limits.gap, weights=best.on_inputs)
    return RawSolution(best.matrix, problem.outputs or (), [proof], route, notes)


@dataclass
class _Best:
    """The best channel and the best evidence so far, in the unit of the loss."""

    matrix: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    value: float = np.nan
    bound: float = -np.inf
    families: list[Multipliers] | None = None
    on_inputs: FloatArray | None = None

    def take_channel(self, matrix: FloatArray, value: float) -> None:
        """Take a channel; its value may be unknown."""
        self.matrix, self.value = matrix, value

    def take_bound(
        self, families: list[Multipliers], on_inputs: FloatArray | None, bound: float
    ) -> None:
        """Take the evidence for a bound if it is the best."""
        if bound > self.bound:
            self.families, self.on_inputs, self.bound = families, on_inputs, bound


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

    def add(self, found: Multipliers) -> None:
        """Add the sums of rows that have multipliers."""
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


class _ExcessProgram:
    """The linear program: the entries of Q by rows, then an auxiliary variable for each excess."""

    def __init__(
        self,
        problem: Problem,
        cost: FloatArray,
        worst_case: bool,
        sums: Sequence[tuple[int, ChannelConstraint]],
    ) -> None:
        self.k, self.m = cost.shape
        self.families, self.worst_case = problem.cone.families, worst_case
        self.sums = sums
        auxiliary = sum(len(constraint.units) for _, constraint in self.sums) * self.m
        n = self.k * self.m
        self.width = n + auxiliary + worst_case
        self.blocks: list[sp.csr_array] = []
        self.high: list[FloatArray] = []
        for family in self.families:
            self._add(self._each(family.matrix()))
        start = n
        for _, constraint in self.sums:
            rows, member = sp.csr_array(constraint.matrix), constraint.members
            largest = sp.csr_array((np.ones(len(member)), (np.arange(len(member)), member)))
            self._add(self._each(rows) - self._each(largest, start))
            self._add(self._totals(len(constraint.units), start), constraint.limits())
            start += len(constraint.units) * self.m
        self.cost = np.zeros(self.width)
        if worst_case:  # minimize t with Sum_y D[x,y] Q[x,y] - t <= 0 for every x
            self.cost[-1] = 1
            spread = sp.csr_array(sp.block_diag([row[None, :] for row in cost]))
            top = sp.csr_array(-np.ones((self.k, 1)))
            self._add(self._placed(spread, 0) + self._placed(top, self.width - 1))
        else:
            self.cost[:n] = cost.ravel()
        self.A = sp.csr_array(sp.vstack([*self.blocks, self._totals(self.k, 0)]))

    def _add(self, rows: sp.csr_array, high: FloatArray | None = None) -> None:
        self.blocks.append(sp.csr_array(rows))
        self.high.append(np.zeros(rows.shape[0]) if high is None else high)

    def _each(self, rows: sp.csr_array, start: int = 0) -> sp.csr_array:
        """Return rows on one column as rows on every column (a Kronecker product)."""
        return self._placed(sp.csr_array(sp.kron(rows, sp.eye_array(self.m))), start)

    def _totals(self, count: int, start: int) -> sp.csr_array:
        """Return sums over the outputs."""
        ones = sp.csr_array(np.ones((1, self.m)))
        return self._placed(sp.csr_array(sp.kron(sp.eye_array(count), ones)), start)

    def _placed(self, A: sp.csr_array, start: int) -> sp.csr_array:
        """Return the matrix with empty columns on either side."""
        wide = A.tocoo()
        shape = (wide.shape[0], self.width)
        return sp.csr_array((wide.data, (wide.row, wide.col + start)), shape=shape)

    def read_dual(
        self, duals: FloatArray, scale: float
    ) -> tuple[list[Multipliers], FloatArray | None]:
        """Return the multipliers of the rows by notion, and, for a worst case, of the inputs."""
        parts = np.split(duals, np.cumsum([len(high) for high in self.high]))
        found: list[Multipliers] = []
        for place, family in enumerate(self.families):
            own = family.read_dual(scale * parts[place].reshape(-1, self.m))
            found += [replace(m, notion=place) for m in own]
        for number, (place, constraint) in enumerate(self.sums):
            part = parts[len(self.families) + 2 * number].reshape(-1, self.m)
            found.append(replace(constraint.read_dual(scale * part), notion=place))
        if not self.worst_case:
            return found, None
        on_inputs = parts[-2]
        return found, on_inputs if on_inputs.any() else np.ones(self.k)
