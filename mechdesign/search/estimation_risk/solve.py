"""The best channel to estimate the distribution of the inputs: a convex program over extreme rays.

A channel is a mixture of extreme rays of the cone, and the risk is convex in their weights
(:mod:`~mechdesign.search.estimation_risk.saddle_point`). Rays are listed if there are few, or if
they fall into few classes (:mod:`~mechdesign.search.estimation_risk.ray_classes`); of many hundreds
the program uses only those whose gain is above their price at the potentials (column generation).
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.optimize

from mechdesign._typing import FloatArray
from mechdesign.closed_forms.base import name_outputs
from mechdesign.errors import SolverError, UnsupportedError
from mechdesign.evidence.rows import Proof
from mechdesign.prior import Prior
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.base import RawSolution
from mechdesign.search.estimation_risk.mixture_risk import MixtureRisk, RayMoments
from mechdesign.search.estimation_risk.product_relaxation import product_bound
from mechdesign.search.estimation_risk.proofs import (
    Oracle,
    RiskProof,
    by_classes,
    by_rays,
    implied,
    relaxed,
)
from mechdesign.search.estimation_risk.ray_classes import RayClasses
from mechdesign.search.estimation_risk.saddle_point import Mixture, RiskMaster, best_mixture
from mechdesign.search.estimation_risk.separable import separable_bound
from mechdesign.search.generation import Generation, Pace
from mechdesign.search.limits import OPTIMAL, Limits
from mechdesign.search.rays.enumerate import all_rays
from mechdesign.search.rays.extreme_rays import AnyCone, ListedRays
from mechdesign.search.starts.baseline import reach, risk_of
from mechdesign.search.starts.route import Start
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import EstimationRisk

AT_ONCE, FIRST = 400, 250
"""The number of listed rays up to which all are used; and the initial number of more rays."""

LISTED = Pace(goal=5e-11, patience=2, worth=0.5, most_rays=25, smoothing=0.0)
SEARCHED = Pace(patience=3, most_rays=25, smoothing=0.0)
"""The rounds over listed rays, and those with a local search, which have no bound."""

SHARES, EXACT = (1e-8, 1e-14), 1e-11
"""Weights below one of these shares of the largest are dropped, the first for which the others
attain the same sums with a residual of at most ``EXACT``, and the same risk."""

MOST_SPARSE = 1500
MOST_SUBSETS = 1 << 16
PRIOR_BITS = 60
LEAST_PRIOR = 1e-12
SHARE = 0.5
"""The share of the remaining time for a first bound, and for the search for rays."""

MANY = 4096
"""The number of rays from which the checker takes seconds to list them."""

PROOF_SECONDS = 5e-6
"""Seconds of the value and a proof, and of a local search for rays that is worth its time, times
the cube of the number of inputs."""

SPREAD = 1e-6
"""The share of the uniform prior in the prior of a worst-case bound by a relaxation."""


_Bound: TypeAlias = tuple[float, Proof, str]
"""A bound on the risk, its proof, and its line in the report."""


def solve_estimation(problem: Problem, limits: Limits | None = None) -> RawSolution:
    """Find the best channel to estimate the distribution of the inputs.

    UnsupportedError for another utility, or with too many rays; SolverError if the method stalls.
    """
    limits = limits or Limits()
    utility = problem.utility
    if not isinstance(utility, EstimationRisk):
        raise UnsupportedError("objective", "a risk of estimation", utility.name)
    proofs: list[Proof] = []
    if len(problem.domain) == 1:
        return RawSolution(np.ones((1, 1)), name_outputs(problem, 1), (), "estimation: one input")
    classes = RayClasses.of(problem.cone)
    if classes is not None and classes.fit(problem):
        mixture = _by_classes(problem, utility, classes, limits)
        matrix = classes.columns(mixture.theta)
        proofs = [_proof(utility, mixture, by_classes)]
        note = f"{len(mixture.theta)} classes of extreme rays, alike but for a permutation"
    else:
        R = _listed(problem, classes, limits)
        if R is None:
            seconds = PROOF_SECONDS * len(problem.domain) ** 3
            limits.keep(seconds)
            found, start = list[_Bound](), None
            if not utility.worst_case and math.isfinite(limits.seconds):
                start = limits.start or Start().solve(problem, limits)
                found = _by_diagonal(problem, start.matrix, None, limits.part(share=SHARE))
                if found and limits.left < seconds:
                    return replace(start, proofs=[found[0][1]])
            try:
                warm = None if start is None else start.matrix
                master = _mixed(problem, utility, None, limits.part(1.0, SHARE), warm)
            except SolverError:
                if start is None or not found or found[0][0] <= 0:
                    raise
                return replace(start, proofs=[found[0][1]])
            note = "the extreme rays are too many to list: "
            note += f"{master.rays.shape[1]} were found by local search"
            proofs, how = _relaxed_proofs(problem, utility, master, limits, found)
            note += how
        else:
            master = _mixed(problem, utility, R, limits.part(1.0))
            proofs = [_proof(utility, master.mixture, by_rays)]
            if R.shape[1] > MANY:  # a time limit leaves no time to list them
                worst = _exact_prior(master.mixture) if utility.worst_case else None
                channel = master.rays * master.mixture.theta
                proofs += [proof for _, proof, _ in _by_diagonal(problem, channel, worst, limits)]
            note = f"all {R.shape[1]} extreme rays of the cone were listed"
        mixture = master.mixture
        matrix = _sparse(master.rays, utility, mixture)
    notes = [note, *_prior_note(utility, mixture)]
    outputs = name_outputs(problem, matrix.shape[1])
    return RawSolution(matrix, outputs, proofs, "estimation: Newton's method on rays", notes)


def _relaxed_proofs(
    problem: Problem,
    utility: EstimationRisk,
    master: RiskMaster,
    limits: Limits,
    found: list[_Bound],
) -> tuple[list[Proof], str]:
    """Return the best of several bounds that need no list of rays, and its line in the report.

    In the worst case a bound at any prior is valid. The risk is concave in the prior: a small
    increase for every input costs little, and keeps the relaxation well scaled.
    """
    mixture = master.mixture
    if utility.worst_case:
        k = len(mixture.prior)
        mixture = replace(mixture, prior=(1 - SPREAD) * mixture.prior + SPREAD / k)
    worst = _exact_prior(mixture) if utility.worst_case else None
    prior = mixture.prior if worst is None else np.array([float(p) for p in worst])
    channel, by_diagonal = master.rays * mixture.theta, bool(found)
    with contextlib.suppress(SolverError):
        bound = product_bound(problem, utility, channel, prior, limits, worst)
        if bound is not None:
            found.append((*bound, "products of rows of the cone"))
    if not by_diagonal:
        found += _by_diagonal(problem, channel, worst, limits)
    larger = relaxed(problem, worst)
    if larger is not None and not limits.expired():
        with contextlib.suppress(SolverError):
            raw = solve_estimation(larger, limits.part())
            risk = risk_of(raw.matrix, utility, prior)
            how = "local differential privacy at the budget implied"
            found += [(risk, partial(implied, p, larger, worst), how) for p in raw.proofs]
    if not found:
        return [], ""
    _, best, how = max(found, key=lambda one: one[0])
    return [best], f"; the bound is that of {how}"


def first_prior(problem: Problem) -> FloatArray:
    """Return the first prior of a mixture: for a worst case the uniform one."""
    return problem.utility.reference(problem.prior).array


def _by_diagonal(
    problem: Problem, channel: FloatArray, worst: Weights | None, limits: Limits
) -> list[_Bound]:
    with contextlib.suppress(SolverError):
        found = separable_bound(problem, channel, worst, limits)
        if found is not None:
            return [(*found, "the diagonal of the information matrix")]
    return []


def _listed(problem: Problem, classes: RayClasses | None, limits: Limits) -> FloatArray | None:
    """Return all extreme rays, or None if they are too many."""
    R = None if classes is None else classes.subset_rays(MOST_SUBSETS)
    if R is None:
        with contextlib.suppress(UnsupportedError):
            R = all_rays(problem.cone, limits)
    return R


def _by_classes(
    problem: Problem, utility: EstimationRisk, classes: RayClasses, limits: Limits
) -> Mixture:
    rays = classes.moments()
    found = best_mixture(rays, utility, first_prior(problem), limits)
    mixture = classes.evened(found)
    if limits.expired() or limits.gap > OPTIMAL:  # if cut short, every class still has some weight
        mixture = replace(mixture, theta=_few_classes(rays, utility, mixture))
    return mixture


def _mixed(
    problem: Problem,
    utility: EstimationRisk,
    listed: FloatArray | None,
    limits: Limits,
    warm: FloatArray | None = None,
) -> RiskMaster:
    """Return the best mixture of rays, by column generation; None for a local search for rays.

    It starts at the columns of ``warm``, a channel, if they are few.
    """
    prior = first_prior(problem)
    if listed is not None and listed.shape[1] <= AT_ONCE:
        return RiskMaster(listed, utility, prior, limits)
    # the constant column, and those with one input raised as far as allowed
    k = len(prior)
    first = np.column_stack([np.ones(k), 1 + reach(problem.cone, np.eye(k)) * np.eye(k)])
    if listed is not None:
        some = np.random.default_rng(0).choice(listed.shape[1], FIRST, replace=False)
        first = np.column_stack([first, listed[:, some]])
    elif warm is not None and warm.shape[1] <= AT_ONCE:
        first = np.column_stack([first, warm / warm.max(axis=0)])
    master = RiskMaster(first, utility, prior, limits)
    pricer: AnyCone | ListedRays
    if listed is None:
        gains = master.gain_of, limits, master.slopes_of
        pricer = AnyCone(problem.cone, prior, *gains, first, pace=SEARCHED)
        master.add(pricer.rays, pricer.gain(pricer.rays))
    else:
        pricer = ListedRays(listed, prior, master.gain_of, pace=LISTED)
    Generation(pricer, master, master.loss, limits).run()
    return master


def _sparse(R: FloatArray, utility: EstimationRisk, mixture: Mixture) -> FloatArray:
    """Return the columns of a channel as informative as the mixture, with few outputs.

    By Caratheodory's theorem at most k (k + 1) / 2 rays give the same M; for a worst case, the same
    risk of the estimator at every distribution, Sum_y Q[z, y] |W_y|**2 for every z, needs k more.
    Nonnegative least squares finds such weights.
    """
    weight = mixture.theta * R.max(axis=0)
    most = (1 + OPTIMAL) * _worst(R, mixture.theta, utility, mixture)
    for share in SHARES:
        used = np.flatnonzero(weight > share * weight.max())
        if len(used) <= MOST_SPARSE:
            factors, residual = _fewest(R[:, used], utility, mixture, mixture.theta[used])
            rays, theta = R[:, used[factors > 0]], (mixture.theta[used] * factors)[factors > 0]
            with contextlib.suppress(SolverError):
                if residual <= EXACT and _worst(rays, theta, utility, mixture) <= most:
                    return rays * theta
    used = np.flatnonzero(weight > SHARES[-1] * weight.max())
    return np.asarray(R[:, used] * mixture.theta[used])


def _worst(rays: FloatArray, theta: FloatArray, utility: EstimationRisk, mixture: Mixture) -> float:
    """Return the risk of weighted rays; in the worst case an upper bound at all priors."""
    model = MixtureRisk(RayMoments.of_rays(rays), utility)
    found = model.at(theta, mixture.prior, hessian=False)
    slope = found.prior_slope
    return found.value + utility.worst_case * float(slope.max() - mixture.prior @ slope)


def _fewest(
    r: FloatArray, utility: EstimationRisk, mixture: Mixture, theta: FloatArray
) -> tuple[FloatArray, float]:
    """Return sparse factors for the weights, and the deviation of the sums."""
    k, output = len(r), mixture.prior @ r
    upper = np.triu_indices(k)
    # M is 1 1' and the second moments of the deviations, which may be tiny beside it
    deviation = r / output - 1
    equations = [output * deviation[upper[0]] * deviation[upper[1]], r]
    targets = [equations[0] @ theta, np.ones(k)]
    if utility.worst_case:
        slope = mixture.slope(utility)
        equations.append(r * (slope @ (mixture.inverse @ r) ** 2) / output**2)
        targets.append(equations[-1] @ theta)
    return _factors(equations, targets, theta)


def _few_classes(rays: RayMoments, utility: EstimationRisk, mixture: Mixture) -> FloatArray:
    """Return weights of few classes that are as informative as the mixture, or its own weights.

    Two inputs of each group represent all: M has one value for any two inputs of a group, one for
    its diagonal, and one for two groups. In a class all rays have the same gain.
    """
    groups = [np.flatnonzero(rays.group == group)[:2] for group in np.unique(rays.group)]
    some = np.concatenate(groups)
    output, mean = mixture.prior @ rays.mean, rays.mean[some]
    a, b = np.triu_indices(len(some))
    moments = rays.second[:, some[a], some[b]].T / output - mean[a] - mean[b] + output
    equations, targets = [moments, mean], [moments @ mixture.theta, np.ones(len(some))]
    if utility.worst_case:
        equations.append(mean * mixture.gain / output)
        targets.append(equations[-1] @ mixture.theta)
    factors, residual = _factors(equations, targets, mixture.theta)
    return mixture.theta * factors if residual <= EXACT else mixture.theta


def _factors(
    equations: list[FloatArray], targets: list[FloatArray], theta: FloatArray
) -> tuple[FloatArray, float]:
    """Return factors for weights that keep all sums, and the deviation of these sums.

    The deviation is infinite if none are found.
    """
    units = [max(float(np.abs(b).max()), 1e-300) for b in targets]
    rows = [eq * theta / unit for eq, unit in zip(equations, units, strict=True)]
    right = np.concatenate([b / unit for b, unit in zip(targets, units, strict=True)])
    try:
        method, most = scipy.optimize.nnls, 50 * len(theta)
        factors, residual = called("NNLS", method, np.vstack(rows), right, maxiter=most)
        return checked("NNLS", factors, theta.shape), float(checked("NNLS", residual, ()))
    except SolverError:
        return np.ones(len(theta)), np.inf


def _proof(utility: EstimationRisk, mixture: Mixture, oracle: Oracle) -> Proof:
    """Return the proof of the bound at a mixture's prior."""
    worst = _exact_prior(mixture) if utility.worst_case else None
    return RiskProof.of(mixture, oracle, worst)


def _exact_prior(mixture: Mixture) -> Weights:
    """Return the prior of a mixture in positive rationals, equal where the floats are equal."""
    whole = [int(max(p, LEAST_PRIOR) * 2**PRIOR_BITS) for p in mixture.prior.tolist()]
    return Prior.from_counts(whole).probabilities


def _prior_note(utility: EstimationRisk, mixture: Mixture) -> list[str]:
    if not utility.worst_case:
        return []
    shown = ", ".join(f"{p:.4g}" for p in mixture.prior[:8]) + (
        ", ..." if len(mixture.prior) > 8 else ""
    )
    return [f"the least favorable distribution, which the estimator is made for: ({shown})"]
