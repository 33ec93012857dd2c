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
from mechdesign.mechanisms.codes.projective_geometry import ProjectiveGeometryResponse
from mechdesign.mechanisms.composite.by_component import ByComponent, by_block
from mechdesign.mechanisms.composite.high_low import HighLow, around_sensitive
from mechdesign.mechanisms.hadamard_response import HadamardResponse
from mechdesign.mechanisms.lip_randomized_response import LIPRandomizedResponse
from mechdesign.mechanisms.noise.lattice_noise import GeometricNoise, PlanarLaplace
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse
from mechdesign.mechanisms.registry import MECHANISMS, mechanism_for
from mechdesign.mechanisms.subsets.subset_selection import SubsetSelection
from mechdesign.mechanisms.subsets.unary_encoding import (
    OptimizedUnaryEncoding,
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
