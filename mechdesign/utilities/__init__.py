"""Utilities: the objectives of a design.

To add a utility, write its class in a file of its own and list it in :data:`UTILITIES`.
"""

from __future__ import annotations

from mechdesign.utilities.base import Distortion, LinearUtility, Utility
from mechdesign.utilities.column import ColumnUtility
from mechdesign.utilities.convex import ConvexUtility, ExpressionUtility, placed
from mechdesign.utilities.distances import (
    EuclideanDistance,
    HammingLoss,
    MeanAbsoluteError,
    MeanSquaredDistance,
)
from mechdesign.utilities.divergences import (
    ChiSquared,
    Divergence,
    KullbackLeibler,
    SquaredHellinger,
    TotalVariation,
)
from mechdesign.utilities.estimation import EstimationRisk, L2Risk, TVRisk
from mechdesign.utilities.guesses import BayesAccuracy, GVulnerability
from mechdesign.utilities.information import FisherInformation, MutualInformation
from mechdesign.utilities.posterior_mean_squared_error import PosteriorMeanSquaredError
from mechdesign.utilities.unbiased_variance import ReadingVariance, UnbiasedVariance

__all__ = [
    "UTILITIES",
    "BayesAccuracy",
    "ChiSquared",
    "ColumnUtility",
    "ConvexUtility",
    "Distortion",
    "Divergence",
    "EstimationRisk",
    "EuclideanDistance",
    "ExpressionUtility",
    "FisherInformation",
    "GVulnerability",
    "HammingLoss",
    "KullbackLeibler",
    "L2Risk",
    "LinearUtility",
    "MeanAbsoluteError",
    "MeanSquaredDistance",
    "MutualInformation",
    "PosteriorMeanSquaredError",
    "ReadingVariance",
    "SquaredHellinger",
    "TVRisk",
    "TotalVariation",
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
        GVulnerability,
        FisherInformation,
        TotalVariation,
        KullbackLeibler,
        ChiSquared,
        SquaredHellinger,
        L2Risk,
        TVRisk,
        UnbiasedVariance,
    )
}
"""All utilities by their names in problem files."""
