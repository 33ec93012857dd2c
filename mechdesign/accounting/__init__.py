"""Accounting: what a channel leaks, after many uses, and under another prior."""

from __future__ import annotations

from mechdesign.accounting.auditing import AuditResult, audit
from mechdesign.accounting.central.central import (
    LeastReports,
    LocalBudget,
    after_aggregation,
    after_shuffling,
    delta_after_shuffling,
    largest_local_budget,
    least_reports,
)
from mechdesign.accounting.central.designs import (
    AggregatedDesign,
    ShuffledDesign,
    design_for_aggregation,
    design_for_shuffle,
)
from mechdesign.accounting.central.result import Central
from mechdesign.accounting.channel_leakage import (
    Leakage,
    Leakages,
    leakages,
    sensitive_attribute_channel,
    sensitive_attribute_leakage,
)
from mechdesign.accounting.composition import (
    Composition,
    adaptive,
    compose,
    compose_sequence,
    product,
)
from mechdesign.accounting.continuous.bounded_means import (
    DuchiMechanism,
    HybridMechanism,
    OptimalPiecewiseMechanism,
    PiecewiseMechanism,
)
from mechdesign.accounting.continuous.gaussian import (
    GaussianMechanism,
    analytic_gaussian_delta,
    analytic_gaussian_deviation,
    least_deviation,
)
from mechdesign.accounting.continuous.lip_mechanisms import (
    LaplaceMechanism,
    SamplingMechanism,
    laplace_scale,
    least_laplace_scale,
)
from mechdesign.accounting.conversions import lip_composition_bound, lip_to_ldp
from mechdesign.accounting.hypothesis_testing import (
    ErrorRegion,
    PrivacyProfile,
    TradeOff,
    error_region,
    privacy_profile,
    trade_off,
)
from mechdesign.accounting.implications import Implied, Relations, implied, relations
from mechdesign.accounting.information import Capacity, capacity
from mechdesign.accounting.priors import (
    PriorMismatch,
    family_bound,
    log_ratio_bound,
    prior_ball,
    prior_mismatch,
    robust_problem,
    sample_radius,
    total_variation,
)
from mechdesign.accounting.ratios import tightest_matrix
from mechdesign.exact.enclosures import Bounds

__all__ = [
    "AggregatedDesign",
    "AuditResult",
    "Bounds",
    "Capacity",
    "Central",
    "Composition",
    "DuchiMechanism",
    "ErrorRegion",
    "GaussianMechanism",
    "HybridMechanism",
    "Implied",
    "LaplaceMechanism",
    "Leakage",
    "Leakages",
    "LeastReports",
    "LocalBudget",
    "OptimalPiecewiseMechanism",
    "PiecewiseMechanism",
    "PriorMismatch",
    "PrivacyProfile",
    "Relations",
    "SamplingMechanism",
    "ShuffledDesign",
    "TradeOff",
    "adaptive",
    "after_aggregation",
    "after_shuffling",
    "analytic_gaussian_delta",
    "analytic_gaussian_deviation",
    "audit",
    "capacity",
    "compose",
    "compose_sequence",
    "delta_after_shuffling",
    "design_for_aggregation",
    "design_for_shuffle",
    "error_region",
    "family_bound",
    "implied",
    "laplace_scale",
    "largest_local_budget",
    "leakages",
    "least_deviation",
    "least_laplace_scale",
    "least_reports",
    "lip_composition_bound",
    "lip_to_ldp",
    "log_ratio_bound",
    "prior_ball",
    "prior_mismatch",
    "privacy_profile",
    "product",
    "relations",
    "robust_problem",
    "sample_radius",
    "sensitive_attribute_channel",
    "sensitive_attribute_leakage",
    "tightest_matrix",
    "total_variation",
    "trade_off",
]
