"""The interior route: large linear programs by presolve and the interior-point method.

Symmetries leave one output of each orbit. Where there are none, the usual chain of reductions
applies.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from mechdesign.errors import UnsupportedError
from mechdesign.problem import Problem
from mechdesign.search.base import Path, RawSolution
from mechdesign.search.interior.conversion import by_interior, merge_rare_outputs
from mechdesign.search.limits import Limits
from mechdesign.search.presolve.chain import PRESOLVE, program_cost, solve_reduced
from mechdesign.search.presolve.find_symmetries import symmetries
from mechdesign.search.presolve.orbit_reduction import OrbitReduction
from mechdesign.search.presolve.symmetry_group import Symmetry

__all__ = ["solve_interior"]


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
    cost, _ = program_cost(problem)
    if problem.utility.worst_case:
        raise UnsupportedError("objective", "an expected loss", "a worst case")
    backend = partial(by_interior, path=path)
    with limits.stopwatch.phase("presolve"):
        is_joined = problem.cone.components().max() < problem.cone.size - 1
        symmetry = (symmetry or symmetries(problem)) if is_joined else None
    chain = PRESOLVE if symmetry is None else (OrbitReduction(symmetry),)
    raw = solve_reduced(problem, limits, backend, chain)
    allowed = limits.gap * float((cost * raw.matrix).sum())
    return replace(raw, matrix=merge_rare_outputs(raw.matrix, cost, allowed))
