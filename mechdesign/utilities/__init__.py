"""Utilities: what a channel must stay useful for.

To add one, write its class in a file of its own and name it in :data:`UTILITIES`.
"""

from __future__ import annotations

from mechdesign.utilities.base import Distortion, LinearUtility, Utility
from mechdesign.utilities.bayes_accuracy import BayesAccuracy
from mechdesign.utilities.column import ColumnUtility
from mechdesign.utilities.convex import ConvexUtility, ExpressionUtility, placed
from mechdesign.utilities.distances import (
    EuclideanDistance,
    MeanAbsoluteError,
    MeanSquaredDistance,
)
from mechdesign.utilities.estimation import EstimationRisk
from mechdesign.utilities.hamming import HammingLoss
from mechdesign.utilities.l2_risk import L2Risk
from mechdesign.utilities.mutual_information import MutualInformation
from mechdesign.utilities.posterior_mean_squared_error import PosteriorMeanSquaredError
from mechdesign.utilities.tv_risk import TVRisk
from mechdesign.utilities.unbiased_variance import UnbiasedVariance

__all__ = [
    "UTILITIES",
    "BayesAccuracy",
    "ColumnUtility",
    "ConvexUtility",
    "Distortion",
    "EstimationRisk",
    "EuclideanDistance",
    "ExpressionUtility",
    "HammingLoss",
    "L2Risk",
    "LinearUtility",
    "MeanAbsoluteError",
    "MeanSquaredDistance",
    "MutualInformation",
    "PosteriorMeanSquaredError",
    "TVRisk",
    "UnbiasedVariance",
    "Utility",
    "placed",
]

UTILITIES: dict[str, type[Utility]] = {
    utility.name: utility
    for utility in (
        MeanAbsoluteError,
        MeanSquaredDistance,
        HammingLoss,
        EuclideanDistance,
        Distortion,
        PosteriorMeanSquaredError,
        MutualInformation,
        BayesAccuracy,
        L2Risk,
        TVRisk,
        UnbiasedVariance,
    )
}
"""Every utility by its word in problem files."""
