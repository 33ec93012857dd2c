"""The largest sum of convex gains over outputs: a linear program over extreme rays of the cone.

A channel is a mixture of rays, Sum_r theta_r r = 1, and a convex gain is largest where each output
is one ray. So maximizing the convex function is, exactly, the linear program

    maximize Sum_r theta_r g(r)   over theta >= 0 with Sum_r theta_r r = 1.

Its dual has potentials u of the inputs. For any u, and columns scaled to P . r = 1, the gain of a
channel is at most Sum_x u_x + max_r (g(r) - u . r), the sum and the largest surplus: that is the
bound. Where the rays are few they are listed. For lifts between two bounds, whose rays are too many
beyond some inputs, it is solved by column generation (`lift_polytope`). Where neither is possible,
rays are found by local search (`local_search`), and the bound is what branch and bound over boxes
(`branch_and_bound`) can prove.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.notions.rows.cone import Cone
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.column_generation.master import RestrictedMaster, solve_master
from mechdesign.routes.limits import Limits
from mechdesign.routes.rays.box_tree import SurplusBound
from mechdesign.routes.rays.branch_and_bound import WORTH_ADDING, BranchAndBound
from mechdesign.routes.rays.enumerate import all_rays
from mechdesign.routes.rays.lift_polytope import LiftPolytope
from mechdesign.routes.rays.local_search import loss_of, search_rays_locally
from mechdesign.utilities import ColumnUtility

__all__ = ["set_vertices", "solve_by_rays"]


ROUNDS = 1000
GOAL, ENOUGH = 3e-7, 0.4
"""Relative to the value: what the rounds aim at, or this share of the gap that is wanted. They end
within twice as much."""

LEAST_GOAL = 1e-13
FIRST_BOXES, MOST_ENTRIES = 64, 600_000
"""Boxes that branch and bound looks at in a round, few at first, more as potentials settle; and how
many they can become, times inputs."""

MOST_BOXES_IN_ALL = 400_000
"""Beyond so many boxes the rounds end, with the bound that there is."""

SMOOTHING = 0.5
"""The share of the best potentials so far in those that are priced."""

PATIENCE, BETTER = 12, 0.05
"""After so many rounds that save less than this share of the gap, more boxes are allowed."""

USED = 1e-12
"""Rays with a smaller weight are left out of the channel."""

LISTED_UP_TO = 8
"""Inputs up to which all rays are listed under every notion."""

MOST_CUTS = 40_000
"""Boxes times inputs that the bound after local search may take."""


def solve_by_rays(problem: Problem, limits: Limits | None = None) -> RawSolution:
    """Find the best channel for a sum of gains, by its extreme rays.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.ColumnUtility`.
    limits
        When to stop; default at the optimum.

    Raises
    ------
    UnsupportedError
        If the utility is another.
    SolverError
        If HiGHS fails.
    """
    limits, utility = limits or Limits(), problem.utility
    if not isinstance(utility, ColumnUtility):
        raise UnsupportedError("objective", "a sum of gains over outputs", utility.name)
    utility = utility.on(problem.domain)
    lifts = LiftPolytope.of(problem, utility) if len(problem.domain) > LISTED_UP_TO else None
    if lifts is not None:
        search = _RayGeneration(lifts, utility, problem, limits)
        search.run()
        rays = search.program.rays
        found = _Found(rays, search.theta, search.dual(), search.upper, search.notes())
    else:
        try:
            found = _by_all_rays(problem, utility, limits)
        except UnsupportedError:
            found = _by_local_search(problem, utility, limits)
    used = found.theta > USED
    matrix = found.rays[:, used] * found.theta[used]
    bound = None
    if not utility.exact:
        # no channel exceeds the gain where everything is told
        everything = utility.gain(np.eye(len(problem.domain)), problem.prior.array).sum()
        most = min(found.most, float(everything))
        bound = utility.objective_at(most, problem.domain, problem.prior)
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, found.dual, "extreme-rays: HiGHS", found.notes, bound)


@dataclass(frozen=True)
class _Found:
    """Rays, their weights, the dual that proves a bound, and that bound in floats."""

    rays: FloatArray
    theta: FloatArray
    dual: Dual | None
    most: float
    notes: list[str]


def _by_all_rays(problem: Problem, utility: ColumnUtility, limits: Limits) -> _Found:
    prior, rays = problem.prior.array, all_rays(problem.cone, limits)
    gain, output = utility.gain(rays, prior), prior @ rays
    theta, u = solve_master(rays, gain)
    occurs = output > 0
    # by duality the largest surplus is 0; what rounding leaves of it, scaled to P . r = 1, is added
    most = float(u.sum() + ((gain - u @ rays)[occurs] / output[occurs]).max())
    value = loss_of(problem, utility, float(gain @ theta))
    limits.tell(1, value, loss_of(problem, utility, most))
    dual = Dual((), potentials=u, search="rays", priors=set_vertices(problem.cone))
    notes = [f"all {rays.shape[1]} extreme rays of the cone were listed"]
    return _Found(rays, theta, dual, most, notes)


def _by_local_search(problem: Problem, utility: ColumnUtility, limits: Limits) -> _Found:
    rays, theta, u = search_rays_locally(problem, utility, limits)
    notes = [f"too many extreme rays to list: {rays.shape[1]} were found by local search"]
    own = utility.surplus(u, problem)
    if own is not None:
        return _Found(rays, theta, None, float(u.sum()) + own, notes)
    boxes = BranchAndBound.of(problem, utility)
    if boxes is None:
        return _Found(rays, theta, None, np.inf, notes)
    cuts = max(64, MOST_CUTS // len(u))
    loss = abs(loss_of(problem, utility, float(utility.gain(rays, problem.prior.array) @ theta)))
    goal = max(LEAST_GOAL, ENOUGH * limits.gap * loss)
    priced = boxes.price(u, goal, cuts, limits)
    dual = Dual((), potentials=u, search="boxes", tree=priced.tree)
    notes.append(f"the bound is from branch and bound over {priced.boxes} boxes")
    return _Found(rays, theta, dual, float(u.sum()) + priced.surplus, notes)


def set_vertices(cone: Cone) -> dict[int, tuple[Weights, ...]]:
    """Return the priors that the rows of the cone were written out for, by notion."""
    return {
        n: lifts.priors.vertices()
        for n, family in enumerate(cone.families)
        if (lifts := family.lift_rows()) is not None and not lifts.priors.members
    }


class _RayGeneration:
    """Column generation: a restricted master problem over some rays, and pricing for more.

    Potentials are smoothed: those that are priced are a mean of those of the master problem and the
    best so far, which keeps them from oscillating (Wentges 1997).
    """

    def __init__(
        self, lifts: LiftPolytope, utility: ColumnUtility, problem: Problem, limits: Limits
    ) -> None:
        self.lifts, self.utility, self.problem, self.limits = lifts, utility, problem, limits
        first = lifts.first_rays(limits)
        self.program = RestrictedMaster(first, lifts.gain(first))
        self.theta: FloatArray = np.zeros(first.shape[1])
        self.rounds = self.boxes = 0
        self.upper = np.inf
        """The least bound met on the sum of the gains."""
        self._best: tuple[FloatArray, SurplusBound] | None = None

    def run(self) -> None:
        """Solve, price, add rays, and again until the bound is near or nothing moves."""
        boxes, idle = FIRST_BOXES, 0
        most = MOST_ENTRIES // self.lifts.size
        for self.rounds in range(1, ROUNDS + 1):
            self.theta, potentials = self.program.solve()
            value = float(self.program.gain @ self.theta)
            loss = loss_of(self.problem, self.utility, value)
            goal = max(max(GOAL, ENOUGH * self.limits.gap) * abs(loss), LEAST_GOAL)
            before = self.upper
            priced = self._try(self._smoothed(potentials), goal, boxes)
            useful = self._useful(priced.rays, potentials, goal)
            # rays found at smoothed potentials may not help the master problem: then at its own
            if not useful and not self.limits.over():
                useful = self._useful(self._try(potentials, goal, boxes).rays, potentials, goal)
            self.limits.tell(self.rounds, loss, loss_of(self.problem, self.utility, self.upper))
            if self.upper - value <= 2 * goal or self.limits.over():
                return
            idle = 0 if self.upper < before - BETTER * (before - value) else idle + 1
            if self.boxes > MOST_BOXES_IN_ALL:
                return
            if not useful or idle >= PATIENCE:
                if boxes >= most or self.lifts.counts:
                    return
                boxes, idle = min(8 * boxes, most), 0
            if useful:
                new = np.column_stack(useful)
                self.program.add(new, self.lifts.gain(new))

    def _smoothed(self, potentials: FloatArray) -> FloatArray:
        if self._best is None:
            return potentials
        return SMOOTHING * self._best[0] + (1 - SMOOTHING) * potentials

    def _try(self, u: FloatArray, goal: float, boxes: int) -> SurplusBound:
        """Price, and keep the potentials if their bound is the least so far."""
        priced = self.lifts.price(u, goal, boxes, self.limits)
        self.boxes += priced.boxes
        upper = float(u.sum()) + priced.surplus
        if upper < self.upper:
            self.upper, self._best = upper, (u, priced)
        return priced

    def _useful(
        self, found: list[FloatArray], potentials: FloatArray, goal: float
    ) -> list[FloatArray]:
        """Return the rays with a positive surplus at the potentials of the master problem."""
        if not found:
            return []
        new = np.column_stack(found)
        better = self.lifts.gain(new) - potentials @ new > WORTH_ADDING * goal
        return [ray for ray, keep in zip(found, better, strict=True) if keep]

    def dual(self) -> Dual:
        """Return the best potentials met, and what tells the checker how to bound the surplus."""
        if self._best is None:
            raise UnsupportedError("objective", "a gain that can be priced", self.utility.name)
        u, priced = self._best
        if self.lifts.counts:
            return Dual((), potentials=u, search="sums")
        return Dual((), potentials=u, search="boxes", tree=priced.tree)

    def notes(self) -> list[str]:
        """Return what was done, in a sentence."""
        how = "dynamic programming over sums" if self.lifts.counts else "branch and bound"
        return [f"{self.rounds} rounds of pricing by {how}, {len(self.theta)} rays in the program"]
