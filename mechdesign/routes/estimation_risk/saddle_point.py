"""The best mixture of rays for estimating a distribution, at a prior or at the least favourable.

    minimise over theta >= 0, Sum_i theta_i l_i = 1, the risk at M = Sum_i theta_i S_i / (p . l_i),

where S_i = r_i r_i' and l_i = r_i for a ray r_i, or means of these over a class of rays. The risk
is convex in theta, and for each channel it is concave in p: its worst p is a saddle point, found by
the same interior-point method with p as a further unknown. Every step is Newton's on

    risk_theta - C' y - z = 0,  C theta = 1,  theta z = mu,      risk_p + s - t 1 = 0,  p s = mu.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.routes.estimation_risk.mixture_risk import Expansion, MixtureRisk, Rays
from mechdesign.routes.limits import OPTIMAL, Limits
from mechdesign.routes.lp.highs import LinearProgram, solve_lp
from mechdesign.utilities import EstimationRisk

__all__ = ["Mixture", "best_mixture"]


MOST_STEPS = 120
GOAL = 1e-12
"""What complementarity is driven to, relative to the risk."""

TO_BOUNDARY = 0.99
LEAST_STEP, BEHIND = 1e-9, 0.1
FORCED = 1e-9
"""A weight that no mixture can raise above this share is left out."""


@dataclass(frozen=True)
class Mixture:
    """Weights of rays, with what proves them good.

    Attributes
    ----------
    theta
        ``(n_rays,)`` weights.
    prior
        The prior that they are best at.
    inverse
        A = M**-1.
    price
        ``(n_inputs,)`` prices u with g_i <= u . l_i, about, and equality where a ray is used.
    gain
        ``(n_rays,)``: g_i, what a unit of each ray lowers the risk by.
    risk
        The sum of the deviations.
    rise
        How much larger it can be at another prior, for a worst case.
    """

    theta: FloatArray
    prior: FloatArray
    inverse: FloatArray
    price: FloatArray
    gain: FloatArray
    risk: float
    rise: float = 0.0


@dataclass(frozen=True)
class _Point:
    theta: FloatArray
    prior: FloatArray
    y: FloatArray
    t: float
    z: FloatArray
    s: FloatArray

    def moved(self, step: FloatArray, size: float, ds: FloatArray, dz: FloatArray) -> _Point:
        n, k = len(self.theta), len(self.s)
        prior = self.prior + size * step[n : n + k] if k else self.prior
        return _Point(
            self.theta + size * step[:n],
            prior,
            self.y + size * step[n + k : n + k + len(self.y)],
            self.t + size * (step[-1] if k else 0.0),
            self.z + size * dz,
            self.s + size * ds,
        )


def best_mixture(
    rays: Rays,
    utility: EstimationRisk,
    prior: FloatArray,
    *,
    moving: bool,
    limits: Limits | None = None,
) -> Mixture:
    """Return the mixture of least risk: at a prior, or, if it is ``moving``, at the worst one.

    Every step has a mixture and a bound; limits end the steps.

    Raises
    ------
    SolverError
        If the rays do not allow a channel whose rows are independent, or Newton's method stalls.
    """
    start, kept = _start(rays)
    rays = rays.chosen(kept)
    method = _Method(rays, utility, prior, moving, start[kept])
    point, model = method.run(limits or Limits())
    theta = np.zeros(len(start))
    theta[kept] = point.theta
    gain = np.zeros(len(start))
    gain[kept] = model.gain
    counts = np.bincount(rays.alike)
    groups, place = np.unique(rays.alike, return_inverse=True)
    price = (-point.y / counts[groups])[place]
    rise = method.rise(point, model)
    return Mixture(theta, point.prior, model.A, price, gain, model.value, rise)


def _start(rays: Rays) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Return a mixture that uses every ray as evenly as it can, and which rays it can use."""
    C = rays.sums
    n = C.shape[1]
    even = 1 / (n * C.mean(axis=0))
    one = np.ones(len(C))
    A = sp.csr_array(np.hstack([C * even, (C * even).sum(axis=1, keepdims=True)]))
    cost = np.append(np.zeros(n), -1.0)
    found = solve_lp(LinearProgram(cost, A, one, one), "simplex").primal
    theta = even * (found[:n] + found[n])
    if found[n] > FORCED:
        return theta, np.arange(n)
    # some rays cannot be used together with the rest: settle for the mean of many vertices
    rng = np.random.default_rng(0)
    A = sp.csr_array(C * even)
    theta = np.zeros(n)
    for _ in range(2 * len(C) + 8):
        cost = rng.random(size=(n,))
        theta += even * solve_lp(LinearProgram(cost, A, one, one), "simplex").primal
    theta /= 2 * len(C) + 8
    return theta, np.flatnonzero(theta > FORCED * even)


