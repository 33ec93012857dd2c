"""A local search for columns of large surplus, for every cone.

The surplus g(r) - u . r of a convex gain is largest at an extreme ray, and is at least its tangent
at any column r0: a ray that maximizes the tangent has at least the surplus of r0. So each step of
the local search is a warm-started linear program, from many starts, until nothing rises (the
Frank-Wolfe method with full steps). It finds a good channel and good potentials, and proves no
bound: that comes from branch and bound over boxes (`branch_and_bound`), with the gap that it can
prove.
"""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.problem import Problem
from mechdesign.search.limits import Limits
from mechdesign.search.lp.warm_column import WarmColumn
from mechdesign.search.master import RestrictedMaster
from mechdesign.utilities import ColumnUtility

__all__ = ["LocalSearch", "loss_of", "search_rays_locally"]


ROUNDS, STEPS = 25, 8
"""Rounds of column generation, and the most steps of a local search."""

MOST_PROGRAMS, PROGRAMS_A_SECOND = 3_000, 150
"""The most linear programs in all, and how many for each second of a time limit."""

DIFFERENCE = 1e-6
"""The step of central differences for the slopes of a gain, relative to an entry."""

RISE = 1e-10
"""A smaller rise of the surplus, relative to the objective, is none."""

IDLE_ROUNDS = 3
"""So many rounds without a new ray end the search: each has other random starts."""


def loss_of(problem: Problem, utility: ColumnUtility, gain: float) -> float:
    """Return the objective at a sum of gains, as a loss."""
    if utility.is_maximized:
        return -gain
    return float(utility.offset(problem.domain, problem.prior)) - gain


def search_rays_locally(
    search: LocalSearch, limits: Limits
) -> tuple[RestrictedMaster, FloatArray, FloatArray]:
    """Return a program over rays, the best weights of them, and the potentials of the inputs.

    Meanwhile the only bound on the gain is that of telling everything.

    Raises
    ------
    SolverError
        If HiGHS fails on the first rays.
    """
    rng, k = np.random.default_rng(0), len(search.prior)
    most = limits.steps(MOST_PROGRAMS, PROGRAMS_A_SECOND)

    def is_enough() -> bool:
        return search.programs >= most or limits.expired()

    # the constant column, and rays in random directions
    found = [np.ones(k)]
    while len(found) <= 4 * k and not is_enough():
        found.append(search.best(rng.normal(size=k)))
    rays = np.column_stack(found)
    everything = search.loss(float(search.gain(np.eye(k)).sum()))
    idle = 0
    program = RestrictedMaster(rays, search.gain(rays))
    theta, u = program.solve()
    search.rise = RISE * abs(search.loss(float(program.gain @ theta)))
    for round_ in range(1, ROUNDS + 1):
        value = search.loss(float(program.gain @ theta))
        if limits.report(round_, value, everything):
            break
        starts = [*program.rays[:, theta > 0].T, *rng.dirichlet(np.ones(k), size=k)]
        better = []
        for start in starts:
            if is_enough():
                break
            better += search.ascend(start, u)
        if not better:
            idle += 1
            if idle >= IDLE_ROUNDS or is_enough():
                break
            continue
        idle = 0
        new = np.column_stack(better)
        program.add(new, search.gain(new))
        theta, u = program.solve()
    return program, theta, u


class LocalSearch:
    """Steps from column to ray, each a warm-started linear program over one column."""

    def __init__(self, problem: Problem, utility: ColumnUtility) -> None:
        self.prior, self.utility, self._problem = problem.prior.array, utility, problem
        self.column, self.programs = WarmColumn(problem.cone, self.prior), 0
        self.rise = 0.0

    def loss(self, gain: float) -> float:
        """Return the objective at a sum of gains, as a loss."""
        return loss_of(self._problem, self.utility, gain)

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of each ray."""
        return self.utility.gain(rays, self.prior)

    def best(self, direction: FloatArray) -> FloatArray:
        """Return the ray that is best in a direction."""
        self.programs += 1
        r = self.column.farthest(direction)
        return r / float(self.prior @ r)

    def ascend(self, start: FloatArray, u: FloatArray) -> list[FloatArray]:
        """Return the ray that the search from a column ends at, if its surplus is positive."""
        r, surplus = start / float(self.prior @ start), -np.inf
        for _ in range(STEPS):
            try:
                higher = self.best(self._slopes(r) - u)
            except SolverError:
                return []
            now = float(self.gain(higher[:, None])[0] - u @ higher)
            if now <= surplus + self.rise:
                break
            r, surplus = higher, now
        return [r] if surplus > self.rise else []

    def _slopes(self, r: FloatArray) -> FloatArray:
        """Return the slopes of the gain by central differences."""
        step = DIFFERENCE * np.maximum(r, 1e-3 * r.max())
        moved = np.diag(step)
        ahead = self.gain(r[:, None] + moved)
        behind = self.gain(np.maximum(r[:, None] - moved, 0.0))
        return np.asarray((ahead - behind) / (step + np.minimum(step, r)))
