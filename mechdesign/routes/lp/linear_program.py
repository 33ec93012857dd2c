"""The linear route: one program through HiGHS for each independent part of the problem.

    minimise  Sum_xy cost[x, y] Q[x, y]   over channels whose columns lie in the cone

Rows are compressed with helper variables, a worst case over x is one more variable above every
row's loss, inputs that share no row are solved apart, and the vertices of a set of priors are added
as they are broken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.domain import Label
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions.rows.cone import Cone, Multipliers
from mechdesign.notions.rows.lift_rows import LiftRows
from mechdesign.prior_sets import PriorList, Weights
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.extended_formulation import Compressed, compress, stacked
from mechdesign.routes.lp.highs import LinearProgram, solve_lp
from mechdesign.utilities import LinearUtility

__all__ = [
    "Part",
    "expected_cost",
    "few_listed",
    "program_cost",
    "renumbered",
    "solve_linear",
]


MANY_ROWS = 3_000
"""From here on the interior point method wins, unless rows share helpers."""

UNLIKELY = 1e-10
"""The weight of an input of prior 0, in the program only: its best row is wanted, at no cost."""

ROUNDS = 60
BREACH = 1e-14
FEW_PRIORS = 16


def solve_linear(
    problem: Problem, method: str = "auto", limits: Limits | None = None
) -> RawSolution:
    """Solve a problem whose loss is linear in the channel.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.LinearUtility`.
    method
        ``"simplex"``, ``"ipm"``, or ``"auto"`` to choose by size.
    limits
        When to stop; default at the optimum.

    Raises
    ------
    UnsupportedError
        If the loss is not linear.
    SolverError
        If HiGHS fails, or time is over before there is an answer.
    """
    cost, scale = program_cost(problem)
    outputs: tuple[Label, ...] = problem.outputs or ()
    worst_case = problem.utility.worst_case
    cone = problem.cone
    component = cone.components()
    if worst_case:
        component = np.zeros_like(component)
    n_parts = int(component.max()) + 1
    matrix = np.zeros(cost.shape)
    duals: dict[int, list[Multipliers]] = {n: [] for n in range(len(cone.families))}
    priors: dict[int, tuple[Weights, ...]] = {}
    weights = None
    used: set[str] = set()
    rounds = 0
    for part in range(n_parts):
        inputs = np.flatnonzero(component == part)
        piece = Part(cone.restricted(inputs), cost[inputs], worst_case, method)
        piece.solve(limits)
        matrix[inputs] = piece.matrix
        for n, multipliers in enumerate(piece.multipliers):
            duals[n] += [renumbered(m, inputs, scale) for m in multipliers]
            priors[n] = piece.prior_table[n]
        weights = piece.weights
        used.add(piece.method)
        rounds = max(rounds, piece.rounds)
    dual = Dual(
        tuple(FamilyDual(n, tuple(found), priors[n]) for n, found in duals.items()), weights
    )
    notes = []
    if n_parts > 1:
        notes.append(f"{n_parts} groups of inputs share no row and were solved apart")
    if rounds > 1:
        notes.append(f"the worst priors were added as they were met, in {rounds} rounds")
    route = f"linear-program: HiGHS {' and '.join(sorted(used))}"
    return RawSolution(matrix, outputs, dual, route, notes)


def program_cost(problem: Problem) -> tuple[FloatArray, float]:
    """Return the cost of each entry of Q in a unit that makes the largest 1, and that unit.

    Tolerances are absolute, hence the unit. Rows that never occur cost next to nothing, so that
    the best of them is found as well.

    Raises
    ------
    UnsupportedError
        If the loss is not linear.
    """
    utility = problem.utility
    if not isinstance(utility, LinearUtility):
        raise UnsupportedError("objective", "a loss that is linear in the channel", utility.name)
    outputs: tuple[Label, ...] = problem.outputs or ()
    cost = utility.cost(problem.domain, problem.prior, outputs)
    never = problem.prior.array == 0
    if never.any() and not utility.worst_case:
        loss = utility.loss(problem.domain, outputs).array
        cost[never] = UNLIKELY * float(cost.max()) * loss[never] / (loss.max() or 1.0)
    scale = float(cost.max()) or 1.0
    return cost / scale, scale


def expected_cost(problem: Problem) -> tuple[FloatArray, float]:
    """Return :func:`program_cost` of a loss that is an expectation.

    Raises
    ------
    UnsupportedError
        If the loss is not linear, or that of the worst case.
    """
    found = program_cost(problem)
    if problem.expected_loss is None:
        raise UnsupportedError("objective", "an expected loss", "a worst case")
    return found


def renumbered(found: Multipliers, inputs: IntArray, scale: float) -> Multipliers:
    """Return multipliers of a part in terms of the inputs and the unit of the whole."""
    return found.on_inputs(inputs).scaled(scale)


@dataclass
class _Block:
    """The rows of one output: where its variables and rows start, and how to read its dual."""

    family: int
    rows: Compressed
    first_row: int
    prior_numbers: tuple[int, ...]


class Part:
    """One linear program on inputs that hang together."""

    def __init__(self, cone: Cone, cost: FloatArray, worst_case: bool, method: str) -> None:
        self.cone, self.cost, self.worst_case, self.wanted = cone, cost, worst_case, method
        self.matrix: FloatArray = np.zeros(cost.shape)
        self.multipliers: list[list[Multipliers]] = []
        self.weights: FloatArray | None = None
        self.potentials: FloatArray = np.zeros(len(cost))
        """The dual of the row sums."""
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
        family = self.cone.families[n]
        if not isinstance(family, LiftRows):
            return
        listed = few_listed(family)
        if listed:
            for y in range(self.cost.shape[1]):
                for prior in listed:
                    self._activate(n, y, prior)
            return
        for y in range(self.cost.shape[1]):  # likely columns are high where the loss is low
            likely = [-c for c in self.cost[:, y].tolist()]
            for largest in (True, False):
                self._activate(n, y, family.priors.extreme(likely, largest=largest))

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
        """Solve, add the priors whose rows the answer breaks, and again until none is.

        Where time is over after some rounds, the last answer stands: its weights prove a bound,
        and the repair will make it private.

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
        added = False
        for n, family in enumerate(self.cone.families):
            if not isinstance(family, LiftRows) or few_listed(family):
                continue
            for y in range(self.cost.shape[1]):
                q = self.matrix[:, y].tolist()
                for side, bound in family.sides():
                    prior = family.priors.extreme(q, largest=side == "lower")
                    law = sum(float(p) * v for p, v in zip(prior, q, strict=True))
                    shrink = float(np.exp(-float(bound.exponent(family.epsilon))))
                    breach = shrink * max(q) - law if side == "upper" else shrink * law - min(q)
                    if breach > BREACH:
                        added = self._activate(n, y, prior) or added
        return added

    def _solve_once(self, limits: Limits) -> None:
        """Build the program for the priors in use, solve it, and read the answer."""
        if limits.over():
            raise SolverError(f"no linear program was built: {limits.ended}")
        k, m = self.cost.shape
        blocks = self._blocks()
        columns = [stacked([block.rows for block in mine], k) for mine in blocks]
        starts = np.concatenate([[0], np.cumsum([A.shape[1] for A in columns])]).astype(np.intp)
        q = (starts[:-1, None] + np.arange(k)[None, :]).T  # the variable of Q[x, y]
        n_variables = int(starts[-1]) + self.worst_case
        body = sp.coo_array(sp.block_diag(columns))
        parts = [_widened(body, n_variables)]
        equal = [block.rows.equal for mine in blocks for block in mine]
        cost = np.zeros(n_variables)
        flat = np.repeat(np.arange(k), m)
        if self.worst_case:  # minimise t with Sum_y D[x, y] Q[x, y] - t <= 0 for every x
            cost[-1] = 1
            places = (
                np.concatenate([flat, np.arange(k)]),
                np.concatenate([q.ravel(), np.full(k, n_variables - 1)]),
            )
            values = np.concatenate([self.cost.ravel(), -np.ones(k)])
            parts.append(sp.csr_array((values, places), shape=(k, n_variables)))
            equal.append(np.zeros(k, dtype=bool))
        else:
            cost[q.ravel()] = self.cost.ravel()
        parts.append(sp.csr_array((np.ones(k * m), (flat, q.ravel())), shape=(k, n_variables)))
        A = sp.csr_array(sp.vstack(parts, format="csr"))
        is_equal = np.concatenate(equal)
        low = np.concatenate([np.where(is_equal, 0.0, -np.inf), np.ones(k)])
        high = np.concatenate([np.zeros(len(is_equal)), np.ones(k)])
        self.method = self.wanted
        if self.wanted == "auto":
            shared = all(block.rows.shares_least for mine in blocks for block in mine)
            self.method = "simplex" if shared or A.shape[0] < MANY_ROWS else "ipm"
        program = LinearProgram(cost, A, low, high)
        primal, dual = _solve_by_least(program, self.method, _all_least(blocks, starts, k), limits)
        self.matrix = primal[q]
        self.potentials = -dual[-k:]
        self._read_dual(np.maximum(dual, 0.0), blocks, body.shape[0])

    def _blocks(self) -> list[list[_Block]]:
        """Return the rows of each output, one block for each family."""
        compressed: dict[tuple[int, tuple[int, ...]], Compressed] = {}
        blocks: list[list[_Block]] = []
        row = 0
        for y in range(self.cost.shape[1]):
            blocks.append([])
            for n, family in enumerate(self.cone.families):
                numbers = tuple(self.active[n][y])
                if (n, numbers) not in compressed:
                    priors = tuple(self.prior_table[n][i] for i in numbers)
                    compressed[n, numbers] = compress(family, priors)
                blocks[y].append(_Block(n, compressed[n, numbers], row, numbers))
                row += compressed[n, numbers].A.shape[0]
        return blocks

    def _read_dual(self, dual: FloatArray, blocks: list[list[_Block]], after: int) -> None:
        self.multipliers = [[] for _ in self.cone.families]
        for y, mine in enumerate(blocks):
            for block in mine:
                last = block.first_row + block.rows.A.shape[0]
                for found in block.rows.carry_back(dual[block.first_row : last], y):
                    self.multipliers[block.family].append(_global_priors(found, block))
        if self.worst_case:
            self.weights = dual[after : after + len(self.cost)]
            if self.weights.sum() <= 0:
                self.weights = np.ones(len(self.cost))


def few_listed(family: LiftRows) -> tuple[Weights, ...]:
    """Return the priors of a family if they are a short list, all of which can be in use."""
    members = family.priors.members if isinstance(family.priors, PriorList) else ()
    return members if len(members) <= FEW_PRIORS else ()


def _global_priors(found: Multipliers, block: _Block) -> Multipliers:
    if not found.refer_to_priors:
        return found
    other = np.array(block.prior_numbers, dtype=np.intp)[found.other]
    return Multipliers(found.side, found.output, found.x, other, found.weight)


def _all_least(blocks: list[list[_Block]], starts: IntArray, k: int) -> list[IntArray]:
    """Return [variables q, their t, rows t <= q] for all helpers that are a least entry.

    Of the families on one output only the first with such helpers is used: no entry has two.
    """
    found: list[list[IntArray]] = [[np.zeros(0, dtype=np.intp)] for _ in range(3)]
    for mine, start in zip(blocks, starts[:-1].tolist(), strict=True):
        helpers_before = 0
        for block in mine:
            for least in block.rows.least:
                t = start + helpers_before + least.helper
                found[0].append(start + least.members)
                found[1].append(np.full(len(least.members), t))
                found[2].append(block.first_row + least.rows)
            if block.rows.least:
                break
            helpers_before += block.rows.A.shape[1] - k
    return [np.concatenate(parts) for parts in found]


def _solve_by_least(
    program: LinearProgram, method: str, least: list[IntArray], limits: Limits
) -> tuple[FloatArray, FloatArray]:
    """Solve with s = q - t >= 0 in place of q where t is the least entry of a set.

    The rows t <= q become bounds, which makes the simplex method much faster on LDP; their
    weights are the reduced costs of s. Returns the variables, and the weights of all rows; those
    of inequalities are >= 0 up to the tolerance.
    """
    q, t, row = least
    n_rows, n = program.A.shape
    change = sp.csr_array(sp.eye_array(n) + sp.csr_array((np.ones(len(q)), (q, t)), shape=(n, n)))
    kept = np.setdiff1d(np.arange(n_rows), row)
    A = sp.csr_array((program.A @ change)[kept])
    A.eliminate_zeros()
    A.sort_indices()
    cost = np.asarray(change.T @ program.cost)
    changed = LinearProgram(cost, A, program.low[kept], program.high[kept])
    result = solve_lp(changed, method, limits)
    dual = np.zeros(n_rows)
    dual[kept] = -result.dual
    dual[row] = result.reduced[q]
    return np.asarray(change @ result.primal), dual


def _widened(A: sp.coo_array, width: int) -> sp.csr_array:
    """Return the matrix with empty columns added on the right."""
    return sp.csr_array((A.data, (A.row, A.col)), shape=(A.shape[0], width))
