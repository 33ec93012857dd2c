"""Notions about the whole channel: one linear program where they are sums of linear excesses.

    minimise  Sum_xy cost[x,y] Q[x,y]   with   s[j,y] >= rows_j . q_y,   Sum_y s[j,y] <= limit_j

beside the rows on columns. A bound on mutual information is no linear program: it is solved in
cvxpy (`conic`), unless the other notions imply it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray
from mechdesign.domain import Label
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions.non_conic.excess_constraint import ExcessConstraint
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.highs import LinearProgram, solve_lp
from mechdesign.routes.lp.linear_program import program_cost

__all__ = ["solve_non_conic"]


MOST_ENTRIES = 4_000_000
ALL_AT_ONCE = 10_000
"""Up to so many rows all sums are in the program from the start."""

FEW_ROUNDS, ROUNDS = 6, 50
BREACH, LEAST_BREACH = 1e-9, 1e-14
"""A sum above its limit by this, relative and absolute, is broken."""


def solve_non_conic(
    problem: Problem, method: str = "simplex", limits: Limits | None = None
) -> RawSolution:
    """Solve a problem with a linear loss and notions about the whole channel.

    Parameters
    ----------
    problem
        With a linear loss. Bounds on information are left out: where they bind, the answer is
        mixed until it keeps them, and far from optimal.
    method
        ``"simplex"`` or ``"ipm"``.
    limits
        When to stop; default at the optimum. Every round proves a bound, and the repair makes its
        channel private, however many sums it breaks.

    Raises
    ------
    UnsupportedError
        If the loss is another, or the program too large to be written out.
    SolverError
        If HiGHS fails, or time is over before there is an answer.
    """
    limits = limits or Limits()
    cost, scale = program_cost(problem)
    k, m = cost.shape
    worst_case = problem.utility.worst_case
    sums = [_Sums(place, rule, m) for place, rule in _excess_rules(problem)]
    every = all(
        rule is None or isinstance(rule, ExcessConstraint) for rule in problem.channel_constraints
    )
    rounds, broken, done = 0, True, False
    while broken and not done and rounds < ROUNDS:
        rounds += 1
        active = [(some.place, some.rule.part(np.flatnonzero(some.active))) for some in sums]
        program = _Program(problem, cost, worst_case, active)
        if program.A.nnz > MOST_ENTRIES:
            most = f"a program of at most {MOST_ENTRIES} entries"
            given = f"{program.A.nnz}, for {k} inputs and {m} outputs"
            raise UnsupportedError("privacy", most, given)
        high = np.concatenate([*program.high, np.ones(k)])
        low = np.concatenate([np.full(len(high) - k, -np.inf), np.ones(k)])
        stated = LinearProgram(program.cost, program.A, low, high)
        try:
            result = solve_lp(stated, method, limits)
        except SolverError:
            if rounds > 1 and limits.over():
                break
            raise
        matrix = result.primal[: k * m].reshape(k, m)
        found, mass = program.read_dual(np.maximum(-result.dual, 0.0), scale)
        broken = sum(some.add_broken(matrix, rounds > FEW_ROUNDS) for some in sums) > 0
        least = scale * float(program.cost @ result.primal)
        done = limits.tell(rounds, least if every and not broken else np.nan, least)
        if rounds > FEW_ROUNDS:  # nearly all of them bind: a large program, for which this is best
            method = "ipm"
    notes = [f"sums were added as they were broken, in {rounds} rounds"] if rounds > 1 else []
    outputs: tuple[Label, ...] = problem.outputs or ()
    evidence = Dual(tuple(found), mass)
    return RawSolution(matrix, outputs, evidence, f"conic: HiGHS {method}", notes)


def _excess_rules(problem: Problem) -> list[tuple[int, ExcessConstraint]]:
    """Return the rules that are sums of linear excesses, each with its place."""
    return [
        (place, rule)
        for place, rule in enumerate(problem.channel_constraints)
        if isinstance(rule, ExcessConstraint) and rule.excesses
    ]


class _Sums:
    """The sums of one rule, of which only those are in the program that were broken, if many."""

    def __init__(self, place: int, rule: ExcessConstraint, m: int) -> None:
        self.place, self.rule = place, rule
        self.matrix, self.members, self.limits = rule.matrix(), rule.members(), rule.limits()
        few = len(self.members) * m <= ALL_AT_ONCE
        self.active: BoolArray = np.full(len(self.limits), few)

    def add_broken(self, Q: FloatArray, everything: bool) -> bool:
        """Add, for each input on either side, the sum that is broken most, or everything broken.

        Returns whether anything was.
        """
        largest = np.zeros((len(self.limits), Q.shape[1]))
        np.maximum.at(largest, self.members, self.matrix @ Q)
        over = largest.sum(axis=1) - self.limits
        broken = ~self.active & (over > BREACH * self.limits + LEAST_BREACH)
        order = np.flatnonzero(broken)[np.argsort(-over[broken], kind="stable")]
        seen: set[tuple[int, int]] = set()
        for j in order.tolist():
            row = self.rule.excesses[j].rows[0]
            sides = {(0, row.left), (1, row.right)}
            if everything or not sides <= seen:
                self.active[j] = True
                seen |= sides
        return bool(len(order))


class _Program:
    """The program written out: first the entries of Q by rows, then a helper for each sum."""

    def __init__(
        self,
        problem: Problem,
        cost: FloatArray,
        worst_case: bool,
        sums: Sequence[tuple[int, ExcessConstraint]],
    ) -> None:
        self.k, self.m = cost.shape
        self.families, self.worst_case = problem.cone.families, worst_case
        self.sums = [(place, rule) for place, rule in sums if rule.excesses]
        helpers = sum(len(rule.excesses) for _, rule in self.sums) * self.m
        n = self.k * self.m
        self.width = n + helpers + worst_case
        self.blocks: list[sp.csr_array] = []
        self.high: list[FloatArray] = []
        for family in self.families:
            self._add(self._each(family.matrix()))
        start = n
        for _, rule in self.sums:
            rows, member = sp.csr_array(rule.matrix()), rule.members()
            largest = sp.csr_array((np.ones(len(member)), (np.arange(len(member)), member)))
            self._add(self._each(rows) - self._each(largest, start))
            self._add(self._totals(len(rule.excesses), start), rule.limits())
            start += len(rule.excesses) * self.m
        self.cost = np.zeros(self.width)
        if worst_case:  # minimise t with Sum_y D[x,y] Q[x,y] - t <= 0 for every x
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
        """Return rows on one column as rows on every column."""
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
        self, weights: FloatArray, scale: float
    ) -> tuple[list[FamilyDual], FloatArray | None]:
        """Return the weights of the rows by notion, and, for a worst case, of the inputs."""
        parts = np.split(weights, np.cumsum([len(high) for high in self.high]))
        found: list[FamilyDual] = []
        for place, family in enumerate(self.families):
            multipliers, priors = family.read_dual(scale * parts[place].reshape(-1, self.m))
            found.append(FamilyDual(place, tuple(multipliers), priors))
        for number, (place, rule) in enumerate(self.sums):
            part = parts[len(self.families) + 2 * number].reshape(-1, self.m)
            found.append(FamilyDual(place, tuple(rule.read_dual(scale * part))))
        if not self.worst_case:
            return found, None
        mass = parts[-2]
        return found, mass if mass.any() else np.ones(self.k)
