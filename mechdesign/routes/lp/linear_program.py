"""The linear program of a cone and a cost, solved by HiGHS.

Rows are stated by extended formulations, with auxiliary variables. A worst case over x is one more
variable above the loss of every input. The vertices of a large set of priors are added as they are
violated (constraint generation).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.notions.rows.cone import Multipliers
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import Weights
from mechdesign.routes.base import FamilyDual
from mechdesign.routes.highs import LPModel, solve_lp
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.extended_formulation import (
    ExtendedFormulation,
    extended_formulation,
    stacked,
)
from mechdesign.routes.lp.support_formulation import support_of
from mechdesign.routes.presolve.reduction import Answer, ConicProgram

__all__ = ["HighsProgram", "by_highs", "few_listed"]


MANY_ROWS = 3_000
"""From here on the interior point method of HiGHS wins, unless rows share auxiliary variables."""

ROUNDS = 60
"""Rounds of constraint generation at most."""

VIOLATION = 1e-14
"""A row that is violated by no more than this is not added."""

FEW_PRIORS = 16
"""Up to so many listed priors all of their rows are stated from the start."""


@dataclass
class _Block:
    """The rows of a family on one output: the first of them, and the priors they are stated for."""

    family: int
    rows: ExtendedFormulation
    first_row: int
    prior_numbers: tuple[int, ...]


class HighsProgram:
    """The linear program of a :class:`ConicProgram`, with the rows of the priors in use.

    With p_y = n_y q_y, the cone being homogeneous, its variables are the p_y: the multipliers of
    their rows are those of q_y at the cost c_y.

    Parameters
    ----------
    program
        What to solve.
    method
        ``"simplex"``, ``"ipm"``, or ``"auto"`` to choose by size.

    Attributes
    ----------
    matrix
        The columns q_y, once solved.
    multipliers
        By family, those of its rows.
    worst_case_multipliers
        For a worst case, those of the losses of the inputs or of their orbits; else None.
    potentials
        ``(n_inputs,)``: the dual variables of the row sums.
    rounds
        Of constraint generation.
    """

    def __init__(self, program: ConicProgram, method: str = "auto") -> None:
        self.cone, self.cost, self.worst_case = program.cone, program.cost, program.worst_case
        self.wanted, (k, m) = method, program.cost.shape
        counts, orbit = program.output_count, program.input_orbit
        self._count: FloatArray = np.ones(m) if counts is None else counts
        self._orbit: IntArray = np.arange(k) if orbit is None else orbit
        self._orbit_size = np.bincount(self._orbit)
        cone, cost = self.cone, self.cost
        self.matrix: FloatArray = np.zeros(cost.shape)
        self.multipliers: list[list[Multipliers]] = []
        self.worst_case_multipliers: FloatArray | None = None
        self.potentials: FloatArray = np.zeros(k)
        self._is_priced = program.is_priced
        self.method = ""
        self.rounds = 0
        families = range(len(cone.families))
        self.prior_table: list[tuple[Weights, ...]] = [() for _ in families]
        """All priors in use, by family."""
        self.active: list[list[list[int]]] = [[[] for _ in range(cost.shape[1])] for _ in families]
        """Which of them, by family and output."""
        for n in families:
            self._first_priors(n)

    def _first_priors(self, n: int) -> None:
        family = self.cone.families[n].lift_rows()
        if support_of(family) is not None or family is None:
            return  # all priors of a box or a ball are stated at once
        listed = few_listed(family)
        if listed:
            for y in range(self.cost.shape[1]):
                for prior in listed:
                    self._activate(n, y, prior)
            return
        for y in range(self.cost.shape[1]):  # good columns are large where the cost is small
            small_cost = [-c for c in self.cost[:, y].tolist()]
            for largest in (True, False):
                self._activate(n, y, family.priors.extreme(small_cost, largest=largest))

    def _activate(self, n: int, y: int, prior: Weights) -> bool:
        table = self.prior_table[n]
        if prior not in table:
            self.prior_table[n] = table = (*table, prior)
        number = table.index(prior)
        if number in self.active[n][y]:
            return False
        self.active[n][y].append(number)
        return True

    def solve(self, limits: Limits | None = None) -> None:
        """Solve, add the priors whose rows the answer violates, and again until none is.

        Where time is over after some rounds, the last answer stands: its multipliers prove a bound,
        since any subset of the rows is a relaxation, and the repair will make it private.

        Raises
        ------
        SolverError
            If HiGHS fails, or time is over before there is an answer.
        """
        limits = limits or Limits()
        for self.rounds in range(1, ROUNDS + 1):
            try:
                self._solve_once(limits)
            except SolverError:
                if self.rounds > 1 and limits.over():
                    return
                raise
            if not self._separate():
                return

    def _separate(self) -> bool:
        """Add the priors of violated rows; return whether there are any."""
        added = False
        for n, rows in enumerate(self.cone.families):
            family = rows.lift_rows()
            if family is None or few_listed(family) or support_of(family) is not None:
                continue
            for y in range(self.cost.shape[1]):
                q = self.matrix[:, y].tolist()
                for side, bound in family.sides():
                    prior = family.priors.extreme(q, largest=side == "lower")
                    mean = sum(float(p) * v for p, v in zip(prior, q, strict=True))
                    shrink = float(np.exp(-float(bound.exponent(family.epsilon))))
                    excess = shrink * max(q) - mean if side == "upper" else shrink * mean - min(q)
                    if excess > VIOLATION:
                        added = self._activate(n, y, prior) or added
        return added

    def _solve_once(self, limits: Limits) -> None:
        """Build the program for the priors in use, solve it, and read the answer."""
        if limits.over():
            raise SolverError(f"no linear program was built: {limits.ended}")
        k, m = self.cost.shape
        blocks = self._blocks()
        alike: dict[tuple[int, ...], sp.csr_array] = {}  # outputs with the same rows share them
        columns = []
        for mine in blocks:
            key = tuple(id(block.rows) for block in mine)
            if key not in alike:
                alike[key] = stacked([block.rows for block in mine], k)
            columns.append(alike[key])
        starts = np.concatenate([[0], np.cumsum([A.shape[1] for A in columns])]).astype(np.intp)
        q = (starts[:-1, None] + np.arange(k)[None, :]).T  # the variable of Q[x, y]
        n_variables = int(starts[-1]) + self.worst_case
        body = sp.coo_array(sp.block_diag(columns))
        wide = (body.shape[0], n_variables)
        parts = [sp.csr_array((body.data, (body.row, body.col)), shape=wide)]
        equal = [block.rows.equal for mine in blocks for block in mine]
        cost = np.zeros(n_variables)
        # the mean over an orbit of inputs: of the row sums, which is 1, and of the losses
        orbits, orbit = len(self._orbit_size), np.repeat(self._orbit, m)
        share = np.repeat(1 / self._orbit_size[self._orbit], m)
        shape = (orbits, n_variables)
        if self.worst_case:  # minimize t with Sum_y D[x, y] Q[x, y] - t <= 0 for every x
            cost[-1] = 1
            places = (
                np.concatenate([orbit, np.arange(orbits)]),
                np.concatenate([q.ravel(), np.full(orbits, n_variables - 1)]),
            )
            values = np.concatenate([share * self.cost.ravel(), -np.ones(orbits)])
            parts.append(sp.csr_array((values, places), shape=shape))
            equal.append(np.zeros(orbits, dtype=bool))
        else:
            cost[q.ravel()] = self.cost.ravel()
        parts.append(sp.csr_array((share, (orbit, q.ravel())), shape=shape))
        A = sp.csr_array(sp.vstack(parts, format="csr"))
        is_equal = np.concatenate(equal)
        low = np.concatenate([np.where(is_equal, 0.0, -np.inf), np.ones(orbits)])
        high = np.concatenate([np.zeros(len(is_equal)), np.ones(orbits)])
        self.method = self.wanted
        if self.wanted == "auto":
            shared = all(block.rows.shares_least for mine in blocks for block in mine)
            self.method = "simplex" if shared or A.shape[0] < MANY_ROWS else "ipm"
        program = LPModel(cost, A, low, high)
        primal, dual = _solve_by_least(program, self.method, _all_least(blocks, starts, k), limits)
        self.matrix = primal[q] / self._count
        self.potentials = (-dual[-orbits:] / self._orbit_size)[self._orbit]
        self._read_dual(np.maximum(dual, 0.0), blocks, body.shape[0])

    def _blocks(self) -> list[list[_Block]]:
        """Return the rows of each output, one block for each family."""
        formulations: dict[tuple[int, tuple[int, ...]], ExtendedFormulation] = {}
        blocks: list[list[_Block]] = []
        row = 0
        for y in range(self.cost.shape[1]):
            blocks.append([])
            for n, family in enumerate(self.cone.families):
                numbers = tuple(self.active[n][y])
                if (n, numbers) not in formulations:
                    priors = tuple(self.prior_table[n][i] for i in numbers)
                    formulations[n, numbers] = extended_formulation(family, priors)
                blocks[y].append(_Block(n, formulations[n, numbers], row, numbers))
                row += formulations[n, numbers].A.shape[0]
        return blocks

    def _read_dual(self, dual: FloatArray, blocks: list[list[_Block]], after: int) -> None:
        self.multipliers = [[] for _ in self.cone.families]
        for y, mine in enumerate([] if self._is_priced else blocks):
            for block in mine:
                last = block.first_row + block.rows.A.shape[0]
                for found in block.rows.carry_back(dual[block.first_row : last], y):
                    self.multipliers[block.family].append(_global_priors(found, block))
                if block.rows.priors:
                    self.prior_table[block.family] = tuple(block.rows.priors)
        if self.worst_case:
            losses = dual[after : after + len(self._orbit_size)]
            # multipliers that are all 0 prove nothing; any others are at least as good
            self.worst_case_multipliers = (
                losses if losses.sum() > 0 else self._orbit_size.astype(np.float64)
            )


def by_highs(program: ConicProgram, limits: Limits, method: str = "auto") -> Answer:
    """Solve a program by HiGHS; the backend for any of them."""
    linear = HighsProgram(program, method)
    linear.solve(limits)
    pairs = zip(linear.multipliers, linear.prior_table, strict=True)
    notes: tuple[str, ...] = ()
    if linear.rounds > 1:
        notes = (f"the worst priors were added as they were met, in {linear.rounds} rounds",)
    duals = tuple(FamilyDual(n, tuple(found), table) for n, (found, table) in enumerate(pairs))
    return Answer(
        linear.matrix,
        () if program.is_priced else duals,
        f"linear-program: HiGHS {linear.method}",
        linear.potentials,
        linear.worst_case_multipliers,
        notes=notes,
    )


def few_listed(family: LiftRows) -> tuple[Weights, ...]:
    """Return the priors of a family if they are a short list, all of which can be in use."""
    members = family.priors.members
    return members if len(members) <= FEW_PRIORS else ()


def _global_priors(found: Multipliers, block: _Block) -> Multipliers:
    if not found.refer_to_priors or block.rows.priors:
        return found
    return replace(found, other=np.array(block.prior_numbers, dtype=np.intp)[found.other])


def _all_least(blocks: list[list[_Block]], starts: IntArray, k: int) -> list[IntArray]:
    """Return [variables q, their t, rows t <= q] for all auxiliary variables t of least entries.

    Of the families on one output only the first with such variables is used, so that no entry has
    two.
    """
    found: list[list[IntArray]] = [[np.zeros(0, dtype=np.intp)] for _ in range(3)]
    for mine, start in zip(blocks, starts[:-1].tolist(), strict=True):
        auxiliary_before = 0
        for block in mine:
            for least in block.rows.least:
                t = start + auxiliary_before + least.auxiliary
                found[0].append(start + least.members)
                found[1].append(np.full(len(least.members), t))
                found[2].append(block.first_row + least.rows)
            if block.rows.least:
                break
            auxiliary_before += block.rows.A.shape[1] - k
    return [np.concatenate(parts) for parts in found]


def _solve_by_least(
    program: LPModel, method: str, least: list[IntArray], limits: Limits
) -> tuple[FloatArray, FloatArray]:
    """Solve with s = q - t >= 0 substituted for q where t is the least entry of a set.

    The rows t <= q become bounds s >= 0, which leave the basis: the program of LDP has half as many
    rows, and the simplex method is much faster on it. The multipliers of those rows are the reduced
    costs of s. Returns the variables before the substitution, and the multipliers of all rows;
    those of inequalities are >= 0 up to the tolerance.
    """
    q, t, row = least
    n_rows, n = program.A.shape
    change = sp.csr_array(sp.eye_array(n) + sp.csr_array((np.ones(len(q)), (q, t)), shape=(n, n)))
    kept = np.setdiff1d(np.arange(n_rows), row)
    A = sp.csr_array((program.A @ change)[kept])
    A.eliminate_zeros()
    A.sort_indices()
    cost = np.asarray(change.T @ program.cost)
    changed = LPModel(cost, A, program.low[kept], program.high[kept])
    result = solve_lp(changed, method, limits)
    dual = np.zeros(n_rows)
    dual[kept] = -result.dual
    dual[row] = result.reduced[q]
    return np.asarray(change @ result.primal), dual
