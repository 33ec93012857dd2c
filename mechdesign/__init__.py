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
    from mechdesign.channel import Channel
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
    from mechdesign.files import load_channel, load_problem, save
    from mechdesign.frontier import design_frontier
    from mechdesign.many import design_each, design_many
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
    )
    from mechdesign.plots import plot_channel
    from mechdesign.prior import Prior
    from mechdesign.prior_sets import PriorBall, PriorBox, PriorList
    from mechdesign.problem import Expected, Problem
    from mechdesign.solution import Solution
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
    "channel": ("Channel",),
    "facade": ("design",),
    "domain": ("Domain",),
    "errors": (
        "CertificateError",
        "InfeasibleError",
        "InputError",
        "MechdesignError",
        "SolverError",
        "UnsupportedError",
    ),
    "frontier": ("design_frontier",),
    "files": ("load_channel", "load_problem", "save"),
    "many": ("design_each", "design_many"),
    "notions": (
        "LDP",
        "LIP",
        "PML",
        "ApproximateLDP",
        "ApproximateLIP",
        "BlockLDP",
        "BoundedPriorLIP",
        "ContextAwareLDP",
        "DifferentialIdentifiability",
        "HighLowLDP",
        "InformationPrivacy",
        "LiftBounds",
        "MaximalLeakage",
        "MetricPrivacy",
    ),
    "plots": ("plot_channel",),
    "prior": ("Prior",),
    "prior_sets": ("PriorBall", "PriorBox", "PriorList"),
    "problem": ("Expected", "Problem"),
    "solution": ("Solution",),
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
    "BlockLDP",
    "BoundedPriorLIP",
    "CertificateError",
    "Channel",
    "ColumnUtility",
    "ContextAwareLDP",
    "ConvexUtility",
    "DifferentialIdentifiability",
    "Distortion",
    "Domain",
    "EuclideanDistance",
    "Expected",
    "HammingLoss",
    "HighLowLDP",
    "InfeasibleError",
    "InformationPrivacy",
    "InputError",
    "L2Risk",
    "LiftBounds",
    "MaximalLeakage",
    "MeanAbsoluteError",
    "MeanSquaredDistance",
    "MechdesignError",
    "MetricPrivacy",
    "MutualInformation",
    "PosteriorMeanSquaredError",
    "Prior",
    "PriorBall",
    "PriorBox",
    "PriorList",
    "Problem",
    "Solution",
    "SolverError",
    "TVRisk",
    "Universality",
    "UnsupportedError",
    "__version__",
    "design",
    "design_each",
    "design_frontier",
    "design_many",
    "load_channel",
    "load_problem",
    "plot_channel",
    "save",
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
