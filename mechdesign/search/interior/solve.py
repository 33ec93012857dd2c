"""Linear programs by presolve and the interior-point method, with duals for the cone's rows.

Symmetries leave one output of each orbit. Without symmetries, the usual chain of reductions
applies.

Rows are stated by extended formulations, which determine how the matrix of an output is factored:
:class:`ArrowBlocks` if each row has one entry and one auxiliary variable (LDP, LIP: linear time in
the entries), else :class:`SparseBlocks`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.notions.rows.row import Multipliers
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.pricing import pricer_of
from mechdesign.search.cones.proofs import linear_proof
from mechdesign.search.interior.arrow import ArrowBlocks, ArrowRows
from mechdesign.search.interior.newton import Blocks, interior_point
from mechdesign.search.interior.sparse import SparseBlocks
from mechdesign.search.limits import Limits
from mechdesign.search.lp.extended_formulation import ExtendedFormulation, extended_formulation
from mechdesign.search.presolve.chain import PRESOLVE, program_cost, solve_reduced
from mechdesign.search.presolve.reductions import Answer, ConicProgram
from mechdesign.search.presolve.symmetry import Symmetry, symmetries


def solve_interior(
    problem: Problem,
    limits: Limits,
    symmetry: Symmetry | None = None,
) -> RawSolution:
    """Solve a problem with an expected loss that is linear in the channel.

    Whenever the search ends, there is a channel and a bound. Symmetries of grids, lines and
    equivalent inputs are detected, unless they are given. UnsupportedError for a worst case, or if
    the cone has no interior.
    """
    if problem.utility.worst_case:
        raise UnsupportedError("objective", "an expected loss", "a worst case")
    with limits.phase("presolve"):
        is_joined = problem.cone.components().max() < problem.cone.size - 1
        symmetry = (symmetry or symmetries(problem)) if is_joined else None
    chain = PRESOLVE if symmetry is None else (symmetry.reduce,)
    return solve_reduced(problem, limits, by_interior, chain)


def by_interior(program: ConicProgram, limits: Limits) -> Answer:
    """Solve a program by the interior-point method: the backend for expected losses."""
    if program.worst_case:
        raise UnsupportedError("objective", "an expected loss", "a worst case")
    cost, rows = program.cost, extended_formulation(program.cone)
    k, m = cost.shape
    multipliers = np.zeros((len(rows), m))
    if not len(rows):  # no privacy constraint
        matrix: FloatArray = np.zeros((k, m))
        matrix[np.arange(k), cost.argmin(axis=1)] = 1
        return Answer(matrix, rows.duals(multipliers), "interior: no blocks", cost.min(axis=1))
    blocks, places, kind = _blocks(rows, k, program.counts, limits)
    found = interior_point(blocks, cost[None], limits, orbit=program.input_orbit)
    if not np.isfinite(found.value).all():
        raise SolverError("the interior-point method found no channel inside the cone")
    multipliers[places] = found.multipliers[0]
    duals = [] if program.is_priced else rows.duals(multipliers)
    route = f"interior: {kind} blocks"
    return Answer(found.matrix[0], duals, route, found.potentials[0])


def _blocks(
    rows: ExtendedFormulation, k: int, counts: FloatArray, limits: Limits
) -> tuple[Blocks, IntArray, str]:
    """Return the blocks of rows, the rows that they contain, and their kind.

    An auxiliary variable defined by an equation is substituted in the other rows, unless the rows
    have arrow form.
    """
    A, places = rows.A, np.flatnonzero(~rows.equal)
    arrow = ArrowBlocks.of([ArrowRows.of(A, rows.equal, k)], k, counts)
    if arrow is not None:
        return arrow, places, "arrow"
    into = np.eye(A.shape[1])
    definitions = A[np.flatnonzero(rows.equal)].toarray()
    defined = [k + int(np.flatnonzero(row[k:])[0]) for row in definitions]
    for row, variable in zip(definitions, defined, strict=True):
        into[variable, :k] = -row[:k] / row[variable]
    free = np.delete(into, defined, axis=1)
    A = sp.csr_array(A[places] @ sp.csr_array(free))
    A.sum_duplicates()
    return SparseBlocks(A, k, counts, limits), places, "sparse"


def solve_interior_batch(problems: Sequence[Problem], limits: Limits) -> list[RawSolution] | None:
    """Solve problems of one shape together; None if their shapes differ.

    They have equal numbers of inputs and outputs, connected inputs, and notions with rows of one
    pattern (LIP for different priors, LDP at different budgets).
    """
    programs = [program_cost(problem) for problem in problems]
    rows = [extended_formulation(problem.cone) for problem in problems]
    if len({cost.shape for cost, _ in programs}) > 1:
        return None
    k, m = programs[0][0].shape
    stated = [ArrowRows.of(own.A, own.equal, k) for own in rows]
    arrow = ArrowBlocks.of(stated, k, np.ones(m))
    if arrow is None:
        return None
    found = interior_point(arrow, np.array([cost for cost, _ in programs]), limits)
    answers = []
    for n, (problem, own, (cost, scale)) in enumerate(zip(problems, rows, programs, strict=True)):
        if not np.isfinite(found.value[n]):
            return None
        potentials, duals = None, list[Multipliers]()
        if pricer_of(problem) is not None:
            potentials = scale * found.potentials[n]
        else:
            multipliers = np.zeros((len(own), cost.shape[1]))
            multipliers[~own.equal] = scale * found.multipliers[n]
            duals = own.duals(multipliers)
        matrix = found.matrix[n]
        proof = linear_proof(duals, matrix, limits.gap, potentials=potentials)
        route = f"interior: arrow blocks, {found.steps} steps, with {len(problems)} problems"
        answers.append(RawSolution(matrix, problem.outputs or (), [proof], route))
    return answers
