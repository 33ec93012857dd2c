"""The four generators of cones: `ratio`, `lift`, `rows`, `latent`."""

from __future__ import annotations

from mechdesign.kernel.generators.base import Block, Generator, Key, ListedRow, Side
from mechdesign.kernel.generators.lift import Ball, Box, Lift, Listed, distribution
from mechdesign.kernel.generators.ratio import Constant, Distance, Matrix, Ratio
from mechdesign.kernel.generators.rows import Latent, Rows

__all__ = [
    "Ball",
    "Block",
    "Box",
    "Cone",
    "Constant",
    "Distance",
    "Generator",
    "Key",
    "Latent",
    "Lift",
    "Listed",
    "ListedRow",
    "Matrix",
    "Ratio",
    "Rows",
    "Side",
    "distribution",
]

Cone = Ratio | Lift | Rows | Latent
"""A generator, of one of the four kinds."""
