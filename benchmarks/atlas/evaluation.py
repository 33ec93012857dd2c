"""Fill the maps: the optimum at every point, and the closed form against it."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.atlas.base import Entry
from benchmarks.atlas.cache import Cache
from benchmarks.atlas.cell import Cell

DELAY = 0.5
"""Seconds before a bar appears."""


def evaluate(
    formulas: Sequence[Entry],
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
            for at, optimum in zip(missing, formula.optima(missing, n_jobs), strict=True):
                found[at] = Cell.of(formula, at, optimum)
                cache.add(formula, found[at])
                bar.update()
            cells += [found[at] for at in points]
    return cells
