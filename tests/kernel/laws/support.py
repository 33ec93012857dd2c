"""Structured mechanisms and their files, for the tests of laws."""

from __future__ import annotations

from mechdesign import BlockLDP, Domain, HighLowLDP, Prior
from mechdesign.mechanisms import (
    ByComponent,
    GeneralizedRandomizedResponse,
    GeometricNoise,
    HadamardResponse,
    HighLow,
    LIPRandomizedResponse,
    Mechanism,
    OptimizedUnaryEncoding,
    PlanarLaplace,
    ProjectiveGeometryResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from tests.documents import Document, as_read
from tests.mechanisms_support import (
    block_hadamard,
    block_projective_geometry,
    block_subset_selection,
    high_low_hadamard,
    high_low_projective_geometry,
    high_low_subset_selection,
)

MADE: dict[str, Mechanism] = {
    "randomized response": GeneralizedRandomizedResponse(["a", "b", "c"], 1),
    "Hadamard": HadamardResponse(5, 1),
    "Hadamard copies": HadamardResponse(7, 3),
    "projective": ProjectiveGeometryResponse(9, 1, 3),
    "optimized unary": OptimizedUnaryEncoding(4, 1),
    "symmetric unary": SymmetricUnaryEncoding(4, "0.5"),
    "subsets": SubsetSelection(6, 1),
    "blocks": block_hadamard(5, 1, [[0, 3], [1, 2], [4]]),
    "grid": block_subset_selection(Domain.grid(4, 6), 1, block_rows=2, block_columns=3),
    "mixed": ByComponent(
        5, BlockLDP(2, [[4, 1], [0, 2, 3]]), [OptimizedUnaryEncoding(2, 1), SubsetSelection(3, 2)]
    ),
    "high-low": high_low_hadamard(["a", "b", "c", "d"], 1, ["d", "a", "b"]),
    "high-low subsets": high_low_subset_selection(6, 1, range(4)),
    "high-low projective": high_low_projective_geometry(6, 1, range(5)),
    "block projective": block_projective_geometry(7, 1, [[0, 3, 5, 6], [1, 2, 4]]),
    "Mangat": high_low_hadamard(3, 1, [1]),
    "high-low randomized": HighLow(
        4, HighLowLDP(1, [0, 1, 2]), GeneralizedRandomizedResponse(3, 1)
    ),
    "LIP": LIPRandomizedResponse(3, 1, Prior(["0.3", "0.3", "0.4"])),
    "line": GeometricNoise([1, 3, 5, 7], 1),
    "walks": GeometricNoise(Domain.grid(2, 3, spacing="0.5"), 4),
    "plane": PlanarLaplace(Domain.grid(3, 4), 1),
}


def document_of(name: str) -> Document:
    return as_read(MADE[name])
