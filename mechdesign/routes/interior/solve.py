"""Large linear programs: what is taken off first, then the interior-point method.

Symmetries leave one output of each orbit. Without any, inputs with equal rows are merged, pairs
that others imply left out, and groups that share no row solved apart. Where that still leaves
millions of rows and a gap will do, a spanner gives the value and the bound.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from mechdesign.notions.rows.pair_rows import FREE, PairRows
from mechdesign.problem import Problem
from mechdesign.routes.base import RawSolution
from mechdesign.routes.interior.conversion import joined
from mechdesign.routes.interior.method import Path
from mechdesign.routes.limits import Limits
from mechdesign.routes.lp.backends import by_interior
from mechdesign.routes.lp.extended_formulation import chain_reduced
from mechdesign.routes.lp.linear_program import expected_cost
from mechdesign.routes.presolve.chain import solve_reduced
from mechdesign.routes.presolve.find_symmetries import symmetries
from mechdesign.routes.presolve.orbit_reduction import solve_symmetric
from mechdesign.routes.presolve.spanner_search import solve_spanner
from mechdesign.routes.presolve.symmetry_group import Symmetry

__all__ = ["solve_interior"]

HEAVY = 1_000_000
"""Rows of all columns from which a step takes seconds."""

ROUGH = 1e-5
"""A gap from which on two programs with fewer rows are faster than one with all."""


def solve_interior(
    problem: Problem,
    limits: Limits,
    symmetry: Symmetry | None = None,
    path: Path | None = None,
) -> RawSolution:
    """Solve a problem whose loss is linear in the channel.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.LinearUtility`, expected and not worst-case.
    limits
        When to end; whenever it does, there is a channel and a bound.
    symmetry
        Symmetries of the problem, if known; else those of grids, lines and inputs that are alike
        are looked for.
    path
        Where the search for the same problem with a smaller budget has been: a third of the steps
        are spared.

    Raises
    ------
    UnsupportedError
        If the loss is not linear or for the worst case, or the cone has no inside to start from.
    SolverError
        If rounding leaves nothing.
    """
    cost, scale = expected_cost(problem)
    secret = problem.cone.components().max() < problem.cone.size - 1  # some inputs share a row
    symmetry = (symmetry or symmetries(problem)) if secret else None
    if symmetry is not None:
        raw = solve_symmetric(problem, symmetry, limits, path)
    elif _rows(problem) >= HEAVY and (limits.gap >= ROUGH or limits.left < float("inf")):
        raw = solve_spanner(problem, limits, by_interior)
    else:
        raw = solve_reduced(problem, limits, partial(by_interior, path=path))
    value = scale * float((cost * raw.matrix).sum())
    return replace(raw, matrix=joined(raw.matrix, scale * cost, limits.gap * value))


def _rows(problem: Problem) -> int:
    """Return how many rows on ratios there are for all outputs, less those that others imply."""
    thin = [chain_reduced(f) for f in problem.cone.families if isinstance(f, PairRows)]
    return len(problem.outputs or ()) * sum(int((f.index != FREE).sum()) for f in thin)
