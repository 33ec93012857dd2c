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
    from mechdesign.closed_forms.universal import Universality, universal_channel
    from mechdesign.collection.personalized import BinnedRange, collect_numbers, privatize_each
    from mechdesign.collection.records import privatize_file, tally_file
    from mechdesign.collection.transformer import ChannelTransformer
    from mechdesign.designs.facade import design
    from mechdesign.designs.frontier import design_frontier, trace_frontier
    from mechdesign.designs.many import design_each, design_many
    from mechdesign.designs.min_epsilon import min_epsilon
    from mechdesign.domain import Domain
    from mechdesign.errors import (
        CertificateError,
        InfeasibleError,
        InputError,
        MechdesignError,
        SolverError,
        UnsupportedError,
    )
    from mechdesign.estimation import (
        Estimate,
        ScalarEstimate,
        estimate,
        estimate_groups,
        posterior_mean,
    )
    from mechdesign.files import load_channel, load_mechanism, load_problem, save
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
        AsymmetricLift,
        BlockLDP,
        BoundedPriorLIP,
        ContextAwareLDP,
        DifferentialIdentifiability,
        HighLowLDP,
        MaximalLeakage,
        MetricPrivacy,
        MutualInformationPrivacy,
        SensitiveAttribute,
        SensitiveAttributePrivacy,
    )
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
    from mechdesign.reports import Reports, Tally
    from mechdesign.solution import Solution
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
    "accounting": (
        "compose",
        "implied",
        "leakages",
        "relations",
        "tightest_matrix",
        "trade_off",
    ),
    "channel": ("Channel",),
    "closed_forms.universal": (
        "Universality",
        "universal_channel",
    ),
    "collection.personalized": (
        "BinnedRange",
        "collect_numbers",
        "privatize_each",
    ),
    "collection.records": (
        "privatize_file",
        "tally_file",
    ),
    "collection.transformer": ("ChannelTransformer",),
    "designs.facade": ("design",),
    "designs.frontier": (
        "design_frontier",
        "trace_frontier",
    ),
    "designs.many": (
        "design_each",
        "design_many",
    ),
    "designs.min_epsilon": ("min_epsilon",),
    "domain": ("Domain",),
    "errors": (
        "CertificateError",
        "InfeasibleError",
        "InputError",
        "MechdesignError",
        "SolverError",
        "UnsupportedError",
    ),
    "estimation": (
        "Estimate",
        "ScalarEstimate",
        "estimate",
        "estimate_groups",
        "posterior_mean",
    ),
    "files": (
        "load_channel",
        "load_mechanism",
        "load_problem",
        "save",
    ),
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
        "MutualInformationPrivacy",
        "LDP",
        "LIP",
        "AsymmetricLift",
        "MaximalLeakage",
        "MetricPrivacy",
        "PML",
        "SensitiveAttribute",
        "SensitiveAttributePrivacy",
    ),
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
    "prior_sets": (
        "PriorBall",
        "PriorBox",
        "PriorList",
    ),
    "problem": (
        "Expected",
        "Problem",
    ),
    "reports": (
        "Reports",
        "Tally",
    ),
    "solution": ("Solution",),
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
    "AsymmetricLift",
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
    "InputError",
    "L2Risk",
    "LIPRandomizedResponse",
    "MaximalLeakage",
    "MeanAbsoluteError",
    "MeanSquaredDistance",
    "Mechanism",
    "MechdesignError",
    "MetricPrivacy",
    "MutualInformation",
    "MutualInformationPrivacy",
    "OptimizedUnaryEncoding",
    "PosteriorMeanSquaredError",
    "Prior",
    "PriorBall",
    "PriorBox",
    "PriorList",
    "Problem",
    "Reports",
    "ScalarEstimate",
    "SensitiveAttribute",
    "SensitiveAttributePrivacy",
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
    "load_channel",
    "load_mechanism",
    "load_problem",
    "min_epsilon",
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
