"""The linear program that symmetries leave: one column for each orbit of outputs.

With p_y = n_y q_y the mass of the orbit of y, and any worst case t over the orbits o of inputs,

    minimise  Sum c_y . p_y   (or t),   p_y in the cone,   Sum_y Sum_{x in o} p_y(x) / |o| = 1

and Sum_y Sum_{x in o} D(x, y) p_y(x) / |o| <= t. The cone is homogeneous, so that the weights on
its rows are those of q_y at the cost c_y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray
from mechdesign.domain import Label
from mechdesign.notions.rows.cone import Cone
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, FamilyDual, RawSolution
from mechdesign.routes.column_generation.column_rows import ColumnRows
from mechdesign.routes.interior.conversion import InteriorPart
from mechdesign.routes.interior.method import Path
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.highs import LinearProgram, solve_lp
from mechdesign.routes.lp.linear_program import expected_cost, program_cost
from mechdesign.routes.presolve.chain import scaled_duals
from mechdesign.routes.presolve.symmetry_group import Symmetry

__all__ = ["solve_orbits", "solve_symmetric"]


def solve_symmetric(
    problem: Problem, symmetry: Symmetry, limits: Limits, path: Path | None = None
) -> RawSolution:
    """Solve what symmetries leave of a problem by the interior-point method.

    Parameters
    ----------
    problem
        With an expected loss.
    symmetry
        Symmetries of the problem.
    limits
        When to end; whenever it does, there is a channel and a bound.
    path
        Where a program nearby has been.

    Raises
    ------
    UnsupportedError
        If the loss is not linear or for the worst case, or the cone has no inside to start from.
    SolverError
        If rounding leaves nothing.
    """
    cost, scale = expected_cost(problem)
    counts = symmetry.multiplicity.astype(np.float64)
    left = cost[:, symmetry.representatives]
    part = InteriorPart(problem.cone, left, counts, symmetry.input_orbit)
    part.solve(limits.part(scale), path)
    duals = scaled_duals(part.duals, scale)
    route = f"interior: {part.kind} blocks, by symmetry"
    whole = _expanded(problem, symmetry, part.matrix, duals, None, route)
    return replace(whole, path=part.path)


def solve_orbits(
    problem: Problem,
    symmetry: Symmetry,
    method: str = "simplex",
    limits: Limits | None = None,
) -> RawSolution:
    """Solve what symmetries leave of a problem by HiGHS; a worst case too.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.LinearUtility`.
    symmetry
        Symmetries of the problem.
    method
        ``"simplex"`` or ``"ipm"``.
    limits
        When to end.

    Raises
    ------
    UnsupportedError
        If the loss is not linear, or a notion bounds the lift for a set of many priors.
    SolverError
        If HiGHS fails.

    Examples
    --------
    >>> from mechdesign import LDP
    >>> from mechdesign.routes.presolve.find_symmetries import symmetries
    >>> from mechdesign.utilities import HammingLoss
    >>> problem = Problem(range(4), LDP(1), HammingLoss())
    >>> raw = solve_orbits(problem, symmetries(problem))
    >>> raw.matrix[0].round(6)
    array([0.475367, 0.174878, 0.174878, 0.174878])
    """
    cost, scale = program_cost(problem)
    worst_case = problem.utility.worst_case
    program = _Program(problem.cone, cost, symmetry, worst_case)
    program.solve(method, limits)
    weights = None if program.weights is None else symmetry.expand_inputs(program.weights)
    route = f"linear-program: HiGHS {method}, by symmetry"
    scaled = scaled_duals(program.duals, scale)
    return _expanded(problem, symmetry, program.columns, scaled, weights, route)


def _expanded(
    problem: Problem,
    symmetry: Symmetry,
    columns: FloatArray,
    duals: list[FamilyDual],
    weights: FloatArray | None,
    route: str,
) -> RawSolution:
    """Return the answer for the whole from that for the representatives."""
    dual = Dual(tuple(symmetry.expand_dual(duals)), weights)
    outputs: tuple[Label, ...] = problem.outputs or ()
    return RawSolution(symmetry.expand(columns), outputs, dual, route, [symmetry.note])


@dataclass
class _Program:
    """The program, and what is read off its answer."""

    cone: Cone
    cost: FloatArray
    symmetry: Symmetry
    worst_case: bool

    def __post_init__(self) -> None:
        self.rows = ColumnRows(self.cone)
        self.columns: FloatArray = np.zeros((0, 0))
        self.duals: list[FamilyDual] = []
        self.weights: FloatArray | None = None

    def solve(self, method: str, limits: Limits | None) -> None:
        """Build the program, solve it, and read the answer."""
        symmetry, k = self.symmetry, self.cone.size
        reps = symmetry.representatives
        block = self.rows.matrix()
        n_rows, width = block.shape
        r, orbits = len(reps), len(symmetry.orbit_size)
        q = (np.arange(r)[:, None] * width + np.arange(k)).T
        n_variables = r * width + self.worst_case
        body = sp.coo_array(sp.block_diag([block] * r))
        parts = [sp.csr_array((body.data, (body.row, body.col)), (body.shape[0], n_variables))]
        equal = [np.tile(self.rows.equal, r)]
        share = 1 / symmetry.orbit_size[symmetry.input_orbit]
        place = np.repeat(symmetry.input_orbit, r)
        cost = np.zeros(n_variables)
        if self.worst_case:
            cost[-1] = 1
            values = np.concatenate(
                [(share[:, None] * self.cost[:, reps]).ravel(), -np.ones(orbits)]
            )
            row = np.concatenate([place, np.arange(orbits)])
            column = np.concatenate([q.ravel(), np.full(orbits, n_variables - 1)])
            parts.append(sp.csr_array((values, (row, column)), shape=(orbits, n_variables)))
            equal.append(np.zeros(orbits, dtype=bool))
        else:
            cost[q.ravel()] = self.cost[:, reps].ravel()
        sums = (np.repeat(share, r), (place, q.ravel()))
        parts.append(sp.csr_array(sums, shape=(orbits, n_variables)))
        A = sp.csr_array(sp.vstack(parts, format="csr"))
        is_equal = np.concatenate(equal)
        low = np.concatenate([np.where(is_equal, 0.0, -np.inf), np.ones(orbits)])
        high = np.concatenate([np.zeros(len(is_equal)), np.ones(orbits)])
        found = solve_lp(LinearProgram(cost, A, low, high), method, limits)
        self.columns = found.primal[q] / symmetry.multiplicity
        dual = np.maximum(-found.dual, 0.0)
        self.duals = self.rows.duals(dual[: r * n_rows].reshape(r, n_rows).T)
        if self.worst_case:
            self.weights = dual[r * n_rows : r * n_rows + orbits]
            if self.weights.sum() <= 0:
                self.weights = symmetry.orbit_size.astype(np.float64)
