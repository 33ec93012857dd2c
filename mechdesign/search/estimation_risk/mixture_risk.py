"""The risk of a mixture of extreme rays, with its derivatives in the weights and in the prior.

    risk(theta, p) = Sum_x d_x((M**-1)_xx, p_x),    M = Sum_i theta_i S_i / (p . l_i)

where S_i = r_i r_i' and l_i = r_i for a ray r_i, or the means of these over a class of rays, and
d_x are the deviations of the utility. The derivatives follow from d(M**-1) = -M**-1 dM M**-1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.errors import SolverError
from mechdesign.solver_guard import called, checked
from mechdesign.utilities import EstimationRisk


@dataclass(frozen=True)
class RayMoments:
    """First and second moments of rays, or of classes of rays.

    Attributes
    ----------
    second
        S_i, the mean of r r': ``(n_rays, n_inputs, n_inputs)``.
    mean
        l_i, the mean of r: ``(n_inputs, n_rays)``.
    group
        ``(n_inputs,)``: the group of each input; the means agree within a group, so one equation
        per group is enough.
    """

    second: FloatArray
    mean: FloatArray
    group: IntArray

    @classmethod
    def of_rays(cls, rays: FloatArray) -> RayMoments:
        """Return those of single rays, ``(n_inputs, n_rays)``."""
        return cls(np.einsum("ai,bi->iab", rays, rays), rays, np.arange(len(rays)))

    def chosen(self, places: IntArray) -> RayMoments:
        """Return some of the rays."""
        return RayMoments(self.second[places], self.mean[:, places], self.group)

    @property
    def equations(self) -> FloatArray:
        """The distinct rows of Sum_i theta_i l_i = 1, ``(n_groups, n_rays)``."""
        return self.mean[np.unique(self.group, return_index=True)[1]]


@dataclass(frozen=True)
class Expansion:
    """The risk at a point, to second order.

    Attributes
    ----------
    value
        The sum of the deviations.
    gain
        ``(n_rays,)``: the rate at which the risk decreases with each weight.
    prior_slope
        ``(n_inputs,)``: the rate at which it increases with each probability.
    A
        M**-1.
    H
        Second derivatives in the weights, then in the probabilities if they move; empty if not
        requested.
    """

    value: float
    gain: FloatArray
    prior_slope: FloatArray
    A: FloatArray
    H: FloatArray


class MixtureRisk:
    """The risk as a function of (theta, p).

    Parameters
    ----------
    rays
        The moments of the mixed rays.
    utility
        The risk. In the worst case p is also a variable, of the concave side of a saddle point.
    """

    def __init__(self, rays: RayMoments, utility: EstimationRisk) -> None:
        self.rays, self.utility = rays, utility

    def at(self, theta: FloatArray, prior: FloatArray, hessian: bool = True) -> Expansion:
        """Return the risk and its derivatives; SolverError if M is singular."""
        rays, moving, k = self.rays, self.utility.worst_case, len(prior)
        output = prior @ rays.mean
        E = rays.second / output[:, None, None]
        M = np.tensordot(theta, E, 1)
        try:
            A = checked("LAPACK", called("LAPACK", np.linalg.inv, (M + M.T) / 2), M.shape)
        except SolverError:
            raise SolverError("the budgets are too small to estimate the distribution") from None
        A = (A + A.T) / 2
        terms = self.utility.deviations(np.diag(A).copy(), prior)
        gain = E.reshape(len(E), -1) @ ((A * terms.slope) @ A).ravel()
        lift = rays.mean / output
        prior_slope = (lift * (theta * gain)).sum(axis=1) + terms.prior_slope
        if not hessian:
            return Expansion(float(terms.value.sum()), gain, prior_slope, A, np.zeros((0, 0)))
        along = E
        if moving:
            # dM / dp_x = -Sum_i theta_i (l_i)_x / (p . l_i) E_i
            fall = (lift * theta) @ E.reshape(len(E), -1)
            along = np.concatenate([E, -fall.reshape(k, k, k)])
        # second derivatives of Sum_x d_x: slope times 2 A E A F A, and curvature times products
        half = A @ along
        full = half @ A
        change = -np.diagonal(full, axis1=1, axis2=2)  # of the variances
        size = len(along)
        H = (half * (2 * terms.slope)[:, None]).reshape(size, -1) @ full.reshape(size, -1).T
        H += (change * terms.curvature) @ change.T
        if moving:
            n = len(theta)
            cross = (lift * gain).T + change[:n] * terms.mixed
            H[:n, n:] += cross
            H[n:, :n] += cross.T
            own = change[n:] * terms.mixed
            H[n:, n:] += own + own.T - 2 * (lift * (theta * gain)) @ lift.T
            H[n:, n:] += np.diag(terms.prior_curvature)
        return Expansion(float(terms.value.sum()), gain, prior_slope, A, (H + H.T) / 2)
