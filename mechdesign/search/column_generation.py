"""The least expected loss by column generation (Dantzig and Wolfe 1960) over extreme rays.

A column of a channel is a mixture of extreme rays r of the cone, so the best channel is

    minimize Sum_j theta_j min_y c_y . r_j   over theta >= 0 with Sum_j theta_j r_j = 1:

each ray is used with its best output (:mod:`mechdesign.search.generation`). The potentials u of the
inputs, the dual variables of the equations, determine the rays to add: those of negative reduced
cost (c_y - u) . r (see `pricing`).

The first rays are the k that are largest on one input each. If they are independent and some
mixture of them is a channel, it is a basis, and its potentials solve k equations. On a line, with a
loss that increases with the distance, no other ray has a negative reduced cost, for any prior: one
round suffices.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import UnsupportedError
from mechdesign.kernel.certificate import Certificate
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.pricing import LinePricer, Pricer, pricer_of
from mechdesign.search.cones.proofs import linear_proof
from mechdesign.search.generation import Generation, Pace, SurplusBound
from mechdesign.search.highs import UNIT, RestrictedMaster
from mechdesign.search.limits import Limits
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.presolve.chain import program_cost
from mechdesign.search.presolve.reductions import implied_pairs
from mechdesign.search.starts.baseline import decided

PACE = Pace(goal=1e-10, patience=math.inf, worth=0.01, most_rays=8)

FEW = 6
"""Number of non-implied rows per input that counts as few."""


def solve_columns(problem: Problem, limits: Limits | None = None) -> RawSolution:
    """Find the channel of least expected loss by extreme rays.

    Examples
    --------
    >>> from mechdesign import Domain, MeanAbsoluteError, MetricPrivacy
    >>> line = Problem(Domain([0, 1, 4, 6]), MetricPrivacy(1, "absolute"), MeanAbsoluteError())
    >>> found = solve_columns(line)
    >>> found.route
    'columns: dynamic programming along the line'
    >>> float((abs(np.subtract.outer([0, 1, 4, 6], [0, 1, 4, 6])) * found.matrix).sum() / 4)
    0.3505...
    """
    if problem.expected_loss is None:
        raise UnsupportedError("objective", "an expected loss", problem.utility.name)
    if not problem.is_conic:
        raise UnsupportedError("privacy", "notions that speak of columns", problem.non_conic[0])
    limits = Limits() if limits is None else limits
    cost, scale = program_cost(problem)
    pricer = pricer_of(problem) or LPPricer(problem.cone)
    columns = _Columns(pricer, cost, scale, limits.gap)
    start = pricer.start()
    # a constant column is a channel, for any first rays
    rays = np.column_stack([start / start.max(axis=0), np.ones(len(cost))])
    program = RestrictedMaster(rays, columns.gain(rays), UNIT, limits=limits.step(1.0))
    search = Generation(columns, program, lambda gain: -gain, limits.part(scale))
    search.run()
    matrix = columns.sent(search.columns)
    outputs = problem.outputs or ()
    return RawSolution(matrix, outputs, search.proofs, f"columns: {pricer.route}", search.notes())


def suits(problem: Problem, *, small: bool = False) -> str | None:
    """Return a short reason for column generation; None if it does not apply.

    A small problem qualifies only on a line.
    """
    if problem.expected_loss is None or not problem.is_conic:
        return None
    if isinstance(pricer_of(problem), LinePricer):
        return "the inputs lie on a line, where rays are found one input after the other"
    if small or not problem.cone.is_by_ratios:
        return None
    E = problem.cone.lengths()
    if not np.array_equal(E, E.T):
        return None
    (first, *more) = problem.cone.families
    pairs = first.ratio_rows()
    if more or pairs is None or pairs.near is None:
        n_pairs = int((np.isfinite(E) & ~implied_pairs(E)).sum())
    else:
        n_pairs = pairs.n_checked
    if n_pairs > (1 + FEW) * len(E):
        return None
    return "each input is bounded by few others, so that rays are simple"


class _Columns:
    """Rays, each with its best output: a loss as a gain, for the loop of column generation."""

    pace, steps_of_a_box = PACE, 0

    def __init__(self, pricer: Pricer, cost: FloatArray, scale: float, gap: float) -> None:
        self.how, self.size = pricer.route, len(cost)
        self._pricer, self._cost, self._scale, self._gap = pricer, cost, scale, gap
        self._matrix: FloatArray = np.zeros_like(cost)

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return minus the cost of each ray at its best output."""
        return np.asarray(-(self._cost.T @ rays).min(axis=0))

    def sent(self, columns: FloatArray) -> FloatArray:
        """Return the channel with the best output for each column."""
        self._matrix = decided(columns, self._cost)
        return self._matrix

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of a column, and the best rays."""
        expired = None if limits is None else limits.expired
        priced = self._pricer.price(self._cost + u[:, None], expired)
        tops = priced.rays.max(axis=0)
        found = list((priced.rays[:, tops > 0] / tops[tops > 0]).T)
        surplus = float(self._pricer.weight.sum()) * max(0.0, -float(priced.reduced.min()))
        return SurplusBound(surplus, found, partial(self._certificate, u, priced.multipliers))

    def _certificate(
        self, u: FloatArray, multipliers: FloatArray, problem: Problem
    ) -> Certificate | None:
        """Return the potentials, or the multipliers if they are the evidence."""
        if isinstance(self._pricer, LPPricer):
            duals = self._pricer.duals(multipliers, self._scale)
            return linear_proof(duals, self._matrix, self._gap)(problem)
        return linear_proof((), self._matrix, self._gap, potentials=-self._scale * u)(problem)
