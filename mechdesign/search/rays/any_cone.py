"""Columns of any cone: a local search, then branch and bound where the gain splits by inputs."""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.problem import Problem
from mechdesign.search.generation import WORTH_ADDING, Pace, SurplusBound
from mechdesign.search.limits import Limits
from mechdesign.search.rays.boxes import BoxSearch
from mechdesign.search.rays.local_search import LocalSearch
from mechdesign.utilities import ColumnUtility

__all__ = ["AnyCone"]

FIRST_RAYS, TRIES = 4, 3
"""Rays in random directions at first, for each input; and how often the local search begins at
other random columns before it is given up."""

MOST_PROGRAMS, PROGRAMS_A_SECOND = 3_000, 150
"""The most linear programs before branch and bound, and how many for each second of a limit."""

ASCENTS = 40
"""The most columns of branch and bound from which the local search goes on."""


class AnyCone:
    """Rays from a local search; branch and bound, or the utility itself, bounds the surplus."""

    how, pace = "local search and branch and bound", Pace()

    def __init__(self, problem: Problem, utility: ColumnUtility, limits: Limits) -> None:
        self._problem, self._utility, self.prior = problem, utility, problem.prior.array
        self._local, self.size = LocalSearch(problem.cone, self.prior, self.gain), len(self.prior)
        self._boxes = BoxSearch.of(problem, utility)
        self.steps_of_a_box = 0 if self._boxes is None else self._boxes.steps_of_a_box
        self._most = limits.steps(MOST_PROGRAMS, PROGRAMS_A_SECOND)
        self._rng, self._is_rising = np.random.default_rng(0), True
        self._rays = self.first_rays(limits)

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``."""
        return self._utility.gain(rays, self.prior)

    def first_rays(self, limits: Limits) -> FloatArray:
        """Return the constant column, and rays in random directions."""
        found = [np.ones(self.size)]
        while len(found) <= FIRST_RAYS * self.size and not self._is_late(limits):
            found.append(self._local.best(self._rng.normal(size=self.size)))
        return np.column_stack(found)

    def _is_late(self, limits: Limits) -> bool:
        return self._local.programs >= self._most or limits.expired()

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and extreme rays with a positive one.

        The points that branch and bound meets are starts of the local search.
        """
        limits, rise = limits or Limits(), WORTH_ADDING * goal
        rays = self._risen(u, rise, limits)
        if rays or self._boxes is None:
            own = self._utility.surplus(u, self._problem)
            return SurplusBound(np.inf if own is None else own, rays, lambda _: None)
        priced = self._boxes.price(u, goal, boxes, limits)
        surplus = [float(self._boxes.gains(r).sum() - u @ r) for r in priced.rays]
        best = np.argsort(-np.array(surplus), kind="stable")[:ASCENTS]
        rays = [ray for n in best for ray in self._local.ascend(priced.rays[n], u, rise)]
        return SurplusBound(priced.surplus, rays, priced.proof, priced.boxes)

    def _risen(self, u: FloatArray, rise: float, limits: Limits) -> list[FloatArray]:
        """Return rays that the local search finds; once there are none it is over."""
        k, found = self.size, list[FloatArray]()
        best = np.argsort(u @ self._rays - self.gain(self._rays), kind="stable")[:k]
        starts = [*self._rays[:, best].T]
        for _ in range(TRIES * self._is_rising):
            for start in (*starts, *self._rng.dirichlet(np.ones(k), size=k)):
                if self._is_late(limits):
                    break
                found += self._local.ascend(start, u, rise)
            if found:
                self._rays = np.column_stack([self._rays, *found])
                return found
            starts = []
        self._is_rising = False
        return []
