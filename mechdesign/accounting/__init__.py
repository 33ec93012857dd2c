"""Accounting: what a channel leaks, after many uses, and under another prior."""

from __future__ import annotations

from mechdesign.accounting.centralized import (
    CentralSurvey,
    central_error,
    central_survey,
    local_error,
)
from mechdesign.accounting.composition import Composition, compose
from mechdesign.accounting.delta_curve import DeltaCurve, delta_curve
from mechdesign.accounting.deltas import approximate_delta, exact_delta
from mechdesign.accounting.estimated_priors import (
    Robustness,
    prior_ball,
    robust_problem,
    robustness,
    sample_radius,
)
from mechdesign.accounting.formulas import lip_to_ldp, theorem_4
from mechdesign.accounting.leakage_table import Leakage, Leakages
from mechdesign.accounting.leakages import leakages
from mechdesign.accounting.products import adaptive, product
from mechdesign.accounting.relation_table import Implied, Relations
from mechdesign.accounting.relations import implied, relations
from mechdesign.accounting.secrets import SecretLeakage, secret_channel, secret_leakage
from mechdesign.accounting.sequences import compose_sequence
from mechdesign.accounting.testing import ErrorRegion, TradeOff, error_region, trade_off
from mechdesign.accounting.tightest import tightest_matrix
from mechdesign.accounting.unequal_people import central_bounds
from mechdesign.accounting.wrong_priors import (
    Transfer,
    family_bound,
    first_bound_radius,
    log_ratio_bound,
    total_variation,
    transfer,
    transfer_bound,
)

__all__ = [
    "CentralSurvey",
    "Composition",
    "DeltaCurve",
    "ErrorRegion",
    "Implied",
    "Leakage",
    "Leakages",
    "Relations",
    "Robustness",
    "SecretLeakage",
    "TradeOff",
    "Transfer",
    "adaptive",
    "approximate_delta",
    "central_bounds",
    "central_error",
    "central_survey",
    "compose",
    "compose_sequence",
    "delta_curve",
    "error_region",
    "exact_delta",
    "family_bound",
    "first_bound_radius",
    "implied",
    "leakages",
    "lip_to_ldp",
    "local_error",
    "log_ratio_bound",
    "prior_ball",
    "product",
    "relations",
    "robust_problem",
    "robustness",
    "sample_radius",
    "secret_channel",
    "secret_leakage",
    "theorem_4",
    "tightest_matrix",
    "total_variation",
    "trade_off",
    "transfer",
    "transfer_bound",
]
