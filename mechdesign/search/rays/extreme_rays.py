"""The largest sum of convex gains over outputs: a linear program over extreme rays of the cone.

A channel is a mixture of rays, Sum_r theta_r r = 1, and a convex gain is largest where each output
is one ray. So maximizing the convex function is, exactly, the linear program

    maximize Sum_r theta_r g(r)   over theta >= 0 with Sum_r theta_r r = 1.

Its dual has potentials u of the inputs. For any u, and columns scaled to P . r = 1, the gain of a
channel is at most Sum_x u_x + max_r (g(r) - u . r), the sum and the largest surplus: that is the
bound. Where the rays are few they are listed. For lifts between two bounds, whose rays are too many
beyond some inputs, it is solved by column generation (`lift_polytope`), and so it is for the rays
of one budget that are too many to list (`raised_sets`). Where neither is possible,
rays are found by local search (`local_search`), and the bound is what branch and bound over boxes
(`branch_and_bound`) can prove.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import UnsupportedError
from mechdesign.evidence.rows import Proof, certificate, negated
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.oracles import Rays
from mechdesign.kernel.oracles.sources import DoubleDescription, Subsets
from mechdesign.notions.rows.cone import Cone
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.cones.one_budget import OneBudgetCone
from mechdesign.search.generation import USED, Generation
from mechdesign.search.limits import Limits
from mechdesign.search.master import RestrictedMaster, solve_master
from mechdesign.search.rays.any_cone import AnyCone
from mechdesign.search.rays.branch_and_bound import BranchAndBound
from mechdesign.search.rays.enumerate import all_rays
from mechdesign.search.rays.lift_polytope import LiftPolytope
from mechdesign.search.rays.local_search import LocalSearch, loss_of, search_rays_locally
from mechdesign.search.rays.raised_sets import RaisedSets
from mechdesign.solver_guard import called
from mechdesign.utilities import ColumnUtility

__all__ = ["listed_rays", "set_vertices", "solve_by_rays"]


MOST_SUBSETS = 1 << 14
"""Rays up to which subsets are listed, where inputs are not alike."""

LISTED_UP_TO = 8
"""Inputs up to which all rays are listed under every notion."""


def solve_by_rays(
    problem: Problem, limits: Limits | None = None, near: FloatArray | None = None
) -> RawSolution:
    """Find the best channel for a sum of gains, by its extreme rays.

    Parameters
    ----------
    problem
        With a :class:`~mechdesign.utilities.ColumnUtility`.
    limits
        When to stop; default at the optimum.
    near
        ``(n_inputs, n_outputs)``: private columns, none of them 0, with which pricing begins.

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
        found = _by_pricing(lifts, lifts.first_rays(limits), problem, utility, limits, near)
    else:
        try:
            found = _by_all_rays(problem, utility, limits)
        except UnsupportedError:
            sets = RaisedSets.of(problem, utility)
            if sets is not None:
                found = _by_pricing(sets, sets.first_rays(), problem, utility, limits, near)
            else:
                found = _by_local_search(problem, utility, limits)
    used = found.theta > USED
    matrix = found.rays[:, used] * found.theta[used]
    bound = None
    if not utility.exact:
        # no channel exceeds the gain of the identity
        everything = utility.gain(np.eye(len(problem.domain)), problem.prior.array).sum()
        most = min(found.most, float(everything))
        bound = utility.objective_at(most, problem.domain, problem.prior)
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, found.proofs, "extreme-rays: HiGHS", found.notes, bound)


@dataclass(frozen=True)
class _Found:
    """Rays, their weights, the proofs of a bound, and that bound in floats."""

    rays: FloatArray
    theta: FloatArray
    proofs: list[Proof]
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
    limits.report(1, value, loss_of(problem, utility, most))
    notes = [f"all {rays.shape[1]} extreme rays of the cone were listed"]
    return _Found(rays, theta, [partial(_listed, u)], most, notes)


def _by_pricing(
    pricer: LiftPolytope | RaisedSets,
    first: FloatArray,
    problem: Problem,
    utility: ColumnUtility,
    limits: Limits,
    near: FloatArray | None = None,
) -> _Found:
    center: Any = np.zeros(pricer.size) if isinstance(pricer, RaisedSets) else None
    if near is not None:  # at an optimum the gain of each column is its price
        near = near / (problem.prior.array @ near)
        center = called("LAPACK", np.linalg.lstsq, near.T, pricer.gain(near), rcond=None)[0]
        first = np.hstack([first, near])
    program = RestrictedMaster(first, pricer.gain(first))
    loss = partial(loss_of, problem, utility)
    search = Generation(pricer, program, loss, limits, center)
    search.run()
    return _Found(program.rays, search.theta, search.proofs, search.upper, search.notes())


def _by_local_search(problem: Problem, utility: ColumnUtility, limits: Limits) -> _Found:
    local = LocalSearch(problem, utility)
    program, theta, u = search_rays_locally(local, limits)
    notes = [f"too many extreme rays to list: {program.rays.shape[1]} were found by local search"]
    own = utility.surplus(u, problem)
    if own is not None:
        return _Found(program.rays, theta, [], float(u.sum()) + own, notes)
    boxes = BranchAndBound.of(problem, utility)
    if boxes is None:
        return _Found(program.rays, theta, [], np.inf, notes)
    search = Generation(AnyCone(boxes, local), program, local.loss, limits)
    search.run()
    notes = [f"too many extreme rays to list: {program.rays.shape[1]} are used", *search.notes()]
    return _Found(program.rays, search.theta, search.proofs, search.upper, notes)


def _listed(potentials: FloatArray, problem: Problem) -> Certificate:
    """Return the potentials at which the kernel prices all rays."""
    rays, priors = listed_rays(problem), set_vertices(problem.cone)
    return certificate(problem, oracle=rays, priors=priors, prices=negated(potentials))


def listed_rays(problem: Problem) -> Rays:
    """Return the rays that the kernel lists: subsets of blocks where they are few."""
    budget = OneBudgetCone.of(problem.cone)
    few = budget and sum(1 << len(inputs) for _, inputs in budget.blocks) <= MOST_SUBSETS
    return Rays(Subsets(budget.block_groups) if budget and few else DoubleDescription())


def set_vertices(cone: Cone) -> dict[int, tuple[Weights, ...]]:
    """Return the priors that the rows of the cone were written out for, by notion."""
    return {
        n: lifts.priors.vertices()
        for n, family in enumerate(cone.families)
        if (lifts := family.lift_rows()) is not None and not lifts.priors.members
    }
