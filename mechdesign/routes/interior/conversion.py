"""A cone and a cost for the interior-point method, and its answer in terms of the cone's rows.

    minimise  Sum_xy cost[x, y] Q[x, y]   over channels whose columns lie in the cone

Rows are compressed with helpers. They decide which blocks the method works with:
:class:`ArrowKKT` where each touches one entry and one helper (LDP, LIP: a number of operations
in proportion to the entries), else :class:`DenseKKT`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions.rows.cone import Cone
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.routes.column_generation.column_rows import ColumnRows
from mechdesign.routes.interior.arrow_kkt import ArrowKKT
from mechdesign.routes.interior.dense_kkt import DenseKKT
from mechdesign.routes.interior.method import InteriorResult, Path, interior_point
from mechdesign.routes.interior.newton import KKTBlocks
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.linear_program import program_cost

__all__ = ["InteriorPart", "joined", "program_rows", "solve_interior_batch"]


INSIDE = 1e-9
"""A row that the middle of the cone is not below by this much leaves no inside to start from."""

RARE = 1e-7
"""An output of which no input sends more than this may join another."""

WORTH = 1e-2
"""The share of the gap aimed at that outputs joined to others may cost in all."""


def program_rows(problem: Problem) -> int:
    """Return how many rows the program has, compressed, for all outputs; 0 for many priors."""
    try:
        rows = ColumnRows(problem.cone)
    except UnsupportedError:
        return 0
    return len(rows) * len(problem.outputs or problem.domain)  # a guess is one of the inputs


class InteriorPart:
    """One program on inputs that hang together.

    Parameters
    ----------
    cone, cost
        Where columns lie, and ``(n_inputs, n_outputs)``, with a largest entry near 1.
    counts, orbit
        For outputs and inputs alike, see :func:`interior_point`.
    """

    def __init__(
        self,
        cone: Cone,
        cost: FloatArray,
        counts: FloatArray | None = None,
        orbit: IntArray | None = None,
    ) -> None:
        self.cost, self.counts, self.orbit = cost, counts, orbit
        self._rows = ColumnRows(cone)
        self.matrix: FloatArray = np.zeros(cost.shape)
        self.duals: list[FamilyDual] = []
        self.kind = "dense"
        self.path: Path | None = None

    def solve(self, limits: Limits, path: Path | None = None) -> None:
        """Set ``matrix`` and ``duals``, and ``path`` for a program nearby to start from."""
        k, m = self.cost.shape
        weights = np.zeros((len(self._rows), m))
        if not len(weights):  # nothing is secret
            self.matrix[np.arange(k), self.cost.argmin(axis=1)] = 1
            self.kind, self.duals = "no", self._rows.duals(weights)
            return
        arrow = ArrowKKT.of([self._rows.blocks], k)
        blocks: KKTBlocks
        if arrow is None:
            blocks, places = _dense(self._rows)
        else:
            blocks, places, self.kind = arrow, arrow.places, "arrow"
        found = interior_point(
            blocks, self.cost[None], limits, counts=self.counts, orbit=self.orbit, path=path
        )
        weights[places] = _checked(found).multipliers[0]
        self.matrix, self.path = found.matrix[0], found.path
        self.duals = self._rows.duals(weights)


def _checked(found: InteriorResult) -> InteriorResult:
    if not np.isfinite(found.value).all():
        raise SolverError("the interior-point method found no channel inside the cone")
    return found


def _dense(rows: ColumnRows) -> tuple[DenseKKT, IntArray]:
    """Return the blocks of any rows, and which of the stacked rows they state.

    A helper that an equation defines is put into the other rows.
    """
    stack, k = rows.matrix(), rows.size
    definitions = stack[np.flatnonzero(rows.equal)].toarray()
    defined = k + np.argmin(definitions[:, k:], axis=1) if len(definitions) else np.zeros(0, int)
    n = stack.shape[1]
    free = np.setdiff1d(np.arange(n), defined)
    into = np.zeros((n, len(free)))
    into[free, np.arange(len(free))] = 1
    for row, helper in zip(definitions, defined, strict=True):
        into[helper, :k] = -row[:k] / row[helper]
    places = np.flatnonzero(~rows.equal)
    A = sp.csr_array(stack[places] @ sp.csr_array(into))
    A.sum_duplicates()
    start = _middle(A, k)
    return DenseKKT(A, start, k), places


def _middle(A: sp.csr_array, k: int) -> FloatArray:
    """Return ones with each helper where the product of its slacks is largest.

    Raises
    ------
    UnsupportedError
        If a row is not below 0 there.
    """
    start = np.ones(A.shape[1])
    start[k:] = 0
    base = np.asarray(A @ start)
    columns = sp.csc_array(A)
    for helper in range(k, A.shape[1]):
        mine = slice(columns.indptr[helper], columns.indptr[helper + 1])
        rows, b = columns.indices[mine], columns.data[mine]
        a = base[rows]
        low, high = (-a[b < 0] / b[b < 0]).max(), (-a[b > 0] / b[b > 0]).min()
        inside = (high - low) * INSIDE
        if inside <= 0:
            break
        pull = lambda h, a=a, b=b: float((b / (a + b * h)).sum())  # noqa: E731
        start[helper] = brentq(pull, low + inside, high - inside)
    if (A @ start).max() > -INSIDE:
        raise UnsupportedError("privacy", "a cone with an inside", "one that is flat")
    return start


def joined(Q: FloatArray, cost: FloatArray, allowed: float) -> FloatArray:
    """Let rare outputs join the output that costs least more: the cone allows it.

    The method leaves a little on outputs that the best channel does not use. In all it may cost a
    share of ``allowed``.
    """
    most = Q.max(axis=0)
    rare = np.flatnonzero(most < RARE)
    kept = np.flatnonzero(most >= RARE)
    if not len(rare) or not len(kept):
        return Q
    more = Q[:, rare].T @ cost[:, kept] - (Q[:, rare] * cost[:, rare]).sum(axis=0)[:, None]
    best = more.argmin(axis=1)
    price = more[np.arange(len(rare)), best]
    order = np.argsort(price)
    fits = order[np.cumsum(price[order]) <= WORTH * allowed]
    columns = Q.T.copy()
    np.add.at(columns, kept[best[fits]], Q[:, rare[fits]].T)
    columns[rare[fits]] = 0
    return columns.T


def solve_interior_batch(problems: Sequence[Problem], limits: Limits) -> list[RawSolution] | None:
    """Solve problems of one shape together, or return None where they do not share one.

    Parameters
    ----------
    problems
        Problems with as many inputs and outputs each, whose inputs hang together, and whose
        notions have rows of one pattern (LIP for different priors, LDP at different budgets).
    limits
        When to end: for all of them.
    """
    programs = [program_cost(problem) for problem in problems]
    rows = [ColumnRows(problem.cone) for problem in problems]
    arrow = ArrowKKT.of([own.blocks for own in rows], rows[0].size)
    if arrow is None or len({cost.shape for cost, _ in programs}) > 1:
        return None
    found = interior_point(arrow, np.array([cost for cost, _ in programs]), limits)
    answers = []
    for n, (problem, own, (cost, scale)) in enumerate(zip(problems, rows, programs, strict=True)):
        if not np.isfinite(found.value[n]):
            return None
        weights = np.zeros((len(own), cost.shape[1]))
        weights[arrow.places] = scale * found.multipliers[n]
        matrix = joined(found.matrix[n], cost, limits.gap * float(found.value[n]))
        route = f"interior: arrow blocks, {found.steps} steps, with {len(problems)} problems"
        answers.append(
            RawSolution(matrix, problem.outputs or (), Dual(tuple(own.duals(weights))), route)
        )
    return answers
