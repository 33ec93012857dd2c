"""The relaxations: each takes a statement to one whose optimum is not larger."""

from __future__ import annotations

from mechdesign.kernel.relaxations.estimator import Estimator
from mechdesign.kernel.relaxations.grids import Cells, Tiles
from mechdesign.kernel.relaxations.implied import Implied
from mechdesign.kernel.relaxations.members import Average, Members
from mechdesign.kernel.relaxations.restrict import Representatives, Restrict

__all__ = [
    "Average",
    "Cells",
    "Estimator",
    "Implied",
    "Members",
    "Relaxations",
    "Representatives",
    "Restrict",
    "Tiles",
]

Relaxations = Average | Cells | Estimator | Members | Restrict | Implied | Representatives | Tiles
"""A relaxation, of one of the kinds."""
