"""A primal-dual interior-point method for the least estimation risk of a mixture of rays.

    minimize over theta >= 0 with Sum_i theta_i l_i = 1 the risk of M = Sum_i theta_i S_i / p . l_i

at a prior p or at the worst one, where S_i = r_i r_i' and l_i = r_i for a ray r_i, or means of
these over a class of rays. The risk is convex in theta, and for each channel it is concave in p:
for a worst case the optimum is a saddle point, found by the same method with p, on the simplex, as
a further unknown. With C theta = 1 for the equations, y their potentials, z and s the multipliers
of theta >= 0 and p >= 0, and t the potential of Sum p = 1, every step is Newton's on

    risk_theta - C' y - z = 0,    C theta = 1,    theta z = mu,
    risk_p + s - t 1 = 0,         1' p = 1,       p s = mu.

The risk is not quadratic, so Newton's step may overshoot: it is halved until the residual of these
conditions decreases (a line search instead of a corrector).

Source: Boyd and Vandenberghe 2004, sections 10.3.4 (saddle points) and 11.7 (primal-dual methods).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.search.estimation_risk.mixture_risk import Expansion, MixtureRisk, RayMoments
from mechdesign.search.highs import LPModel, solve_lp
from mechdesign.search.interior.newton import FRACTION_TO_BOUNDARY, longest_step
from mechdesign.search.limits import OPTIMAL, Limits
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import EstimationRisk

MOST_STEPS = 120
GOAL = 1e-12
"""The target of complementarity, relative to the risk."""

CENTERING = ((0.9, 0.02), (0.5, 0.1), (0.0, 0.5))
"""The target share of the complementarity, by the shorter step length of the previous iteration."""

BEHIND = 0.1
"""The target is at least this share of the residual of the other conditions: if complementarity
decreases faster, the steps to the boundary become too short to reduce them."""

LEAST_STEP, DECREASE = 1e-9, 0.01
"""The line search: its shortest step, and the relative decrease of the residual by a whole step."""

ENOUGH = 0.25
"""The share of the requested gap allowed to each program."""

SAME, USED = 1e-9, 1e-8
"""Rays with a mean of 1 and smaller differences are merged; rays with a smaller share of the
largest weight are not in use."""

FORCED = 1e-9
"""A ray whose largest possible weight is below this share is dropped."""


@dataclass(frozen=True)
class Mixture:
    """Weights of rays, with the evidence of their optimality.

    Attributes
    ----------
    theta
        ``(n_rays,)`` weights.
    prior
        The prior at which they are optimal.
    inverse
        A = M**-1.
    potentials
        ``(n_inputs,)`` u with g_i <= u . l_i, approximately, and equality for used rays.
    gain
        ``(n_rays,)``: g_i, the decrease of the risk per unit of each ray.
    risk
        The sum of the deviations.
    rise
        The largest increase of the risk at another prior, for a worst case.
    """

    theta: FloatArray
    prior: FloatArray
    inverse: FloatArray
    potentials: FloatArray
    gain: FloatArray
    risk: float
    rise: float = 0.0

    def slope(self, utility: EstimationRisk) -> FloatArray:
        """Return the derivative of the risk in the variance of each input, ``(n_inputs,)``."""
        return utility.deviations(np.diag(self.inverse).copy(), self.prior).slope


@dataclass(frozen=True)
class _SaddleIterate:
    """The unknowns; p, t and s matter only if the prior moves."""

    theta: FloatArray
    prior: FloatArray
    y: FloatArray
    t: float
    z: FloatArray
    s: FloatArray

    def moved(self, step: FloatArray, size: float, dz: FloatArray) -> _SaddleIterate:
        """Return the iterate after a step of size ``size``; ``dz`` is that of z, then of s."""
        n, k = len(self.theta), len(self.s)
        prior = self.prior + size * step[n : n + k] if k else self.prior
        return _SaddleIterate(
            self.theta + size * step[:n],
            prior,
            self.y + size * step[n + k : n + k + len(self.y)],
            self.t + size * (step[-1] if k else 0.0),
            self.z + size * dz[:n],
            self.s + size * dz[n:],
        )


def best_mixture(
    rays: RayMoments, utility: EstimationRisk, prior: FloatArray, limits: Limits
) -> Mixture:
    """Return the mixture of least risk: at a prior, or, in the worst case, at the worst prior.

    Every iterate is a mixture with a bound; limits end the iterations. SolverError if no mixture of
    the rays has independent rows, or Newton's method stalls.
    """
    start, kept = _start(rays)
    rays = rays.chosen(kept)
    method = _SaddlePointMethod(rays, utility, prior, start[kept])
    point, model = method.run(limits)
    theta = np.zeros(len(start))
    theta[kept] = point.theta
    gain = np.zeros(len(start))
    gain[kept] = model.gain
    # the potential of a group's one equation is shared by its inputs
    counts = np.bincount(rays.group)
    groups, place = np.unique(rays.group, return_inverse=True)
    potentials = (-point.y / counts[groups])[place]
    rise = method.rise(point, model)
    return Mixture(theta, point.prior, model.A, potentials, gain, model.value, rise)


class RiskMaster:
    """The mixture of least risk of some rays, for a search that adds rays.

    By convexity the risk of any other mixture is at least the risk of this one plus the gain of
    this one minus that of the other.

    Parameters
    ----------
    rays
        ``(n_inputs, n_rays)``, of which some mixture is a channel with independent rows.
    utility, prior
        The risk; and its prior, in the worst case the initial one.
    limits
        The limits of the search.

    Attributes
    ----------
    rays, mixture
        All rays, with means of 1, and the best mixture of them.
    """

    def __init__(
        self, rays: FloatArray, utility: EstimationRisk, prior: FloatArray, limits: Limits
    ) -> None:
        self.rays, self.utility, self._prior = rays / rays.mean(axis=0), utility, prior
        self._within, self._limits = limits.part(), limits
        self._within.gap *= ENOUGH
        self.mixture = best_mixture(RayMoments.of_rays(self.rays), utility, prior, self._within)
        self._next = self.rays

    @property
    def gain(self) -> FloatArray:
        """The rate at which the risk decreases with the weight of each ray."""
        return self.utility.scale * self.mixture.gain

    def gain_of(self, rays: FloatArray) -> FloatArray:
        """Return the rate at which the risk decreases with the weights of any rays."""
        A, p = self.mixture.inverse, self.mixture.prior
        slope = self.utility.scale * self.mixture.slope(self.utility)
        return np.asarray(slope @ (A @ rays) ** 2 / (p @ rays))

    def slopes_of(self, ray: FloatArray) -> FloatArray:
        """Return the slopes of this gain at a ray."""
        A, p = self.mixture.inverse, self.mixture.prior
        slope = self.utility.scale * self.mixture.slope(self.utility)
        lift = A @ ray / (p @ ray)
        return np.asarray(2 * A @ (slope * lift) - (slope @ lift**2) * p)

    def loss(self, gain: float) -> float:
        """Return a lower bound on the risk of every mixture with at most this gain."""
        risk = self.utility.scale * self.mixture.risk
        return risk + float(self.gain @ self.mixture.theta) - gain

    def add(self, rays: FloatArray, _gain: FloatArray) -> None:
        """Add rays that are new, for the next mixture."""
        found = [*self._next.T]
        for ray in (rays / rays.mean(axis=0)).T:
            if min(float(np.abs(other - ray).max()) for other in found) > SAME:
                found.append(ray)
        self._next = np.column_stack(found)

    def keep(self, wanted: BoolArray) -> BoolArray:
        """Drop rays that are neither wanted nor in use; return which of all stay."""
        theta = self.mixture.theta
        kept: BoolArray = wanted | (theta > USED * theta.max())
        self.mixture = replace(self.mixture, theta=theta[kept], gain=self.mixture.gain[kept])
        self.rays = self._next = self.rays[:, kept]
        return kept

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Return the best weights of the rays, and the potentials of the inputs.

        If the method was cut short, the previous mixture is kept if it is better.
        """
        before = self.mixture
        if self._next.shape[1] != len(before.theta):
            rays = RayMoments.of_rays(self._next)
            found = best_mixture(rays, self.utility, self._prior, self._within)
            if not self._limits.expired() or found.risk + found.rise < before.risk + before.rise:
                self.rays, self.mixture = self._next, found
        return self.mixture.theta, self.utility.scale * self.mixture.potentials


