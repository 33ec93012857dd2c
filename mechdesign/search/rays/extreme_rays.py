"""The largest sum of convex gains over outputs: a linear program over extreme rays of the cone.

A channel is a mixture of rays, Sum_r theta_r r = 1, and a convex gain is largest if each output is
one ray. So maximizing the convex function is, exactly, the linear program

    maximize Sum_r theta_r g(r)   over theta >= 0 with Sum_r theta_r r = 1.

Its dual has potentials u of the inputs. For any u, and columns scaled to P . r = 1, the gain of a
channel is at most Sum_x u_x + max_r (g(r) - u . r), the sum plus the largest surplus. Column
generation solves it (:mod:`mechdesign.search.generation`). The surplus is bounded by a list of all
rays if there are few (:class:`ListedRays`), by dynamic programming for lifts between two bounds
(`lift_polytope`), by a search over the sets of inputs that rays of one budget raise
(`raised_sets`), or by branch and bound over boxes (:class:`AnyCone`).

In any cone a local search finds rays. The surplus is at least its tangent at any column r0, so a
ray that maximizes the tangent has at least the surplus of r0: each step is a warm-started linear
program, until nothing improves (the Frank-Wolfe method with full steps).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import Proof, certificate, negated, unproved
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.linearizations import AsGain
from mechdesign.kernel.oracles import DoubleDescription, Rays, Subsets
from mechdesign.notions.rows.cone import Cone
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.resources import current
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.forms import OneBudgetCone
from mechdesign.search.decoders.search import solve_decoders
from mechdesign.search.generation import WORTH_ADDING, Generation, Pace, SurplusBound
from mechdesign.search.highs import RestrictedMaster
from mechdesign.search.limits import ENTRIES_A_STEP, STEPS_A_SECOND, Limits
from mechdesign.search.lp.lp_pricer import LPPricer
from mechdesign.search.rays.boxes import BoxSearch
from mechdesign.search.rays.chords import ChordPricer
from mechdesign.search.rays.enumerate import all_rays
from mechdesign.search.rays.lift_polytope import LiftPolytope
from mechdesign.search.rays.raised_sets import RaisedSets
from mechdesign.solver_guard import called
from mechdesign.utilities import ChiSquared, ColumnUtility, Divergence

Gain: TypeAlias = Callable[[FloatArray], FloatArray]

STEPS = 8
"""The largest number of steps of a local search."""

DIFFERENCE = 1e-6
"""The step of central differences for the slopes of a gain, relative to an entry."""

FIRST_RAYS, TRIES, LEAST_STARTS = 4, 3, 24
"""The number of initial rays in random directions, times inputs; the number of restarts of the
local search at other columns, times inputs; and its minimum."""

PACE = Pace()

ASCENTS = 40
"""The largest number of columns of branch and bound used as starts of the local search."""


class AnyCone:
    """Rays from a local search; boxes, or the utility's own bound, limit the surplus.

    Parameters
    ----------
    cone, prior
        The cone of the column, and P in P . r = 1.
    gain
        Returns the gain of columns, ``(n_inputs, n)``.
    limits
        The limits of the search.
    slopes
        Returns the slopes of the gain at a column with P . r = 1; default by differences.
    first
        Private columns as starts, besides rays in random directions.
    boxes
        Branch and bound; None if the gain is not separable by inputs.
    own
        Returns a bound on the surplus at potentials, or None.
    most, pace
        The largest number of linear programs of the local search, and the pace of the rounds.
    """

    how = "local search and branch and bound"

    def __init__(
        self,
        cone: Cone,
        prior: FloatArray,
        gain: Gain,
        limits: Limits,
        slopes: Gain | None = None,
        first: FloatArray | None = None,
        boxes: BoxSearch | None = None,
        own: Callable[[FloatArray], float | None] = lambda _: None,
        most: float = math.inf,
        pace: Pace = PACE,
    ) -> None:
        self.gain, self.size, self.pace = gain, len(prior), pace
        self._prior, self._slopes = prior, slopes or self._differences
        self._boxes, self._own = boxes, own
        self.steps_of_a_box = 0 if boxes is None else boxes.steps_of_a_box
        self._column, self._programs, self._most = LPPricer(cone, prior), 0, most
        self._rng, self._is_rising = np.random.default_rng(0), True
        found = [np.ones(self.size)] if first is None else [*first.T]
        k, eye = self.size, np.eye(self.size)
        directions = [*eye, *-eye, *self._rng.normal(size=(FIRST_RAYS * k, k))]
        found += [self._best(v) for v in directions if not self._is_late(limits)]
        self.rays = np.column_stack(found)

    def first_rays(self, _limits: Limits) -> FloatArray:
        """Return the initial columns of a search."""
        return self.rays

    def _is_late(self, limits: Limits) -> bool:
        return self._programs >= self._most or limits.expired()

    def price(
        self, u: FloatArray, goal: float, boxes: int, limits: Limits | None = None
    ) -> SurplusBound:
        """Return a bound on the surplus of all columns, and extreme rays with a positive one.

        The points of branch and bound are starts of the local search. Without boxes the first box
        bounds all columns.
        """
        limits, rise = limits or Limits(), WORTH_ADDING * goal
        rays = self._risen(u, rise, limits) if boxes else []
        if rays or self._boxes is None:
            own = self._own(u)
            return SurplusBound(np.inf if own is None else own, rays, unproved)
        priced = self._boxes.price(u, goal, boxes, limits)
        surplus = [float(self._boxes.gains(r).sum() - u @ r) for r in priced.rays]
        best = np.argsort(-np.array(surplus), kind="stable")[:ASCENTS]
        rays = [ray for n in best for ray in self._ascend(priced.rays[n], u, rise)]
        return SurplusBound(priced.surplus, rays, priced.proof, priced.boxes)

    def _risen(self, u: FloatArray, rise: float, limits: Limits) -> list[FloatArray]:
        """Return rays found by the local search; without any it is over."""
        n, found = max(LEAST_STARTS, 2 * self.size), list[FloatArray]()
        best = np.argsort(u @ self.rays - self.gain(self.rays), kind="stable")[:n]
        starts = [*self.rays[:, best].T, *np.abs(self._rng.normal(size=(n, self.size)))]
        for _ in range(TRIES * self._is_rising):
            for start in starts:
                if self._is_late(limits):
                    break
                found += self._ascend(start, u, rise)
            if found:
                self.rays = np.column_stack([self.rays, *found])
                return found
            i, j = self._rng.integers(self.rays.shape[1], size=(2, n))
            starts = [*(self.rays[:, i] + self._rng.random(size=n) * self.rays[:, j]).T]
        self._is_rising = False
        return []

    def _best(self, direction: FloatArray) -> FloatArray:
        """Return the best ray in a direction."""
        self._programs += 1
        r = self._column.solve(-direction).primal
        if not r.any():
            raise SolverError("the cone has no vertex")
        return r / float(self._prior @ r)

    def _ascend(self, start: FloatArray, u: FloatArray, rise: float) -> list[FloatArray]:
        """Return the ray at the end of the search from a column, if its surplus exceeds ``rise``.

        The search ends with a step that raises the surplus by less.
        """
        r, surplus = start / float(self._prior @ start), -np.inf
        for _ in range(STEPS):
            try:
                higher = self._best(self._slopes(r) - u)
            except SolverError:
                return []
            now = float(self.gain(higher[:, None])[0] - u @ higher)
            if now <= surplus + rise:
                break
            r, surplus = higher, now
        return [r] if surplus > rise else []

    def _differences(self, r: FloatArray) -> FloatArray:
        step = DIFFERENCE * np.maximum(r, 1e-3 * r.max())
        moved = np.diag(step)
        ahead = self.gain(r[:, None] + moved)
        behind = self.gain(np.maximum(r[:, None] - moved, 0.0))
        return np.asarray((ahead - behind) / (step + np.minimum(step, r)))


ADDED = 100
"""The largest number of listed rays added in a round."""

MOST_PROGRAMS, PROGRAMS_A_SECOND = 3_000, 150
"""The largest number of linear programs of a local search, in total and per second of the limit."""

LISTED_UP_TO = 8
"""The number of inputs up to which all rays are listed under every notion."""

SHARE = 0.3
"""The share of the time for the columns that separate two mixtures."""

MOST_OF_A_LIFT = 12
"""The number of inputs up to which the rays of one lift are listed where boxes serve as well."""


def solve_by_rays(
    problem: Problem, limits: Limits | None = None, near: FloatArray | None = None
) -> RawSolution:
    """Find the best channel for a sum of gains, by its extreme rays.

    The pricing starts at the columns ``near``, ``(n_inputs, n_outputs)``, nonzero and private.
    """
    limits, utility = limits or Limits(), problem.utility
    if not isinstance(utility, ColumnUtility):
        raise UnsupportedError("objective", "a sum of gains over outputs", utility.name)
    utility, k = utility.on(problem.domain), len(problem.domain)
    pricer = _pricer(problem, utility, limits)
    first = pricer.first_rays(limits)
    center: Any = np.zeros(k) if isinstance(pricer, RaisedSets) else None
    if isinstance(pricer, AnyCone | ChordPricer) and isinstance(utility, Divergence):
        first = np.hstack([first, _separating(problem, utility, limits)])
    if near is not None:  # at an optimum each column's gain is its price
        near = near / (problem.prior.array @ near)
        center = called("LAPACK", np.linalg.lstsq, near.T, pricer.gain(near), rcond=None)[0]
        first = np.hstack([first, near])
    program = RestrictedMaster(first, pricer.gain(first), limits=limits.step(1.0))
    offset = 0.0 if utility.is_maximized else float(utility.offset(problem.domain, problem.prior))
    search = Generation(pricer, program, lambda gain: offset - gain, limits, center)
    search.run()
    matrix, bound = search.columns, None
    if not utility.exact:
        # no channel exceeds the gain of the identity
        everything = utility.gain(np.eye(k), problem.prior.array).sum()
        most = min(offset - search.bound, float(everything))
        bound = utility.objective_at(most, problem.domain, problem.prior)
    outputs = name_outputs(problem, matrix.shape[1])
    notes = [pricer.how] if isinstance(pricer, ListedRays) else search.notes()
    return RawSolution(matrix, outputs, search.proofs, "extreme-rays: HiGHS", notes, bound)


def _separating(problem: Problem, utility: Divergence, limits: Limits) -> FloatArray:
    """Return the columns that separate the two mixtures best, in chi-squared from their mean.

    It is found exactly by decoders, and is nearly proportional to any other divergence of laws that
    are similar.
    """
    first, second = utility.weights(problem.domain)
    middle = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
    similar = ChiSquared(list(first), middle)
    whole = Problem(problem.domain, problem.privacy, similar, prior=problem.prior)
    with suppress(SolverError):
        columns = solve_decoders(whole, limits.part(share=SHARE)).matrix
        return np.asarray(columns / columns.max(axis=0))
    return np.zeros((len(middle), 0))


def _pricer(
    problem: Problem, utility: ColumnUtility, limits: Limits
) -> LiftPolytope | ListedRays | RaisedSets | ChordPricer | AnyCone:
    lifts = LiftPolytope.of(problem, utility) if len(problem.domain) > LISTED_UP_TO else None
    if lifts is not None:
        return lifts
    prior, k = problem.prior.array, len(problem.domain)
    if k**3 > ENTRIES_A_STEP * STEPS_A_SECOND * limits.left:  # it closes the ratios of all pairs
        raise SolverError(f"a search for rays on {k:,} inputs takes too long")

    def gain(rays: FloatArray) -> FloatArray:
        return utility.gain(rays, prior)

    splits = utility.entry_gains(np.ones(k), prior) is not None
    boxes = BoxSearch.of(problem, utility, limits) if splits else None
    (family, *more), listed = problem.cone.families, None
    # the checker bounds a box in fewer steps than it needs to list the rays of one lift
    if not (boxes and k > MOST_OF_A_LIFT and not more and family.lift_rows()):
        with suppress(UnsupportedError):
            listed = all_rays(problem.cone, limits)
            most = limits.steps(current().proof_steps, STEPS_A_SECOND)
            if not boxes or _steps_to_list(problem) <= most:
                return ListedRays(listed, prior, gain, lambda u: partial(_listed, u))
    if sets := RaisedSets.of(problem, utility, boxes):
        return sets
    if chords := ChordPricer.of(problem, utility):
        return chords
    own = partial(utility.surplus, problem=problem)
    most = limits.steps(MOST_PROGRAMS, PROGRAMS_A_SECOND)
    return AnyCone(problem.cone, prior, gain, limits, first=listed, boxes=boxes, own=own, most=most)


def _steps_to_list(problem: Problem) -> int:
    """Return the kernel's steps to price all rays."""
    statement = problem.compiled.statement
    aim = statement.objective
    return listed_rays(problem).steps(statement, AsGain()(statement)) if aim is not None else 0


