"""The total variance of the estimated distribution."""

from __future__ import annotations

import numpy as np

from mechdesign._typing import FloatArray
from mechdesign.utilities.estimation import Deviations, EstimationRisk


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
