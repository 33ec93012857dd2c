"""Conic programs for the interior-point method, and its answers in terms of the cone's rows.

Rows are stated by extended formulations, which decide what KKT systems the method works with:
:class:`ArrowKKT` where each row has one entry and one auxiliary variable (LDP, LIP: a number of
operations in proportion to the entries), else :class:`DenseKKT`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.outside import called, checked
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, Path, RawSolution
from mechdesign.routes.cones.price_search import price_search
from mechdesign.routes.interior.arrow_kkt import ArrowKKT
from mechdesign.routes.interior.dense_kkt import DenseKKT
from mechdesign.routes.interior.method import Blocks, interior_point
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.column_rows import ColumnRows
from mechdesign.routes.presolve.chain import program_cost
from mechdesign.routes.presolve.reduction import Answer, ConicProgram

if TYPE_CHECKING:
    from mechdesign.routes.interior.pair_output import PairBlocks

__all__ = ["by_interior", "merge_rare_outputs", "solve_interior_batch"]


INSIDE = 1e-9
"""The least slack of all rows at the start: with less the cone counts as flat."""

MANY = 100_000
"""Rows of all columns from which on kernels made for them save more than it takes to load them."""

RARE = 1e-7
"""An output of which no input sends more than this may be merged with another."""

WORTH = 1e-2
"""The share of the gap aimed at that merging outputs may cost in all."""


def by_interior(program: ConicProgram, limits: Limits, path: Path | None = None) -> Answer:
    """Solve a program by the interior-point method: the backend for expected losses.

    Parameters
    ----------
    program, limits
        As for any backend.
    path
        Where the method has been for a program nearby.

    Raises
    ------
    UnsupportedError
        If the loss is a worst case, or the cone has no inside to start from.
    SolverError
        If rounding leaves nothing.
    """
    if program.worst_case:
        raise UnsupportedError("objective", "an expected loss", "a worst case")
    cost, rows = program.cost, ColumnRows(program.cone)
    k, m = cost.shape
    multipliers = np.zeros((len(rows), m))
    if not len(rows):  # nothing is secret
        matrix: FloatArray = np.zeros((k, m))
        matrix[np.arange(k), cost.argmin(axis=1)] = 1
        duals = tuple(rows.duals(multipliers))
        return Answer(matrix, duals, "interior: no blocks", cost.min(axis=1))
    arrow = ArrowKKT.of([rows.blocks], k)
    blocks: Blocks
    pairs = _pairs(rows, m) if arrow is None else None
    if pairs is not None:
        blocks, places, kind = pairs, np.arange(len(rows)), "pair"
    elif arrow is None:
        (blocks, places), kind = _dense(rows), "dense"
    else:
        blocks, places, kind = arrow, arrow.places, "arrow"
    found = interior_point(
        blocks,
        cost[None],
        limits,
        counts=program.output_count,
        orbit=program.input_orbit,
        path=path,
    )
    if not np.isfinite(found.value).all():
        raise SolverError("the interior-point method found no channel inside the cone")
    multipliers[places] = found.multipliers[0]
    duals = () if program.is_priced else tuple(rows.duals(multipliers))
    route = f"interior: {kind} blocks"
    return Answer(found.matrix[0], duals, route, found.potentials[0], path=found.path)


def _pairs(rows: ColumnRows, n_outputs: int) -> PairBlocks | None:
    """Return the blocks of many bounds on ratios of entries; None for other rows, or for few.

    Raises
    ------
    UnsupportedError
        If one bound is 1, or nearly so.
    """
    if len(rows) * n_outputs < MANY or rows.equal.any():
        return None
    from mechdesign.routes.interior.pair_output import PairBlocks  # numba on demand

    blocks = PairBlocks.of(rows.matrix())
    if blocks is not None and blocks.g.max() > 1 - INSIDE:
        raise UnsupportedError("privacy", "a cone with an inside", "one that is flat")
    return blocks


def _dense(rows: ColumnRows) -> tuple[DenseKKT, IntArray]:
    """Return the blocks of any rows, and which of the stacked rows they state.

    An auxiliary variable that an equation defines is substituted in the other rows.
    """
    stack, k = rows.matrix(), rows.size
    definitions = stack[np.flatnonzero(rows.equal)].toarray()
    defined = k + np.argmin(definitions[:, k:], axis=1) if len(definitions) else np.zeros(0, int)
    n = stack.shape[1]
    free = np.setdiff1d(np.arange(n), defined)
    into = np.zeros((n, len(free)))
    into[free, np.arange(len(free))] = 1
    for row, variable in zip(definitions, defined, strict=True):
        into[variable, :k] = -row[:k] / row[variable]
    places = np.flatnonzero(~rows.equal)
    A = sp.csr_array(stack[places] @ sp.csr_array(into))
    A.sum_duplicates()
    start = _middle(A, k)
    return DenseKKT(A, start, k), places


def _middle(A: sp.csr_array, k: int) -> FloatArray:
    """Return ones, and each auxiliary variable where the product of its slacks is largest.

    That is the analytic center of its rows at q = 1: the root of the derivative of the sum of the
    logarithms of its slacks, found by Brent's method.

    Raises
    ------
    UnsupportedError
        If a row is not below 0 there.
    """
    start = np.ones(A.shape[1])
    start[k:] = 0
    base = np.asarray(A @ start)
    columns = sp.csc_array(A)
    for variable in range(k, A.shape[1]):
        mine = slice(columns.indptr[variable], columns.indptr[variable + 1])
        rows, b = columns.indices[mine], columns.data[mine]
        a = base[rows]
        low, high = (-a[b < 0] / b[b < 0]).max(), (-a[b > 0] / b[b > 0]).min()
        inside = (high - low) * INSIDE
        if inside <= 0:
            break
        slope = lambda h, a=a, b=b: float((b / (a + b * h)).sum())  # noqa: E731
        root = called("brentq", brentq, slope, low + inside, high - inside)
        start[variable] = checked("brentq", root, ())
    if (A @ start).max() > -INSIDE:
        raise UnsupportedError("privacy", "a cone with an inside", "one that is flat")
    return start


def merge_rare_outputs(Q: FloatArray, cost: FloatArray, allowed: float) -> FloatArray:
    """Merge each rare output with the output that costs least more.

    The method ends inside the cone, with a little mass on outputs that the best channel does not
    use. The sum of two columns is in the cone, as that is convex. In all it may cost a share of
    ``allowed``.
    """
    most = Q.max(axis=0)
    rare = np.flatnonzero(most < RARE)
    kept = np.flatnonzero(most >= RARE)
    if not len(rare) or not len(kept):
        return Q
    more = Q[:, rare].T @ cost[:, kept] - (Q[:, rare] * cost[:, rare]).sum(axis=0)[:, None]
    best = more.argmin(axis=1)
    extra = more[np.arange(len(rare)), best]
    order = np.argsort(extra)
    fits = order[np.cumsum(extra[order]) <= WORTH * allowed]
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
        if form := price_search(problem):
            dual = Dual((), potentials=scale * found.potentials[n], search=form)
        else:
            multipliers = np.zeros((len(own), cost.shape[1]))
            multipliers[arrow.places] = scale * found.multipliers[n]
            dual = Dual(tuple(own.duals(multipliers)))
        matrix = merge_rare_outputs(found.matrix[n], cost, limits.gap * float(found.value[n]))
        route = f"interior: arrow blocks, {found.steps} steps, with {len(problems)} problems"
        answers.append(RawSolution(matrix, problem.outputs or (), dual, route))
    return answers
