"""Mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.domain import Domain, Label
from mechdesign.utilities.column import ColumnUtility

__all__ = ["MutualInformation"]


class MutualInformation(ColumnUtility):
    """I(X; Y) = Sum_xy P_x Q[x,y] ln(Q[x,y] / lambda_y) in nats, maximized.

    Notes
    -----
    Source: Kairouz, Oh and Viswanath 2016, for LDP; convex in Q, so the maximum is at extreme rays.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(float(MutualInformation().value(warner, Prior([0.5, 0.5]))), 6)
    0.130812
    """

    name = "mutual-information"
    title = "information that Y carries about X, in nats"
    sense = "maximize"
    exact = True

    def treats_inputs_alike(self, domain: Domain, outputs: Sequence[Label] | None) -> bool:
        """Return True."""
        return True

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        """Return Sum_x P_x q_x ln(q_x / P . q)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = prior[:, None] * columns * np.log(columns / (prior @ columns))
        return np.asarray(np.where(np.isfinite(terms), terms, 0.0).sum(axis=0))

    def coordinate_gain(self, x: IntArray, r: FloatArray, prior: FloatArray) -> Any:
        """Return P_x r ln r."""
        return prior[x] * r * np.log(np.where(r > 0, r, 1.0))