def _start(rays: RayMoments) -> tuple[FloatArray, IntArray]:
    """Return a mixture in the interior of the weights, and the rays that it can use.

    With shares theta_i / even_i, the linear program maximizes the least share.
    """
    C = rays.equations
    n = C.shape[1]
    even = 1 / (n * C.mean(axis=0))
    one = np.ones(len(C))
    A = sp.csr_array(np.hstack([C * even, (C * even).sum(axis=1, keepdims=True)]))
    cost = np.append(np.zeros(n), -1.0)
    found = solve_lp(LPModel(cost, A, one, one), "simplex").primal
    theta = even * (found[:n] + found[n])
    if found[n] > FORCED:
        return theta, np.arange(n)
    # rays that no mixture can use have weight 0 in the mean of many vertices
    rng = np.random.default_rng(0)
    A = sp.csr_array(C * even)
    theta = np.zeros(n)
    for _ in range(2 * len(C) + 8):
        cost = rng.random(size=(n,))
        theta += even * solve_lp(LPModel(cost, A, one, one), "simplex").primal
    theta /= 2 * len(C) + 8
    return theta, np.flatnonzero(theta > FORCED * even)


class _SaddlePointMethod:
    """The iterations."""

    def __init__(
        self, rays: RayMoments, utility: EstimationRisk, prior: FloatArray, theta: FloatArray
    ) -> None:
        self.model, self.C = MixtureRisk(rays, utility), rays.equations
        self.moving = utility.worst_case
        first = self.model.at(theta, prior, hessian=False)
        if not np.isfinite(first.value) or first.value <= 0:
            raise SolverError("the rays of the cone leave the distribution undetermined")
        self.unit = first.value  # the risk is divided by it
        mu = 0.1 / len(theta)
        y = _least_squares(self.C.T, -first.gain / self.unit)
        k = len(prior) if self.moving else 0
        self.point = _SaddleIterate(
            theta,
            prior,
            y,
            float((first.prior_slope / self.unit).mean()),
            mu / theta,
            mu / prior[:k],
        )

    def run(self, limits: Limits) -> tuple[_SaddleIterate, Expansion]:
        """Iterate until complementarity stops decreasing, or limits end it."""
        share, best = 0.1, (np.inf, self.point)
        for step in range(1, MOST_STEPS + 1):
            point = self.point
            left = float(point.theta @ point.z + (point.prior @ point.s if self.moving else 0.0))
            model = self._at(point)
            off = float(np.abs(self._residual(point, model, 0.0)).sum())
            mu = max(share * left, BEHIND * (off - left)) / (len(point.z) + len(point.s))
            residual = self._residual(point, model, mu)
            scale = model.value / self.unit
            if off < best[0]:
                best = (off, point)
            value, bound = self._value_and_bound(point, model)
            if limits.report(step, value, bound) and (limits.expired() or limits.gap > OPTIMAL):
                best = (off, point)  # otherwise to full precision: one or two steps
                break
            if left <= GOAL * scale and off <= 100 * GOAL * scale:
                break
            taken = self._step(point, model, residual, mu)
            if taken < LEAST_STEP:
                break
            share = next(share for least, share in CENTERING if taken >= least)
        point = replace(best[1], y=best[1].y * self.unit)
        return point, self.model.at(point.theta, point.prior, hessian=False)

    def _value_and_bound(self, point: _SaddleIterate, model: Expansion) -> tuple[float, float]:
        """Return an upper bound on the risk of the mixture at any prior, and a bound on all risks.

        By convexity in theta the risk of a mixture theta' is at least risk - gain . (theta' -
        theta). As C theta' = C theta, gain may be replaced by gain + C' y, and as Sum_i theta'_i
        p . l_i = 1 for every mixture, the bound is the risk plus the mean of the excess
        (gain + C' y)_i / (p . l_i) over theta minus its maximum over all rays. By concavity in p
        the risk is at most its value here plus the largest increase of its tangent towards one
        input.
        """
        output = point.prior @ self.model.rays.mean
        excess = (model.gain + point.y @ self.C) / output
        used = point.theta * output
        value = bound = model.value / self.unit
        bound += float(used @ excess - excess.max())
        unit = self.unit * self.model.utility.scale
        return unit * (value + self.rise(point, model)), unit * bound

    def rise(self, point: _SaddleIterate, model: Expansion) -> float:
        """Return the largest increase of the risk at another prior."""
        if not self.moving:
            return 0.0
        return float(model.prior_slope.max() - model.prior_slope @ point.prior)

    def _at(self, point: _SaddleIterate, hessian: bool = True) -> Expansion:
        found = self.model.at(point.theta, point.prior, hessian)
        return replace(
            found,
            gain=found.gain / self.unit,
            prior_slope=found.prior_slope / self.unit,
            H=found.H / self.unit,
        )

    def _residual(
        self, point: _SaddleIterate, model: Expansion, mu: float, by: _SaddleIterate | None = None
    ) -> FloatArray:
        """Return the residuals of the conditions, with the dual ones times theta and p of a point.

        So all are in the unit of complementarity products, for any size of a weight.
        """
        by = by or point
        parts = [
            (-model.gain - point.y @ self.C - point.z) * by.theta,
            self.C @ point.theta - 1,
            point.theta * point.z - mu,
        ]
        if self.moving:
            parts += [
                (model.prior_slope + point.s - point.t) * by.prior,
                np.array([point.prior.sum() - 1]),
                point.prior * point.s - mu,
            ]
        return np.concatenate(parts)

    def _step(
        self, point: _SaddleIterate, model: Expansion, residual: FloatArray, mu: float
    ) -> float:
        """Take Newton's step towards products of mu as far as it helps; return its length, or 0.

        Eliminating dz = (mu - theta z - z dtheta) / theta, and ds likewise, leaves a saddle point
        system for (dtheta, dp, dy, dt): z / theta is added to the convex part of the Hessian, s / p
        subtracted from the concave one.
        """
        n, k, m = len(point.theta), len(point.s), len(self.C)
        size = n + k + m + bool(k)
        K, right = np.zeros((size, size)), np.zeros(size)
        K[: n + k, : n + k] = model.H
        K[range(n), range(n)] += point.z / point.theta
        K[:n, n + k : n + k + m] = -self.C.T
        K[n + k : n + k + m, :n] = self.C
        right[:n] = model.gain + point.y @ self.C + mu / point.theta
        right[n + k : n + k + m] = 1 - self.C @ point.theta
        if k:
            at = range(n, n + k)
            K[at, at] -= point.s / point.prior
            K[n : n + k, -1], K[-1, n : n + k] = -1.0, 1.0
            right[n : n + k] = point.t - model.prior_slope - mu / point.prior
            right[-1] = 1 - point.prior.sum()
        # the unknowns differ by orders of magnitude: solve for relative changes, which scales rows
        # and columns alike
        by = np.concatenate([point.theta, point.prior[:k], np.ones(m + bool(k))])
        K = K * by * by[:, None]
        try:
            found = checked("LAPACK", called("LAPACK", np.linalg.solve, K, by * right), by.shape)
        except SolverError:
            found = _least_squares(K, by * right)
        step = by * found
        x, z = np.append(point.theta, point.prior[:k]), np.append(point.z, point.s)
        dz = (mu - x * z - z * step[: n + k]) / x  # from x dz + z dx = mu - x z
        relative = min((step[: n + k] / x).min(), (dz / z).min())
        # whole steps where the boundary allows them, for quadratic convergence
        alpha = FRACTION_TO_BOUNDARY * float(longest_step(relative, 1 / FRACTION_TO_BOUNDARY))
        before = float(np.linalg.norm(residual))
        while alpha >= LEAST_STEP:
            trial = point.moved(step, alpha, dz)
            after = self._residual(trial, self._at(trial, hessian=False), mu, point)
            if np.linalg.norm(after) <= (1 - DECREASE * alpha) * before:
                self.point = trial
                return alpha
            alpha /= 2
        return 0.0


def _least_squares(A: FloatArray, b: FloatArray) -> FloatArray:
    """Return the shortest of the vectors x with the least |A x - b|."""
    A, b = checked("Newton's method", A, A.shape), checked("Newton's method", b, b.shape)
    found = called("LAPACK", np.linalg.lstsq, A, b, rcond=None)
    return checked("LAPACK", found[0], A.shape[1:])
