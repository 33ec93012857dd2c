"""Columns of any cone whose gain splits by inputs: branch and bound, then local search."""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.search.generation import Pace, SurplusBound
from mechdesign.search.limits import Limits
from mechdesign.search.rays.branch_and_bound import BranchAndBound
from mechdesign.search.rays.local_search import LocalSearch

__all__ = ["AnyCone"]

ASCENTS = 40
"""The most columns of a round from which the local search goes on."""


class AnyCone:
    """Columns of any cone whose gain splits by inputs: branch and bound, then local search."""

    how, pace = "branch and bound", Pace()

    def __init__(self, boxes: BranchAndBound, local: LocalSearch) -> None:
        self.boxes, self.local, self.size = boxes, local, boxes.size
        self.steps_of_a_box = boxes.steps_of_a_box

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of rays, ``(n_inputs, n_rays)``."""
        return self.local.gain(rays)

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and extreme rays with a positive one.

        The points that branch and bound meets are starts of the local search.
        """
        priced = self.boxes.price(u, goal, boxes, limits)
        surplus = [float(self.boxes.gains(r).sum() - u @ r) for r in priced.rays]
        best = np.argsort(-np.array(surplus), kind="stable")[:ASCENTS]
        rays = [ray for n in best for ray in self.local.ascend(priced.rays[n], u)]
        return SurplusBound(priced.surplus, rays, priced.proof, priced.boxes)
