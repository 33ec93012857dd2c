"""The risk of a mixture of rays, with its derivatives in the weights and in the prior.

    M = Sum_i theta_i S_i / (p . l_i)

where S_i = r_i r_i' and l_i = r_i for a ray r_i, or the means of these over a class of rays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechdesign._typing import FloatArray
from mechdesign.errors import SolverError
from mechdesign.utilities import EstimationRisk

__all__ = ["Expansion", "MixtureRisk", "Rays"]


@dataclass(frozen=True)
class Rays:
    """Rays, or classes of rays.

    Attributes
    ----------
    spread
        S_i: ``(n_rays, n_inputs, n_inputs)``.
    level
        l_i: ``(n_inputs, n_rays)``.
    alike
        ``(n_inputs,)`` numbers of groups: where levels always agree, one equation is enough.
    """

    spread: FloatArray
    level: FloatArray
    alike: npt.NDArray[np.intp]

    @classmethod
    def single(cls, rays: FloatArray) -> Rays:
        """Return rays as they are, ``(n_inputs, n_rays)``."""
        return cls(np.einsum("ai,bi->iab", rays, rays), rays, np.arange(len(rays)))

    def chosen(self, places: npt.NDArray[np.intp]) -> Rays:
        """Return some of the rays."""
        return Rays(self.spread[places], self.level[:, places], self.alike)

    @property
    def sums(self) -> FloatArray:
        """The rows of Sum theta l = 1 that differ, ``(n_groups, n_rays)``."""
        return self.level[np.unique(self.alike, return_index=True)[1]]


@dataclass(frozen=True)
class Expansion:
    """The risk at a point, to second order.

    Attributes
    ----------
    value
        The sum of the deviations.
    gain
        ``(n_rays,)``: how fast the risk falls with each weight.
    slope_p
        ``(n_inputs,)``: how fast it rises with each probability.
    A
        M**-1.
    H
        Second derivatives in the weights, then in the probabilities if they move; empty where they
        were not asked for.
    """

    value: float
    gain: FloatArray
    slope_p: FloatArray
    A: FloatArray
    H: FloatArray


class MixtureRisk:
    """The risk as a function of (theta, p).

    Parameters
    ----------
    rays
        What is mixed.
    utility
        The risk.
    moving
        Whether p is a variable as well.
    """

    def __init__(self, rays: Rays, utility: EstimationRisk, moving: bool) -> None:
        self.rays, self.utility, self.moving = rays, utility, moving

    def at(self, theta: FloatArray, prior: FloatArray, second: bool = True) -> Expansion:
        """Return the risk and its derivatives.

        Raises
        ------
        SolverError
            If M is singular.
        """
        rays, moving, k = self.rays, self.moving, len(prior)
        law = prior @ rays.level
        E = rays.spread / law[:, None, None]
        M = np.tensordot(theta, E, 1)
        try:
            A = np.linalg.inv((M + M.T) / 2)
        except np.linalg.LinAlgError:
            raise SolverError("the budgets are too small for the distribution to be told") from None
        A = (A + A.T) / 2
        terms = self.utility.deviations(np.diag(A).copy(), prior)
        gain = E.reshape(len(E), -1) @ ((A * terms.slope) @ A).ravel()
        lift = rays.level / law
        slope_p = (lift * (theta * gain)).sum(axis=1) + terms.prior_slope
        if not second:
            return Expansion(float(terms.value.sum()), gain, slope_p, A, np.zeros((0, 0)))
        along = E
        if moving:
            fall = (lift * theta) @ E.reshape(len(E), -1)
            along = np.concatenate([E, -fall.reshape(k, k, k)])
        half = A @ along
        full = half @ A
        change = -np.diagonal(full, axis1=1, axis2=2)  # of the variances
        size = len(along)
        H = (half * (2 * terms.slope)[:, None]).reshape(size, -1) @ full.reshape(size, -1).T
        H += (change * terms.bend) @ change.T
        if moving:
            n = len(theta)
            cross = (lift * gain).T + change[:n] * terms.mixed
            H[:n, n:] += cross
            H[n:, :n] += cross.T
            own = change[n:] * terms.mixed
            H[n:, n:] += own + own.T - 2 * (lift * (theta * gain)) @ lift.T
            H[n:, n:] += np.diag(terms.prior_bend)
        return Expansion(float(terms.value.sum()), gain, slope_p, A, (H + H.T) / 2)
