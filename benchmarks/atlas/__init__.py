"""The atlas: every closed form against the certified optimum, on grids of priors and budgets.

At each point the exact channel of a formula is measured: what it leaks by epsilon, its loss by the
optimum, and so whether it is optimal, merely private, or not private at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from benchmarks.atlas.base import Entry, Region
from benchmarks.atlas.cache import Cache
from benchmarks.atlas.cell import Cell
from benchmarks.atlas.evaluation import evaluate
from benchmarks.atlas.formulas import FORMULAS
from benchmarks.atlas.maps import draw_atlas, draw_map, save_maps
from benchmarks.atlas.table import Atlas, Summary
from mechdesign.errors import InputError, did_you_mean, shown

__all__ = [
    "FILES",
    "FORMULAS",
    "Atlas",
    "Cell",
    "Entry",
    "Region",
    "Summary",
    "build_atlas",
    "draw_atlas",
    "draw_map",
    "evaluate",
]

FILES = {"table": "atlas.csv", "data": "atlas.json", "maps": "atlas.png", "cells": "cells.jsonl"}
"""What :func:`build_atlas` writes into its folder."""


def build_atlas(
    folder: str | os.PathLike[str],
    *,
    quick: bool = False,
    only: Iterable[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Atlas:
    """Compute the atlas and write its table, its data and its maps.

    Finished cells are kept in the folder. An interrupted run resumes, and one that
    was not computes nothing again; delete ``cells.jsonl`` to begin anew.

    Parameters
    ----------
    folder
        Where to write; it is made if need be.
    quick
        Whether to take a few points of each map.
    only
        Names of formulas; default all.
    n_jobs
        Processes to use, as for :func:`~mechdesign.design_many`.
    progress
        Whether to show a bar; None where standard error is a terminal.

    Raises
    ------
    InputError
        If a name is unknown, or the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atlas = build_atlas(folder, quick=True, only=["lip-rr-absolute"])
    >>> print(atlas)
    formula                      optimal feasible infeasible  leakage up to   loss up to
    lip-rr-absolute                    2        0          4      12.52 eps          1 x
    """
    chosen = _chosen(only)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(place), "a folder that can be written", error.strerror) from None
    cache = Cache(place / FILES["cells"])
    cells = evaluate(chosen, cache, quick=quick, n_jobs=n_jobs, progress=progress)
    atlas = Atlas(tuple(cells))
    atlas.save_csv(place / FILES["table"])
    atlas.save_json(place / FILES["data"])
    save_maps(atlas, place / FILES["maps"])
    return atlas


def _chosen(only: Iterable[str] | None) -> list[Entry]:
    """Return the formulas of some names, in the order of the registry."""
    names = list(FORMULAS) if only is None else list(only)
    for name in names:
        if name not in FORMULAS:
            hint = did_you_mean(str(name), FORMULAS)
            raise InputError("only", f"names among {', '.join(FORMULAS)}", shown(name), hint)
    return [formula for name, formula in FORMULAS.items() if name in names]
