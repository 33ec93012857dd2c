"""Rays of a large cone, found by climbing; the bound comes from elsewhere.

A convex gain less its price is largest at a ray, and is at least its tangent: the ray that is best
for the tangent at some column is at least as good as that column. So one climbs from column to ray,
each step a small linear program that stays loaded, until nothing rises, from many starts. What is
found is a good channel and good prices; how far it can be from the optimum is for branch and bound
over boxes to say (`boxes`), with the gap that it can prove.
"""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.problem import Problem
from mechdesign.routes.column_generation.master import Master
from mechdesign.routes.column_generation.warm_column import WarmColumn
from mechdesign.routes.limits import Limits
from mechdesign.utilities import ColumnUtility

__all__ = ["climb_for_rays", "loss_of"]


ROUNDS, STEPS = 25, 8
MOST_PROGRAMS = 3_000
STEP = 1e-6
"""Of the size of an entry: for slopes of a gain, taken from both sides."""

RISE = 1e-10
IDLE_ROUNDS = 3


def loss_of(problem: Problem, utility: ColumnUtility, gain: float) -> float:
    """Return what a sum of gains makes of the objective, as a loss."""
    if utility.is_maximised:
        return -gain
    return float(utility.offset(problem.domain, problem.prior)) - gain


def climb_for_rays(
    problem: Problem, utility: ColumnUtility, limits: Limits
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rays, the best weights of them, and the prices of the inputs.

    While it climbs nothing bounds the gain but that of telling everything. Half the time that is
    left is for a better bound.

    Raises
    ------
    SolverError
        If HiGHS fails on the first rays.
    """
    climber = _Climber(problem, utility)
    rng = np.random.default_rng(0)
    k, spare = len(problem.domain), limits.left / 2

    def is_enough() -> bool:
        return climber.programs >= MOST_PROGRAMS or limits.over() or limits.left < spare

    # the column that tells nothing, and rays in random directions
    found = [np.ones(k)]
    while len(found) <= 4 * k and not is_enough():
        found.append(climber.best(rng.normal(size=k)))
    rays = np.column_stack(found)
    everything = loss_of(problem, utility, float(climber.gain(np.eye(k)).sum()))
    idle = 0
    program = Master(rays, climber.gain(rays))
    theta, u = program.solve()
    for round_ in range(1, ROUNDS + 1):
        value = loss_of(problem, utility, float(program.gain @ theta))
        if limits.tell(round_, value, everything):
            break
        starts = [*program.rays[:, theta > 0].T, *rng.dirichlet(np.ones(k), size=k)]
        better = []
        for start in starts:
            if is_enough():
                break
            better += climber.climb(start, u)
        if not better:
            idle += 1
            if idle >= IDLE_ROUNDS or is_enough():
                break
            continue
        idle = 0
        new = np.column_stack(better)
        program.add(new, climber.gain(new))
        theta, u = program.solve()
    return program.rays, theta, u


class _Climber:
    """The program over one column with P . r = 1, kept hot."""

    def __init__(self, problem: Problem, utility: ColumnUtility) -> None:
        self.prior, self.utility = problem.prior.array, utility
        self.column, self.programs = WarmColumn(problem.cone, self.prior), 0

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of each ray."""
        return self.utility.gain(rays, self.prior)

    def best(self, direction: FloatArray) -> FloatArray:
        """Return the ray that is best in a direction."""
        self.programs += 1
        size = float(np.abs(direction).max()) or 1.0
        r: FloatArray = np.maximum(self.column.cheapest(-direction / size)[0], 0.0)
        return r / float(self.prior @ r)

    def climb(self, start: FloatArray, u: FloatArray) -> list[FloatArray]:
        """Return the ray that climbing ends at, if it is worth more than its price."""
        r, surplus = start / float(self.prior @ start), -np.inf
        for _ in range(STEPS):
            try:
                higher = self.best(self._slopes(r) - u)
            except SolverError:
                return []
            now = float(self.gain(higher[:, None])[0] - u @ higher)
            if now <= surplus + RISE:
                break
            r, surplus = higher, now
        return [r] if surplus > RISE else []

    def _slopes(self, r: FloatArray) -> FloatArray:
        """Return the slopes of the gain by differences."""
        step = STEP * np.maximum(r, 1e-3 * r.max())
        moved = np.diag(step)
        ahead = self.gain(r[:, None] + moved)
        behind = self.gain(np.maximum(r[:, None] - moved, 0.0))
        slopes: FloatArray = (ahead - behind) / (step + np.minimum(step, r))
        return slopes
