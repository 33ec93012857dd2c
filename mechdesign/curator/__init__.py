"""What a data curator does with reports: estimates, each with its error and labelled for bias."""

from __future__ import annotations

from mechdesign.curator.estimate import METHODS, estimate
from mechdesign.curator.functionals import mean, survey, total, weighted_sum
from mechdesign.curator.groups import GROUP_METHODS, estimate_groups
from mechdesign.curator.posterior import posterior_mean
from mechdesign.curator.quantiles import Quantile, normal_quantile
from mechdesign.curator.result import Estimate, Reading
from mechdesign.curator.targets import TARGETS

__all__ = [
    "GROUP_METHODS",
    "METHODS",
    "TARGETS",
    "Estimate",
    "Quantile",
    "Reading",
    "estimate",
    "estimate_groups",
    "mean",
    "normal_quantile",
    "posterior_mean",
    "survey",
    "total",
    "weighted_sum",
]
