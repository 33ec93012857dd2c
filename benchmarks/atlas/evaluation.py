"""Fill the maps: the optimum at every point, and the closed form against it."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.atlas.base import Formula
from benchmarks.atlas.cache import Cache
from benchmarks.atlas.cell import NEAR, Cell
from mechdesign.designs.facade import design
from mechdesign.designs.solution import Solution
from mechdesign.errors import MechdesignError, UnsupportedError
from mechdesign.sweeps.many import design_each

__all__ = ["evaluate"]

DELAY = 0.5
"""Seconds before a bar appears."""

SECOND = "extreme-rays"
"""The route to try where the first ends with a gap."""


def evaluate(
    formulas: Sequence[Formula],
    cache: Cache,
    *,
    quick: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> list[Cell]:
    """Return the cells of some formulas, each from the cache or computed and kept there.

    Parameters
    ----------
    formulas
        Which maps.
    cache
        Where finished cells are.
    quick
        Whether to take the few points of the quick maps.
    n_jobs
        As for :func:`~mechdesign.design_many`.
    progress
        Whether to show a bar; None where standard error is a terminal.
    """
    from tqdm import tqdm

    hidden = None if progress is None else not progress
    total = sum(len(formula.points(quick)) for formula in formulas)
    cells: list[Cell] = []
    with tqdm(total=total, unit="cell", disable=hidden, delay=DELAY, leave=False) as bar:
        for formula in formulas:
            bar.set_description_str(formula.name, refresh=False)
            points = formula.points(quick)
            kept = {at: cache.get(formula, at) for at in points}
            found = {at: cell for at, cell in kept.items() if cell is not None}
            missing = [at for at in points if at not in found]
            bar.update(len(points) - len(missing))
            problems = [formula.problem(at) for at in missing]
            solutions = design_each(problems, n_jobs=n_jobs, progress=False)
            for at, solution in zip(missing, solutions, strict=True):
                if isinstance(solution, MechdesignError):
                    raise solution
                found[at] = Cell.of(formula, at, _closest(solution))
                cache.add(formula, found[at])
                bar.update()
            cells += [found[at] for at in points]
    return cells


def _closest(solution: Solution) -> Solution:
    """Return the solution; by another route where the first left a gap and the other does not."""
    if solution.gap <= NEAR:
        return solution
    try:
        other = design(solution.problem, route=SECOND)
    except UnsupportedError:
        return solution
    return min(solution, other, key=lambda found: found.gap)
