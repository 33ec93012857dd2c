"""Sums of gains over outputs: a linear program over extreme rays of the cone.

A channel is a mixture of rays, Sum_r theta_r r = 1, and a convex gain is largest where each output
is one ray. So the concave problem is, exactly,

    maximise Sum_r theta_r g(r)   over theta >= 0 with Sum_r theta_r r = 1.

Where the rays are few they are listed. For lifts between two bounds, whose rays are too many beyond
some 15 inputs, the program starts with some and prices in more (see `lift_rays`).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.notions.cone import Cone
from mechdesign.notions.lift_rows import LiftRows
from mechdesign.prior_sets import PriorList, Weights
from mechdesign.problem import Problem
from mechdesign.routes.base import Dual, RawSolution
from mechdesign.routes.highs import LinearProgram, solve_lp
from mechdesign.routes.lift_rays import WORTH, LiftPolytope, Priced
from mechdesign.routes.rays import all_rays
from mechdesign.utilities import ColumnUtility

__all__ = ["solve_by_rays"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

ROUNDS = 1000
GOAL = 3e-7
"""Relative to the value: what the rounds aim at."""

LEAST_GOAL = 1e-13
FIRST_BOXES, MOST_BOXES = 64, 1 << 15
"""Boxes that branch and bound looks at in a round: few at first, more as prices settle."""

SMOOTHING = 0.5
PATIENCE = 12
MOST_KEPT = 100
"""Rays kept in the program, by input."""

USED = 1e-12


def solve_by_rays(problem: Problem) -> RawSolution:
    """Find the best channel for a sum of gains, by its extreme rays.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.ColumnUtility`.

    Raises
    ------
    UnsupportedError
        If the utility is another, or the rays are too many.
    SolverError
        If HiGHS fails.
    """
    utility = problem.utility
    if not isinstance(utility, ColumnUtility):
        raise UnsupportedError("objective", "a sum of gains over outputs", utility.name)
    prior = problem.prior.array
    lifts = LiftPolytope.of(problem)
    if lifts is not None:
        search = _Search(lifts, utility, problem)
        search.run()
        rays, theta, dual, notes = search.rays, search.theta, search.dual(), search.notes()
        most = search.upper
    else:
        rays = all_rays(problem.cone)
        gain, law = utility.gain(rays, prior), prior @ rays
        theta, u = master(rays, gain)
        dual = Dual((), potential=u, search="rays", priors=_vertices(problem.cone))
        notes = [f"all {rays.shape[1]} extreme rays of the cone were listed"]
        occurs = law > 0
        most = float(u.sum() + ((gain - u @ rays)[occurs] / law[occurs]).max())
    used = theta > USED
    matrix = rays[:, used] * theta[used]
    bound = None
    if not utility.exact:
        whole = utility.offset(problem.domain, problem.prior)
        bound = Fraction(most) if utility.is_maximised else whole - Fraction(most)
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, dual, "extreme-rays: HiGHS", notes, bound)


def master(rays: FloatArray, gain: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the best weights theta of rays with Sum theta r = 1, and the prices of the inputs.

    Parameters
    ----------
    rays, gain
        ``(n_inputs, n_rays)`` and ``(n_rays,)``.
    """
    scale = float(np.abs(gain).max()) or 1.0
    one = np.ones(len(rays))
    found = solve_lp(LinearProgram(-gain / scale, sp.csr_array(rays), one, one), "simplex")
    return found.primal, -scale * found.dual


def _vertices(cone: Cone) -> dict[int, tuple[Weights, ...]]:
    """Return the priors that the rows of the cone were written out for, by notion."""
    return {
        n: family.priors.vertices()
        for n, family in enumerate(cone.families)
        if isinstance(family, LiftRows) and not isinstance(family.priors, PriorList)
    }


class _Search:
    """Column generation: a program over the rays met so far, and pricing for more.

    Prices are smoothed: the next to be tried lie between those of the program and the best so far,
    which keeps them from swinging (Wentges 1997).
    """

    def __init__(self, lifts: LiftPolytope, utility: ColumnUtility, problem: Problem) -> None:
        self.lifts, self.utility = lifts, utility
        self.whole = float(utility.offset(problem.domain, problem.prior))
        self.rays: FloatArray = lifts.first_rays()
        self.gains: FloatArray = lifts.gain(self.rays)
        self.theta: FloatArray = np.zeros(len(self.gains))
        self.rounds = 0
        self.upper = np.inf
        """The least bound met on the sum of the gains."""
        self._best: tuple[FloatArray, Priced] | None = None

    def run(self) -> None:
        """Solve, price, add rays, and again until the bound is near or nothing moves."""
        boxes, idle = FIRST_BOXES, 0
        for self.rounds in range(1, ROUNDS + 1):
            self.theta, potential = master(self.rays, self.gains)
            value = float(self.gains @ self.theta)
            loss = abs(value if self.utility.is_maximised else self.whole - value)
            goal = max(GOAL * loss, LEAST_GOAL)
            before = self.upper
            priced = self._try(self._smoothed(potential), goal, boxes)
            found = priced.rays
            if not self._useful(found, potential, goal):
                found = found + self._try(potential, goal, boxes).rays
            if self.upper - value <= 2 * goal:
                return
            idle = 0 if self.upper < before - 0.05 * (before - value) else idle + 1
            if not self._useful(found, potential, goal) or idle >= PATIENCE:
                if boxes >= MOST_BOXES or self.lifts.counts:
                    return
                boxes, idle = 8 * boxes, 0
            self._add(found, potential)

    def _smoothed(self, potential: FloatArray) -> FloatArray:
        if self._best is None:
            return potential
        return SMOOTHING * self._best[0] + (1 - SMOOTHING) * potential

    def _try(self, u: FloatArray, goal: float, boxes: int) -> Priced:
        """Price, and keep the prices if their bound is the least so far."""
        priced = self.lifts.price(u, goal, boxes)
        upper = float(u.sum()) + priced.surplus
        if upper < self.upper:
            self.upper, self._best = upper, (u, priced)
        return priced

    def _useful(self, found: list[FloatArray], potential: FloatArray, goal: float) -> bool:
        """Return whether a ray would improve the program."""
        if not found:
            return False
        new = np.column_stack(found)
        return bool((self.lifts.gain(new) - potential @ new).max() > WORTH * goal)

    def _add(self, found: list[FloatArray], potential: FloatArray) -> None:
        """Add rays, and forget those that cost most if they are too many."""
        if found:
            new = np.column_stack(found)
            self.rays = np.column_stack([self.rays, new])
            self.gains = np.concatenate([self.gains, self.lifts.gain(new)])
        if self.rays.shape[1] > MOST_KEPT * self.lifts.size:
            surplus = self.gains - potential @ self.rays
            kept = np.sort(np.argsort(-surplus)[: MOST_KEPT * self.lifts.size // 2])
            self.rays, self.gains = self.rays[:, kept], self.gains[kept]

    def dual(self) -> Dual:
        """Return the best prices met, and how long the checker must search at them."""
        if self._best is None:
            raise UnsupportedError("objective", "a gain that can be priced", self.utility.name)
        u, priced = self._best
        if self.lifts.counts:
            return Dual((), potential=u, search="sums")
        surplus, boxes = priced.surplus, 2 * priced.boxes + 64
        return Dual((), potential=u, search="lifts", nodes=boxes, surplus=surplus)

    def notes(self) -> list[str]:
        """Return what was done, in a sentence."""
        how = "dynamic programming over sums" if self.lifts.counts else "branch and bound"
        return [f"{self.rounds} rounds of pricing by {how}, {len(self.theta)} rays in the program"]
