"""mechdesign: optimal local-privacy mechanisms, with proof.

A privacy notion is compiled to linear constraints on a channel Q(y|x), a utility is a loss of the
channel, and the best channel comes back exactly private, with a rigorous bound on the optimum.

>>> import mechdesign as md
>>> survey = md.Problem(["yes", "no"], md.LIP(1), md.PosteriorMeanSquaredError(values=[1, 0]),
...                     prior=[0.1, 0.9])
>>> round(float(md.design(survey).value), 7)
0.0791384
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechdesign.accounting import (
        compose,
        implied,
        leakages,
        relations,
        tightest_matrix,
        trade_off,
    )
    from mechdesign.channel import Channel
    from mechdesign.curator import Estimate, Reading, estimate, estimate_groups, posterior_mean
    from mechdesign.domain import Domain
    from mechdesign.errors import (
        CertificateError,
        InfeasibleError,
        InputError,
        MechdesignError,
        SolverError,
        UnsupportedError,
    )
    from mechdesign.facade import design
    from mechdesign.files import load_channel, load_mechanism, load_problem, save
    from mechdesign.frontier import design_frontier, least_epsilon, trace_frontier
    from mechdesign.many import design_each, design_many
    from mechdesign.mechanisms import (
        ByComponent,
        GeneralizedRandomizedResponse,
        HadamardResponse,
        HighLow,
        LIPRandomizedResponse,
        Mechanism,
        OptimizedUnaryEncoding,
        SubsetSelection,
        SymmetricUnaryEncoding,
        block_hadamard,
        block_randomized_response,
        block_subset_selection,
        high_low_hadamard,
        high_low_randomized_response,
        high_low_subset_selection,
    )
    from mechdesign.notions import (
        LDP,
        LIP,
        PML,
        ApproximateLDP,
        ApproximateLIP,
        BlockLDP,
        BoundedPriorLIP,
        ContextAwareLDP,
        DifferentialIdentifiability,
        HighLowLDP,
        InformationPrivacy,
        LiftBounds,
        MaximalLeakage,
        MetricPrivacy,
        Secret,
        SecretPrivacy,
    )
    from mechdesign.personal import BinnedRange, collect_numbers, privatize_each
    from mechdesign.plots import (
        plot_channel,
        plot_error_region,
        plot_estimate,
        plot_frontier,
        plot_leakages,
        plot_polytope,
        plot_posterior,
        plot_relations,
    )
    from mechdesign.prior import Prior
    from mechdesign.prior_sets import PriorBall, PriorBox, PriorList
    from mechdesign.problem import Expected, Problem
    from mechdesign.records import privatize_file, tally_file
    from mechdesign.reports import Reports, Tally
    from mechdesign.solution import Solution
    from mechdesign.transformer import ChannelTransformer
    from mechdesign.universal import Universality, universal_channel
    from mechdesign.utilities import (
        BayesAccuracy,
        ColumnUtility,
        ConvexUtility,
        Distortion,
        EuclideanDistance,
        HammingLoss,
        L2Risk,
        MeanAbsoluteError,
        MeanSquaredDistance,
        MutualInformation,
        PosteriorMeanSquaredError,
        TVRisk,
    )

__version__ = "0.1.0"

_HOME = {
    "accounting": ("compose", "implied", "leakages", "relations", "tightest_matrix", "trade_off"),
    "channel": ("Channel",),
    "curator": ("Estimate", "Reading", "estimate", "estimate_groups", "posterior_mean"),
    "domain": ("Domain",),
    "errors": (
        "CertificateError",
        "InfeasibleError",
        "InputError",
        "MechdesignError",
        "SolverError",
        "UnsupportedError",
    ),
    "facade": ("design",),
    "files": ("load_channel", "load_mechanism", "load_problem", "save"),
    "frontier": ("design_frontier", "least_epsilon", "trace_frontier"),
    "many": ("design_each", "design_many"),
    "mechanisms": (
        "ByComponent",
        "GeneralizedRandomizedResponse",
        "HadamardResponse",
        "HighLow",
        "LIPRandomizedResponse",
        "Mechanism",
        "OptimizedUnaryEncoding",
        "SubsetSelection",
        "SymmetricUnaryEncoding",
        "block_hadamard",
        "block_randomized_response",
        "block_subset_selection",
        "high_low_hadamard",
        "high_low_randomized_response",
        "high_low_subset_selection",
    ),
    "notions": (
        "ApproximateLDP",
        "ApproximateLIP",
        "BlockLDP",
        "BoundedPriorLIP",
        "ContextAwareLDP",
        "DifferentialIdentifiability",
        "HighLowLDP",
        "InformationPrivacy",
        "LDP",
        "LIP",
        "LiftBounds",
        "MaximalLeakage",
        "MetricPrivacy",
        "PML",
        "Secret",
        "SecretPrivacy",
    ),
    "personal": ("BinnedRange", "collect_numbers", "privatize_each"),
    "plots": (
        "plot_channel",
        "plot_error_region",
        "plot_estimate",
        "plot_frontier",
        "plot_leakages",
        "plot_polytope",
        "plot_posterior",
        "plot_relations",
    ),
    "prior": ("Prior",),
    "prior_sets": ("PriorBall", "PriorBox", "PriorList"),
    "problem": ("Expected", "Problem"),
    "records": ("privatize_file", "tally_file"),
    "reports": ("Reports", "Tally"),
    "solution": ("Solution",),
    "transformer": ("ChannelTransformer",),
    "universal": ("Universality", "universal_channel"),
    "utilities": (
        "BayesAccuracy",
        "ColumnUtility",
        "ConvexUtility",
        "Distortion",
        "EuclideanDistance",
        "HammingLoss",
        "L2Risk",
        "MeanAbsoluteError",
        "MeanSquaredDistance",
        "MutualInformation",
        "PosteriorMeanSquaredError",
        "TVRisk",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "LDP",
    "LIP",
    "PML",
    "ApproximateLDP",
    "ApproximateLIP",
    "BayesAccuracy",
    "BinnedRange",
    "BlockLDP",
    "BoundedPriorLIP",
    "ByComponent",
    "CertificateError",
    "Channel",
    "ChannelTransformer",
    "ColumnUtility",
    "ContextAwareLDP",
    "ConvexUtility",
    "DifferentialIdentifiability",
    "Distortion",
    "Domain",
    "Estimate",
    "EuclideanDistance",
    "Expected",
    "GeneralizedRandomizedResponse",
    "HadamardResponse",
    "HammingLoss",
    "HighLow",
    "HighLowLDP",
    "InfeasibleError",
    "InformationPrivacy",
    "InputError",
    "L2Risk",
    "LIPRandomizedResponse",
    "LiftBounds",
    "MaximalLeakage",
    "MeanAbsoluteError",
    "MeanSquaredDistance",
    "Mechanism",
    "MechdesignError",
    "MetricPrivacy",
    "MutualInformation",
    "OptimizedUnaryEncoding",
    "PosteriorMeanSquaredError",
    "Prior",
    "PriorBall",
    "PriorBox",
    "PriorList",
    "Problem",
    "Reading",
    "Reports",
    "Secret",
    "SecretPrivacy",
    "Solution",
    "SolverError",
    "SubsetSelection",
    "SymmetricUnaryEncoding",
    "TVRisk",
    "Tally",
    "Universality",
    "UnsupportedError",
    "__version__",
    "block_hadamard",
    "block_randomized_response",
    "block_subset_selection",
    "collect_numbers",
    "compose",
    "design",
    "design_each",
    "design_frontier",
    "design_many",
    "estimate",
    "estimate_groups",
    "high_low_hadamard",
    "high_low_randomized_response",
    "high_low_subset_selection",
    "implied",
    "leakages",
    "least_epsilon",
    "load_channel",
    "load_mechanism",
    "load_problem",
    "plot_channel",
    "plot_error_region",
    "plot_estimate",
    "plot_frontier",
    "plot_leakages",
    "plot_polytope",
    "plot_posterior",
    "plot_relations",
    "posterior_mean",
    "privatize_each",
    "privatize_file",
    "relations",
    "save",
    "tally_file",
    "tightest_matrix",
    "trace_frontier",
    "trade_off",
    "universal_channel",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import mechdesign`` is quick."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'mechdesign' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"mechdesign.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
