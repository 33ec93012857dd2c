"""Estimation from reports on the aggregator's side, with standard errors and bias."""

from __future__ import annotations

from mechdesign.estimation.continuous.histogram import ContinuousEstimate
from mechdesign.estimation.estimands import TARGETS
from mechdesign.estimation.estimate import METHODS, estimate, estimate_groups
from mechdesign.estimation.functionals import mean, survey, total, weighted_sum
from mechdesign.estimation.posterior import posterior_mean
from mechdesign.estimation.quantiles import Quantile, normal_quantile
from mechdesign.estimation.result import Estimate, ScalarEstimate

__all__ = [
    "METHODS",
    "TARGETS",
    "ContinuousEstimate",
    "Estimate",
    "Quantile",
    "ScalarEstimate",
    "estimate",
    "estimate_groups",
    "mean",
    "normal_quantile",
    "posterior_mean",
    "survey",
    "total",
    "weighted_sum",
]
