"""Accounting: what a channel leaks, after many uses, and under another prior."""

from __future__ import annotations

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
from mechdesign.accounting.composition.composition import Composition, compose, compose_sequence
from mechdesign.accounting.composition.products import adaptive, product
from mechdesign.accounting.continuous.analytic_gaussian import (
    analytic_gaussian_delta,
    analytic_gaussian_deviation,
)
from mechdesign.accounting.continuous.bounded_means import (
    DuchiMechanism,
    HybridMechanism,
    OptimalPiecewiseMechanism,
    PiecewiseMechanism,
)
from mechdesign.accounting.continuous.gaussian import GaussianMechanism, least_deviation
from mechdesign.accounting.continuous.laplace import (
    LaplaceMechanism,
    laplace_scale,
    least_laplace_scale,
)
from mechdesign.accounting.continuous.sampling_mechanism import SamplingMechanism
from mechdesign.accounting.conversions.formulas import lip_composition_bound, lip_to_ldp
from mechdesign.accounting.conversions.relations import Implied, Relations, implied, relations
from mechdesign.accounting.measure.capacity import Capacity, capacity
from mechdesign.accounting.measure.hypothesis_testing import (
    ErrorRegion,
    TradeOff,
    error_region,
    trade_off,
)
from mechdesign.accounting.measure.leakage_table import Leakage, Leakages
from mechdesign.accounting.measure.leakages import leakages
from mechdesign.accounting.measure.privacy_profile import PrivacyProfile, privacy_profile
from mechdesign.accounting.measure.sensitive_attribute import (
    sensitive_attribute_channel,
    sensitive_attribute_leakage,
)
from mechdesign.accounting.measure.tightest_matrix import tightest_matrix
from mechdesign.accounting.priors.estimated_priors import (
    prior_ball,
    robust_problem,
    sample_radius,
)
from mechdesign.accounting.priors.prior_mismatch import (
    PriorMismatch,
    family_bound,
    log_ratio_bound,
    prior_mismatch,
    total_variation,
)
from mechdesign.exact.enclosures import Bounds

__all__ = [
    "AggregatedDesign",
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
