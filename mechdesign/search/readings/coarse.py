"""Coarse to fine: a search for readings starts from the result on every other input.

On a line the rays of an optimum are raised on an interval of values or outside one, and so are
those of an optimum on every other input, except for the ends of the interval.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.limits import Limits
from mechdesign.search.readings.pricing import BudgetPricer
from mechdesign.search.readings.search import ALL_INTERVALS, ReadingsSearch


def budget_search(
    form: OneBudgetCone, f: FloatArray, prior: FloatArray | None, limits: Limits, scale: float
) -> ReadingsSearch:
    """Return the search under one budget; under LDP after searches on fewer and fewer inputs.

    Parameters
    ----------
    form
        The blocks of the cone.
    f, prior, limits, scale
        As for :class:`~mechdesign.search.readings.search.ReadingsSearch`.
    """
    k, start = len(f), None
    (_, inputs), *more = form.blocks
    if k > ALL_INTERVALS and not more and len(inputs) == k:  # other rays are not intervals
        order = np.argsort(f, kind="stable")
        kept = np.sort(np.union1d(order[::2], order[[0, -1]]))
        all_ = np.arange(len(kept))
        coarse = replace(form, blocks=((all_, all_),), size=len(kept))
        mass = None if prior is None else prior[kept] / prior[kept].sum()
        start = _refined(f, kept, budget_search(coarse, f[kept], mass, limits.part(), scale).used)
    search = ReadingsSearch(
        np.eye(k), 1 / form.low - 1, BudgetPricer(form), f, prior, limits, scale, start
    )
    search.run()
    return search


def _refined(f: FloatArray, kept: IntArray, rays: FloatArray) -> FloatArray:
    """Return rays on all inputs: each new entry is that of a neighbor, below or above."""
    order = np.argsort(f[kept], kind="stable")
    values = f[kept][order]
    below = np.clip(np.searchsorted(values, f, side="right") - 1, 0, len(kept) - 1)
    above = np.clip(np.searchsorted(values, f, side="left"), 0, len(kept) - 1)
    first, second = rays[order][below], rays[order][above]
    return np.hstack([first, second, np.maximum(first, second), np.minimum(first, second)])
