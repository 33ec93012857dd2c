"""Sums of gains over outputs: a linear program over extreme rays of the cone.

A channel is a mixture of rays, Sum_r theta_r r = 1, and a convex gain is largest where each output
is one ray. So the concave problem is, exactly,

    maximise Sum_r theta_r g(r)   over theta >= 0 with Sum_r theta_r r = 1.

Where the rays are few they are listed. For lifts between two bounds, whose rays are too many beyond
some 15 inputs, the program starts with some and prices in more: the best ray at prices u is that
which maximises g(r) - u . r over l <= r_x <= u, P . r = 1, found by branch and bound, as that is a
separable convex function on a box and one equation.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import count

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
from mechdesign.routes.rays import all_rays
from mechdesign.utilities import ColumnUtility

__all__ = ["solve_by_rays"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

ROUNDS = 400
GOAL = 1e-7
"""Relative to the value: what the rounds aim at."""

LEAST_GOAL = 1e-13
FIRST_NODES, MOST_NODES = 64, 1 << 15
"""Boxes that the branch and bound looks at in a round: few at first, more as prices settle."""

PATIENCE = 12
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
    lifts = _Lifts.of(problem)
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


class _Lifts:
    """The polytope of lifts r = q / (P . q): low <= r_x <= high and P . r = 1."""

    def __init__(self, prior: FloatArray, low: FloatArray, high: FloatArray) -> None:
        self.prior, self.low, self.high = prior, low, high

    @classmethod
    def of(cls, problem: Problem) -> _Lifts | None:
        """Return it if one notion bounds the lift for one prior, and the gain splits by inputs."""
        (family, *more), utility = problem.cone.families, problem.utility
        if more or not isinstance(family, LiftRows) or not isinstance(family.priors, PriorList):
            return None
        if family.priors.members != (problem.prior.probabilities,):
            return None
        prior, k = problem.prior.array, len(problem.domain)
        probe = isinstance(utility, ColumnUtility) and utility.coordinate_gain(
            np.arange(k), np.ones(k), prior
        )
        if probe is None or probe is False:
            return None
        bounds = dict(family.sides())
        low, high = 0.0, np.inf
        if "lower" in bounds:
            low = float(np.exp(-float(bounds["lower"].exponent(family.epsilon))))
        if "upper" in bounds:
            high = float(np.exp(min(700.0, float(bounds["upper"].exponent(family.epsilon)))))
        if not np.isfinite(high) and prior.min() == 0:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(prior > 0, (1 - (1 - prior) * low) / prior, np.inf)
            least = np.where(prior > 0, (1 - (1 - prior) * high) / prior, low)
        return cls(prior, np.maximum(low, least), np.minimum(high, most))


class _Box:
    """Part of the polytope, with a bound on the surplus in it, and the ray that the bound is near.

    The surplus g(r) - u . r is convex in each r_x: at most its chord on the box. The best of the
    chords is found by filling up lifts in the order of their worth, which leaves one in between.
    """

    def __init__(self, search: _Search, low: FloatArray, high: FloatArray) -> None:
        self.low, self.high = low, high
        P, u = search.lifts.prior, search.potential
        at_low, at_high = search.worth(low), search.worth(high)
        width = high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(width > 0, (at_high - at_low) / width, 0.0) - u
            order = np.argsort(-np.where(P > 0, slope / P, np.inf * np.sign(slope)))
        free = (P == 0) & (slope > 0)
        r = np.where(free, high, low)
        left = 1.0 - float(P @ r)
        self.bound = float((np.where(free, at_high, at_low) - u * r).sum())
        order = order[P[order] > 0]
        room = np.cumsum((P * width)[order])
        full = int(np.searchsorted(room, left))
        r[order[:full]] = high[order[:full]]
        self.bound += float((slope * width)[order[:full]].sum())
        self.cut = -1
        if full < len(order) and left > 0:
            self.cut = int(order[full])
            step = (left - (room[full - 1] if full else 0.0)) / P[self.cut]
            r[self.cut] = low[self.cut] + step
            self.bound += float(slope[self.cut] * step)
        self.ray = r

    def halves(self, search: _Search) -> list[_Box]:
        """Cut at the lift in between, where the chord is worst; nothing where none is."""
        x, point = self.cut, self.ray[self.cut]
        if x < 0 or not self.low[x] < point < self.high[x]:
            return []
        high, low = self.high.copy(), self.low.copy()
        high[x] = low[x] = point
        return [_Box(search, self.low, high), _Box(search, low, self.high)]


class _Search:
    """Column generation: a program over the rays met so far, and branch and bound for more."""

    def __init__(self, lifts: _Lifts, utility: ColumnUtility, problem: Problem) -> None:
        self.lifts, self.utility = lifts, utility
        self.k = len(lifts.prior)
        self.whole = float(utility.offset(problem.domain, problem.prior))
        self.rays: FloatArray = np.column_stack(self._first())
        self.theta: FloatArray = np.zeros(self.rays.shape[1])
        self.potential: FloatArray = np.zeros(self.k)
        self.surplus = np.inf
        self.rounds = self.nodes = 0
        self._best: tuple[float, FloatArray, float, int] = (np.inf, self.potential, np.inf, 1)

    def worth(self, r: FloatArray) -> FloatArray:
        """Return h_x(r_x) for each input."""
        found: FloatArray = self.utility.coordinate_gain(np.arange(self.k), r, self.lifts.prior)
        return found

    def gain(self, rays: FloatArray) -> FloatArray:
        """Return the gain of each ray, which all have P . r = 1."""
        return np.array([self.worth(ray).sum() for ray in rays.T])

    def _first(self) -> list[FloatArray]:
        """Return rays with some lifts at the top, in random orders but the same in every run."""
        rng = np.random.default_rng(0)
        lifts, found = self.lifts, [np.ones(self.k)]
        for _ in range(20 * self.k):
            order = rng.permutation(self.k)
            order = order[lifts.prior[order] > 0]
            r = lifts.low.copy()
            r[lifts.prior == 0] = 1.0
            left = 1.0 - float(lifts.prior @ r)
            for x in order:
                step = min(lifts.high[x] - r[x], left / lifts.prior[x])
                r[x] += max(step, 0.0)
                left -= step * lifts.prior[x]
                if left <= 1e-16:
                    break
            found.append(r)
        return found

    def run(self) -> None:
        """Solve, price, add rays, and again until the bound is near or nothing moves."""
        gains = self.gain(self.rays)
        nodes, idle = FIRST_NODES, 0
        for self.rounds in range(1, ROUNDS + 1):
            self.theta, self.potential = master(self.rays, gains)
            value = float(gains @ self.theta)
            loss = abs(value if self.utility.is_maximised else self.whole - value)
            goal = max(GOAL * loss, LEAST_GOAL)
            bound, found, seen = self._price(goal, nodes)
            upper = float(self.potential.sum()) + max(bound, 0.0)
            better = upper < self._best[0] - 0.05 * (self._best[0] - value)
            if upper < self._best[0]:
                self._best = (upper, self.potential, bound, seen)
            if self._best[0] - value <= 2 * goal:
                return
            idle = 0 if better else idle + 1
            if not found or idle >= PATIENCE:
                if nodes >= MOST_NODES:
                    return
                nodes, idle = 8 * nodes, 0
            if found:
                new = np.column_stack(found)
                self.rays = np.column_stack([self.rays, new])
                gains = np.concatenate([gains, self.gain(new)])

    def _price(self, goal: float, nodes: int) -> tuple[float, list[FloatArray], int]:
        """Return a bound on the surplus of any ray, rays that have some, and the boxes seen."""
        tie, found = count(), list[FloatArray]()
        root = _Box(self, self.lifts.low, self.lifts.high)
        heap = [(-root.bound, next(tie), root)]
        settled, seen = -np.inf, 1
        while heap and seen < nodes:
            bound, _, box = heapq.heappop(heap)
            surplus = float(self.worth(box.ray).sum() - self.potential @ box.ray)
            if surplus > 1e-3 * goal:
                found.append(box.ray)
            if -bound <= max(goal, settled):
                return max(-bound, settled), found, seen
            settled = max(settled, surplus)
            for half in box.halves(self):
                heapq.heappush(heap, (-half.bound, next(tie), half))
                seen += 1
        return max(settled, -heap[0][0] if heap else settled), found, seen

    @property
    def upper(self) -> float:
        """The least bound met on the sum of the gains."""
        return self._best[0]

    def dual(self) -> Dual:
        """Return the best prices met, and how long the checker must search at them."""
        _, potential, surplus, nodes = self._best
        return Dual((), potential=potential, search="lifts", nodes=2 * nodes + 64, surplus=surplus)

    def notes(self) -> list[str]:
        """Return what was done, in a sentence."""
        return [f"{self.rounds} rounds of pricing by branch and bound, {len(self.theta)} rays met"]
