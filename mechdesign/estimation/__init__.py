"""Estimation from reports on the aggregator's side, with standard errors and bias."""

from __future__ import annotations

from mechdesign.estimation.estimate import METHODS, estimate, estimate_groups
from mechdesign.estimation.functionals import mean, posterior_mean, survey, total, weighted_sum
from mechdesign.estimation.least_squares import TARGETS
from mechdesign.estimation.result import (
    Estimate,
    Quantile,
    ScalarEstimate,
    normal_quantile,
)

__all__ = [
    "METHODS",
    "TARGETS",
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
