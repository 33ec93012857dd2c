"""Structured mechanisms: channels on large domains, drawn and estimated without a matrix."""

from __future__ import annotations

from mechdesign.mechanisms.advice import (
    Advice,
    BlockAdvice,
    BlockOption,
    Option,
    advise,
    advise_blocks,
)
from mechdesign.mechanisms.base import Frequencies, Mechanism
from mechdesign.mechanisms.composite import ByComponent, HighLow, around_sensitive, by_block
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.lattice_noise import GeometricNoise, PlanarLaplace
from mechdesign.mechanisms.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.randomized_response import (
    GeneralizedRandomizedResponse,
    LIPRandomizedResponse,
)
from mechdesign.mechanisms.registry import MECHANISMS, mechanism_for
from mechdesign.mechanisms.reported_sets import (
    OptimizedUnaryEncoding,
    SubsetSelection,
    SymmetricUnaryEncoding,
)

__all__ = [
    "MECHANISMS",
    "Advice",
    "BlockAdvice",
    "BlockOption",
    "ByComponent",
    "Frequencies",
    "GeneralizedRandomizedResponse",
    "GeometricNoise",
    "HadamardResponse",
    "HighLow",
    "LIPRandomizedResponse",
    "Mechanism",
    "OptimizedUnaryEncoding",
    "Option",
    "PlanarLaplace",
    "ProjectiveGeometryResponse",
    "SubsetSelection",
    "SymmetricUnaryEncoding",
    "advise",
    "advise_blocks",
    "around_sensitive",
    "by_block",
    "mechanism_for",
]
