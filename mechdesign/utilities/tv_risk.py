"""The total variation between the estimated distribution and the true one."""

from __future__ import annotations

import math

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.utilities.estimation import Deviations, EstimationRisk


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
