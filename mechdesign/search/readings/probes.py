"""The probes of a proof: readings between which the checker's bound loses little.

Under one budget :mod:`mechdesign.search.readings.proof` halves the gaps between the first probes.
In other cones each probe has its own multipliers, and gaps are halved here, with float versions of
the bounds of :mod:`mechdesign.kernel.linearizations.decoders`.
"""

from __future__ import annotations

import math

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.search.decoders.search import least_on_gaps
from mechdesign.search.limits import Limits
from mechdesign.search.readings.pricing import BudgetPricer, ColumnPricer
from mechdesign.search.readings.search import ReadingsDual

MOST_PROGRAMS = 4000
FIRST = 33
FARTHER, TIMES = 2.0, 60
"""The factor by which the outermost probes move outwards, and the largest number of moves."""

NEAREST = 1e-7
"""The least distance of probes, relative to the largest."""


def budget_probes(dual: ReadingsDual, pricer: BudgetPricer) -> FloatArray:
    """Return the first probes for a proof by potentials, which halves the gaps between them.

    Parameters
    ----------
    dual, pricer
        Dual variables, and the rays of a cone of one budget.

    Raises
    ------
    SolverError
        If readings of any size have a negative cost.
    """
    far = 1.0
    for _ in range(TIMES):
        slopes = np.column_stack([2 * dual.weights * far - s * dual.slopes for s in (1, -1)])
        if pricer.price(slopes).cost.min() >= 0:
            break
        far *= FARTHER
    else:
        raise SolverError("the readings have no bound that the dual variables prove")
    inner = np.linspace(-2.0, 2.0, FIRST)
    outer = np.geomspace(2.0, max(far, 4.0), 12)
    return np.unique(np.concatenate([inner, outer, -outer, [1.01 * far, -1.01 * far]]))


def row_probes(
    dual: ReadingsDual,
    pricer: ColumnPricer,
    used: FloatArray,
    slack: float,
    limits: Limits,
    far: float = math.inf,
) -> tuple[FloatArray, list[FloatArray]]:
    """Return probes, and the multipliers of rows at them that prove the bound, minus the slack.

    Parameters
    ----------
    dual, pricer
        Dual variables, and the pricer of one column.
    used
        Readings in use, near which probes are dense.
    slack
        The allowed loss of the bound in the gaps between probes.
    limits
        The limits of the search.
    far
        The farthest position of the outermost probes.

    Raises
    ------
    SolverError
        If no probes are far enough out.
    """
    a, k = dual.weights, pricer.size
    found: dict[float, tuple[FloatArray, FloatArray]] = {}

    def probe(v: float) -> FloatArray:
        if v not in found:
            _, added, weights = pricer.solved(dual.cost(np.array([v]))[:, 0])
            found[v] = added, weights
        return found[v][0]

    ends = []
    for sign in (-1.0, 1.0):
        end = 2.0 * sign
        for _ in range(TIMES):
            linear = dual.slopes * end
            own = probe(end) + dual.potentials
            if min((own + linear).min(), (2 * own + linear).min()) > 0:
                break
            end *= FARTHER
            if abs(end) > far:
                raise SolverError("the readings have no bound from probes so near")
        else:
            raise SolverError("the readings have no bound that the dual variables prove")
        ends.append(end)
    for s in np.union1d(np.linspace(-2.0, 2.0, FIRST), used).tolist():
        probe(s)
    while True:
        v = np.array(sorted(found))
        table = np.column_stack([found[s][0] for s in v.tolist()])
        gaps = np.array([least_on_gaps(v, row, w) for row, w in zip(table, a, strict=True)])
        wide = np.diff(v) > NEAREST * np.abs(v[:-1] + 1)
        floor = np.minimum(table.min(axis=1, keepdims=True), 0.0)
        halve = (gaps < floor - slack / k).any(axis=0) & wide
        if not halve.any() or len(v) > MOST_PROGRAMS or limits.expired():
            kept = v[(v >= ends[0]) & (v <= ends[1])]
            return kept, [found[s][1] for s in kept.tolist()]
        for s in ((v[:-1] + v[1:]) / 2)[halve].tolist():
            probe(s)