class ListedRays:
    """All extreme rays."""

    steps_of_a_box = 0

    def __init__(
        self,
        rays: FloatArray,
        prior: FloatArray,
        gain: Gain,
        proof: Callable[[FloatArray], Proof] = lambda _: unproved,
        pace: Pace = PACE,
    ) -> None:
        output = prior @ rays
        self.rays, self.gain, self._proof, self.pace = rays, gain, proof, pace
        self._scaled = rays[:, output > 0] / output[output > 0]
        self.size = len(rays)
        self.how = f"all {rays.shape[1]} extreme rays of the cone were listed"

    def first_rays(self, _limits: Limits) -> FloatArray:
        """Return all rays."""
        return self.rays

    def price(
        self, u: FloatArray, _goal: float, _boxes: int, _limits: Limits | None = None
    ) -> SurplusBound:
        """Return the largest surplus with P . r = 1, and the rays of largest surplus."""
        surplus = self.gain(self._scaled) - u @ self._scaled
        best = np.argsort(-surplus)[:ADDED]
        rays = list(self._scaled[:, best[surplus[best] > 0]].T)
        return SurplusBound(float(surplus[best[0]]), rays, self._proof(u))


def _listed(potentials: FloatArray, problem: Problem) -> Certificate:
    """Return the potentials at which the kernel prices all rays."""
    rays, priors = listed_rays(problem), set_vertices(problem.cone)
    return certificate(problem, oracle=rays, priors=priors, prices=negated(potentials))


def listed_rays(problem: Problem) -> Rays:
    """Return the rays that the kernel lists: subsets of blocks under one budget."""
    budget = OneBudgetCone.of(problem.cone, scaled=True)
    return Rays(DoubleDescription() if budget is None else Subsets(budget.block_groups))


def set_vertices(cone: Cone) -> dict[int, tuple[Weights, ...]]:
    """Return the priors for which the rows of the cone were listed, by notion."""
    return {
        n: lifts.priors.vertices()
        for n, family in enumerate(cone.families)
        if (lifts := family.lift_rows()) is not None and not lifts.priors.members
    }
