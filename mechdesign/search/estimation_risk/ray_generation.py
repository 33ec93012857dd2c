"""Column generation for an estimation risk whose rays are too many to list, by local search.

At potentials u a ray can lower the risk if g(r) > u . r, where g(r) = Sum_x slope_x (A r)_x**2 on
p . r = 1 is convex: maximizing g(r) - u . r is a concave problem. From many starts r it is
linearized at r and solved as a linear program, again and again, each time at a vertex of the cone
with a larger value (the Frank-Wolfe method with full steps). That no ray has a positive value at
the end is not proved, so that the bound on the risk comes from elsewhere.
"""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.problem import Problem
from mechdesign.search.estimation_risk.mixture_risk import RayMoments
from mechdesign.search.estimation_risk.saddle_point import Mixture, best_mixture
from mechdesign.search.limits import Limits
from mechdesign.search.lp.warm_column import WarmColumn
from mechdesign.search.master import RestrictedMaster
from mechdesign.utilities import EstimationRisk

__all__ = ["first_prior", "search_rays"]


ROUNDS, STARTS, LOCAL_STEPS = 200, 24, 8
"""Rounds; starts of each kind in a round; and steps from each."""

PATIENCE, ENOUGH = 3, 1e-6
"""So many rounds in a row that lower the risk by less than that share of it end the search."""

FIRST_PER_INPUT = 4
"""Random directions for each input, whose vertices are among the first rays."""

MOST_KEPT = 600
"""With more rays than that, half as many with the largest weights are kept."""

GOAL = 1e-8
"""Relative to the risk: a ray is added if it promises as much."""

ASIDE = (1e-2, 1e-4, 1e-6)
"""How far from the column of ones two opposite columns are whose mixtures are looked for."""

LEFT, ROUNDS_PER_INPUT = 1e-9, 50
"""Tolerance for a column of a mixture; and rounds, times inputs, after which it is given up: some
two or three are needed, and a solver that errs might have no end."""

SAME = 1e-9
"""Rays with a mean of 1 that differ by less than that are one."""


def first_prior(problem: Problem) -> FloatArray:
    """Return the prior that a mixture is first judged at: for a worst case the uniform one."""
    return problem.utility.reference(problem.prior).array


def search_rays(
    problem: Problem, utility: EstimationRisk, limits: Limits
) -> tuple[FloatArray, Mixture]:
    """Return rays, ``(n_inputs, n_rays)``, and their best mixture.

    Parameters
    ----------
    problem, utility
        The problem and its utility.
    limits
        When to stop. Nothing bounds the risk meanwhile.

    Raises
    ------
    SolverError
        If a linear program fails, or the rays leave the distribution undetermined.
    """
    k, rng = len(problem.domain), np.random.default_rng(0)
    prior = first_prior(problem)
    column = WarmColumn(problem.cone, prior)
    R = np.ones((k, 1))
    eye = np.eye(k)
    for x in range(k):
        for n, direction in enumerate((eye[x], -eye[x], *rng.normal(size=(FIRST_PER_INPUT, k)))):
            if n > 1 and limits.expired():
                break
            R = _with(R, _vertex(column, direction))
    for ray in _surrounding(column, prior, limits):
        R = _with(R, ray)
    within, last, idle = limits.part(), np.inf, 0
    try:
        found = best_mixture(RayMoments.of_rays(R), utility, prior, within)
    except SolverError:
        if limits.expired():
            raise SolverError(f"too few rays were found: {limits.ended}") from None
        raise
    best = R, found
    for round_ in range(1, ROUNDS + 1):
        limits.report(round_, utility.scale * (found.risk + found.rise), np.nan)
        idle = idle + 1 if found.risk > (1 - ENOUGH) * last else 0
        last = found.risk
        if idle >= PATIENCE or limits.expired():
            break
        slope = found.slope(utility)
        B = (found.inverse * slope) @ found.inverse
        weight = found.theta * (found.prior @ R)
        order = np.argsort(-weight)
        starts = [R[:, i] for i in order[:STARTS]]
        starts += [np.abs(rng.normal(size=k)) for _ in range(STARTS)]
        new = _local_search(column, B, found, starts, limits)
        kept = R
        if R.shape[1] > MOST_KEPT:
            kept = R[:, np.sort(order[: MOST_KEPT // 2])]
        before = R.shape[1]
        R = kept
        for ray in new:
            R = _with(R, ray)
        if not new or R.shape[1] == before == kept.shape[1]:
            break
        found = best_mixture(RayMoments.of_rays(R), utility, prior, within)
        if limits.expired():  # it was cut short: the last one is better
            break
        best = R, found
    return best


def _surrounding(column: WarmColumn, prior: FloatArray, limits: Limits) -> list[FloatArray]:
    """Return rays of which some mixture with independent rows is a channel.

    Two columns on opposite sides of that of ones are mixtures of rays, and half of each makes ones.
    In a random direction such a mixture needs as many rays as there are inputs. It is found by
    column generation: what the rays so far lack of the column is minimized.
    """
    k = len(prior)
    direction = np.random.default_rng(0).normal(size=k)
    direction /= np.abs(direction).max()
    for aside in ASIDE:
        found = list[FloatArray]()
        for side in (aside, -aside):
            target = 1 + side * direction
            program, lacking = RestrictedMaster(np.eye(k), -np.ones(k)), 1.0
            for _ in range(ROUNDS_PER_INPUT * k):
                if lacking <= LEFT or limits.expired():
                    break
                theta, u = program.solve()
                lacking = -float(program.gain @ theta)
                ray = _vertex(column, -u / target)
                if float(u @ (ray / target)) >= -LEFT * lacking:
                    break
                program.add((ray / target)[:, None], np.zeros(1))
                found.append(ray)
            if lacking > LEFT:
                break
        else:
            return found
    return found


def _local_search(
    column: WarmColumn,
    B: FloatArray,
    found: Mixture,
    starts: list[FloatArray],
    limits: Limits,
) -> list[FloatArray]:
    """Return vertices whose gain is above their price."""
    new: list[FloatArray] = []
    for start in starts:
        if limits.expired():
            break
        r, value = start / (found.prior @ start), -np.inf
        for _ in range(LOCAL_STEPS):
            # g(r) / (p . r) is homogeneous: its gradient is 2 B r - g(r) p where p . r = 1
            slope = 2 * B @ r - (r @ B @ r) * found.prior - found.potentials
            vertex = _vertex(column, slope)
            vertex = vertex / (found.prior @ vertex)
            better = float(vertex @ B @ vertex - found.potentials @ vertex)
            if better <= value + GOAL * found.risk:
                break
            r, value = vertex, better
        if value > GOAL * found.risk:
            new.append(r)
    return new


def _vertex(column: WarmColumn, direction: FloatArray) -> FloatArray:
    """Return the vertex that is farthest in a direction, scaled to a mean of 1."""
    r = column.farthest(direction)
    if not r.any():
        raise SolverError("the cone has no vertex")
    return np.asarray(r / r.mean())


def _with(R: FloatArray, ray: FloatArray) -> FloatArray:
    """Return the rays with one more, unless it is there."""
    scaled = ray / ray.mean()
    if np.abs(R / R.mean(axis=0) - scaled[:, None]).max(axis=0).min() <= SAME:
        return R
    return np.column_stack([R, scaled])
