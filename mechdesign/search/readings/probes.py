"""The probes of a proof: readings between which the checker's bound loses little.

Float versions of the bounds of :mod:`mechdesign.kernel.linearizations.readings`. Gaps between
probes are halved until no gap lowers the bound by more than the slack.
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

__all__ = ["budget_probes", "row_probes"]

MOST_PROBES, MOST_PROGRAMS = 1 << 14, 4000
FIRST = 33
FARTHER, TIMES = 2.0, 60
"""The factor by which the outermost probes move outwards, and the largest number of moves."""

NEAREST = 1e-7
"""The least distance of probes, relative to the largest."""


def budget_probes(dual: ReadingsDual, pricer: BudgetPricer, slack: float) -> FloatArray:
    """Return probes at which potentials prove their bound, minus the slack.

    Parameters
    ----------
    dual, pricer
        Dual variables, and the rays of a cone of one budget.
    slack
        The allowed loss of the bound in the gaps between probes.

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
    v = np.unique(np.concatenate([inner, outer, -outer, [1.01 * far, -1.01 * far]]))
    while True:
        least, floor = _least(dual, pricer, v)
        halve = (least < floor - slack) & (np.diff(v) > NEAREST * np.abs(v[:-1] + 1))
        if not halve.any() or len(v) > MOST_PROBES:
            return v
        v = np.union1d(v, ((v[:-1] + v[1:]) / 2)[halve])


def _least(dual: ReadingsDual, pricer: BudgetPricer, v: FloatArray) -> tuple[FloatArray, float]:
    """Return the least of W(v) over the blocks, on each gap, as bounded by the checker.

    And the least at a probe, or 0: gaps above it do not lower the bound.
    """
    form, a = pricer.form, dual.weights
    growth, c = 1 / form.low - 1, dual.cost(v)
    slope = 2 * a[:, None] * v - dual.slopes[:, None]
    above = (c[:, :-1] >= 0) & (c[:, 1:] >= 0) & ~((slope[:, :-1] < 0) & (slope[:, 1:] > 0))
    least, floor = np.full(len(v) - 1, np.inf), 0.0
    for block, inputs in form.blocks:
        W = c[block].sum(axis=0) + growth * np.minimum(c[inputs], 0.0).sum(axis=0)
        curvature = a[block].sum() + growth * (a[inputs, None] * ~above[inputs]).sum(axis=0)
        least = np.minimum(least, least_on_gaps(v, W, curvature))
        floor = min(floor, float(W.min()))
    return least, floor


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
