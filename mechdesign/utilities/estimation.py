"""Risks of estimating the distribution of the inputs from many reports."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.domain import Domain, Label
from mechdesign.errors import UnsupportedError
from mechdesign.prior import Prior
from mechdesign.utilities.base import MeanOrWorstCase


class Deviations(NamedTuple):
    """The risk as a function of the variances v_x = (M**-1)_xx, summed over the inputs.

    Each input's term, its first two derivatives in v_x, those in p_x, and the mixed one.
    """

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray
    prior_slope: FloatArray
    prior_curvature: FloatArray
    mixed: FloatArray


class EstimationRisk(MeanOrWorstCase):
    """Risk of the best linear unbiased estimator of the distribution of the inputs.

    From n reports with frequencies h, the distribution p is estimated as Sum_y h_y W_y with W_y =
    M**-1 q_y / (p . q_y) and M = Sum_y q_y q_y' / (p . q_y). It is unbiased for every distribution,
    and at p no linear unbiased estimator has less variance: n Cov = M**-1 - p p'. The objective is
    the risk for n = 1; it decreases as 1 / n, or 1 / sqrt(n) for a deviation.

    Parameters
    ----------
    worst_case
        Whether to take the largest risk over all distributions instead of that at the prior. The
        estimator is then that of one distribution, the least favorable, and the risk of a channel
        is the largest risk of this estimator at any distribution. The prior of the problem then
        only matters to notions that depend on it.

    Notes
    -----
    No post-processing lowers the risk, so it does not depend on the labels of the outputs.
    """

    definition = "deviations"
    needs_positive_prior = True
    finite_on = "rows that are linearly independent, so that reports determine the distribution"
    worst_over = "distributions"
    roots = False
    """Whether it is a sum of deviations, times sqrt(1 / (2 pi)), rather than of variances."""

    @abstractmethod
    def deviations(self, variances: FloatArray, prior: FloatArray) -> Deviations:
        """Return the terms of the risk, times :attr:`scale`, and their derivatives."""

    @property
    def scale(self) -> float:
        """The factor of the sum of :meth:`deviations`."""
        return 1.0

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> EstimationRisk:
        """Return the risk."""
        if not self.exact:
            raise UnsupportedError("objective", "l2-risk or tv-risk as a risk", type(self).__name__)
        return self

    def reference(self, prior: Prior) -> Prior:
        """Return the prior of the problem; for a worst case the uniform one."""
        return Prior.uniform(len(prior)) if self.worst_case else prior


class L2Risk(EstimationRisk):
    """tr M**-1 - |p|**2: n times the expected squared error of the estimated distribution.

    M = Sum_y q_y q_y' / (p . q_y) is the information about p in the columns q_y of the channel.

    Parameters
    ----------
    worst_case
        Whether to take the maximum over all distributions p; see
        :class:`~mechdesign.utilities.estimation.EstimationRisk`.

    Notes
    -----
    Source: Ye and Barg 2018, for LDP at the uniform distribution; Acharya et al. 2020 for
    context-aware LDP.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(float(L2Risk().value(warner, Prior([0.5, 0.5]))), 6)
    2.0
    """

    name = "l2-risk"
    title = "n times the squared error of the estimated distribution"
    exact = True

    def deviations(self, variances: FloatArray, prior: FloatArray) -> Deviations:
        """Return v_x - p_x**2."""
        zero, one = np.zeros_like(prior), np.ones_like(prior)
        return Deviations(variances - prior**2, one, zero, -2 * prior, -2 * one, zero)


class TVRisk(EstimationRisk):
    """sqrt(1 / (2 pi)) Sum_x sqrt((M**-1)_xx - p_x**2): the total variation, times sqrt(n).

    M = Sum_y q_y q_y' / (p . q_y) is the information about p in the columns q_y of the channel.
    With many reports the error of each estimated p_x is nearly normal, so its mean absolute value
    is sqrt(2 / (pi n)) times its deviation; the total variation is half their sum.

    Parameters
    ----------
    worst_case
        Whether to take the maximum over all distributions p; see
        :class:`~mechdesign.utilities.estimation.EstimationRisk`.

    Notes
    -----
    Source: Acharya et al. 2020 for total variation; the constant for many reports is ours.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(float(TVRisk().value(warner, Prior([0.5, 0.5]))), 6)
    0.797885
    """

    name = "tv-risk"
    title = "sqrt(n) times the total variation of the estimated distribution"
    exact = True
    roots = True

    @property
    def scale(self) -> float:
        """sqrt(1 / (2 pi))."""
        return math.sqrt(1 / (2 * math.pi))

    def deviations(self, variances: FloatArray, prior: FloatArray) -> Deviations:
        """Return w_x = sqrt(v_x - p_x**2)."""
        w = np.sqrt(np.maximum(variances - prior**2, 1e-300))
        return Deviations(
            w,
            1 / (2 * w),
            -1 / (4 * w**3),
            -prior / w,
            -1 / w - prior**2 / w**3,
            prior / (2 * w**3),
        )