class _Method:
    """The interior-point method."""

    def __init__(
        self,
        rays: Rays,
        utility: EstimationRisk,
        prior: FloatArray,
        moving: bool,
        theta: FloatArray,
    ) -> None:
        self.model, self.moving, self.C = MixtureRisk(rays, utility, moving), moving, rays.sums
        first = self.model.at(theta, prior, second=False)
        if not np.isfinite(first.value) or first.value <= 0:
            raise SolverError("the rays of the cone leave the distribution undetermined")
        self.unit = first.value
        mu = 0.1 / len(theta)
        y = np.linalg.lstsq(self.C.T, -first.gain / self.unit, rcond=None)[0].astype(np.float64)
        k = len(prior) if moving else 0
        self.point = _Point(
            theta,
            prior,
            y,
            float((first.slope_p / self.unit).mean()),
            mu / theta,
            mu / prior[:k],
        )

    def run(self, limits: Limits) -> tuple[_Point, Expansion]:
        """Iterate until complementarity is as small as it gets, or limits end it."""
        share, best = 0.1, (np.inf, self.point)
        for step in range(1, MOST_STEPS + 1):
            point = self.point
            left = float(point.theta @ point.z + (point.prior @ point.s if self.moving else 0.0))
            model = self._at(point)
            off = float(np.abs(self._residual(point, model, 0.0)).sum())
            # complementarity must not run ahead of the other conditions
            mu = max(share * left, BEHIND * (off - left)) / (len(point.z) + len(point.s))
            residual = self._residual(point, model, mu)
            scale = model.value / self.unit
            if off < best[0]:
                best = (off, point)
            value, bound = self._sides(point, model)
            if limits.tell(step, value, bound) and (limits.over() or limits.gap > OPTIMAL):
                best = (off, point)  # else to the last digit: a step or two
                break
            if left <= GOAL * scale and off <= 100 * GOAL * scale:
                break
            taken = self._step(point, model, residual, mu)
            if taken < LEAST_STEP:
                break
            share = 0.5 if taken < 0.5 else 0.1 if taken < 0.9 else 0.02
        point = replace(best[1], y=best[1].y * self.unit)
        return point, self.model.at(point.theta, point.prior, second=False)

    def _sides(self, point: _Point, model: Expansion) -> tuple[float, float]:
        """Return a risk that the mixture is at most at any prior, and one that none is below.

        By convexity in theta, with Sum theta_i p . l_i = 1 for all mixtures, the risk is at least
        what it is here less the most that a ray is worth above its price. By concavity in p it is
        at most what it is here and how much its tangent rises towards one input.
        """
        excess = (model.gain + point.y @ self.C) / (point.prior @ self.model.rays.level)
        used = point.theta * (point.prior @ self.model.rays.level)
        value = bound = model.value / self.unit
        bound += float(used @ excess - excess.max())
        unit = self.unit * self.model.utility.scale
        return unit * (value + self.rise(point, model)), unit * bound

    def rise(self, point: _Point, model: Expansion) -> float:
        """Return how much the risk can be larger at another prior."""
        if not self.moving:
            return 0.0
        return float(model.slope_p.max() - model.slope_p @ point.prior)

    def _at(self, point: _Point, second: bool = True) -> Expansion:
        found = self.model.at(point.theta, point.prior, second)
        return replace(
            found,
            gain=found.gain / self.unit,
            slope_p=found.slope_p / self.unit,
            H=found.H / self.unit,
        )

    def _residual(
        self, point: _Point, model: Expansion, mu: float, by: _Point | None = None
    ) -> FloatArray:
        """Return how far each condition is from holding, prices weighed with a point's weights."""
        by = by or point
        parts = [
            (-model.gain - point.y @ self.C - point.z) * by.theta,
            self.C @ point.theta - 1,
            point.theta * point.z - mu,
        ]
        if self.moving:
            parts += [
                (model.slope_p + point.s - point.t) * by.prior,
                np.array([point.prior.sum() - 1]),
                point.prior * point.s - mu,
            ]
        return np.concatenate(parts)

    def _step(self, point: _Point, model: Expansion, residual: FloatArray, mu: float) -> float:
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
            right[n : n + k] = point.t - model.slope_p - mu / point.prior
            right[-1] = 1 - point.prior.sum()
        # weights differ by orders of magnitude: solve for relative changes
        by = np.concatenate([point.theta, point.prior[:k], np.ones(m + bool(k))])
        K = K * by * by[:, None]
        try:
            step = by * np.linalg.solve(K, by * right)
        except np.linalg.LinAlgError:
            step = by * np.linalg.lstsq(K, by * right, rcond=None)[0]
        dz = (mu - point.theta * point.z - point.z * step[:n]) / point.theta
        ds = (
            (mu - point.prior * point.s - point.s * step[n : n + k]) / point.prior
            if k
            else np.zeros(0)
        )
        now = np.concatenate([point.theta, point.prior[:k], point.z, point.s])
        change = np.concatenate([step[: n + k], dz, ds])
        falling = change < 0
        longest = 1.0
        if falling.any():
            longest = min(1.0, TO_BOUNDARY * float((-now[falling] / change[falling]).min()))
        before, alpha = float(np.linalg.norm(residual)), longest
        while alpha >= LEAST_STEP:
            trial = point.moved(step, alpha, ds, dz)
            after = self._residual(trial, self._at(trial, second=False), mu, point)
            if np.linalg.norm(after) <= (1 - 0.01 * alpha) * before:
                self.point = trial
                return alpha
            alpha /= 2
        return 0.0
