"""Every closed form of the atlas, in the order of its maps.

To add one, write a file and a line here.
"""

from __future__ import annotations

from benchmarks.atlas.base import Entry
from benchmarks.atlas.formulas import (
    bins,
    continuous,
    hadamard,
    hypotheses,
    leakage,
    lip_randomized_response,
    metric,
    randomized_response,
    responder,
    subset_selection,
    two_inputs,
    uniform_lift,
)
from benchmarks.atlas.formulas.intervals import means

__all__ = ["FORMULAS"]

_ALL: tuple[Entry, ...] = (
    lip_randomized_response.LIPSurvey(),
    lip_randomized_response.LIPAbsolute(),
    lip_randomized_response.LIPHamming(),
    lip_randomized_response.LIPSum(),
    lip_randomized_response.OneSidedSurvey(),
    lip_randomized_response.OneSidedHamming(),
    uniform_lift.UniformLift(),
    two_inputs.SymmetricModel(),
    two_inputs.BoundedPrior(),
    two_inputs.WarnerSurvey(),
    two_inputs.WarnerInformation(),
    two_inputs.Mangat(),
    randomized_response.GRRHamming(),
    bins.Likeliest(),
    leakage.LeakageAccuracy(),
    randomized_response.GRRSurvey(),
    randomized_response.GRRSum(),
    responder.ResponderSum(),
    randomized_response.GRRRisk(),
    subset_selection.SubsetRisk(),
    subset_selection.SubsetSize(),
    subset_selection.SubsetSkewed(),
    subset_selection.OUERisk(),
    hadamard.HadamardRisk(),
    hadamard.HighLowHadamard(),
    hadamard.HighLowSubsets(),
    hadamard.HighLowTwoSizes(),
    hadamard.BlockHadamard(),
    hadamard.BlockSubsets(),
    hypotheses.SignMechanism(),
    hypotheses.BinaryVariation(),
    hypotheses.BinaryDivergence(),
    hypotheses.ResponseDivergence(),
    metric.Geometric(),
    metric.GeometricDecided(),
    metric.ExponentialLine(),
    metric.ExponentialGrid(),
    bins.Bins(),
    continuous.Sampling(),
    continuous.AnalyticGaussian(),
    continuous.LaplaceNoise(),
    continuous.BestPiecewise(),
    means.DuchiMean(),
    means.PiecewiseMean(),
    means.HybridMean(),
)

FORMULAS: dict[str, Entry] = {formula.name: formula for formula in _ALL}
"""By name."""
