"""The oracles: each makes prices safe."""

from __future__ import annotations

from mechdesign.kernel.oracles.entropy import Entropy
from mechdesign.kernel.oracles.knapsack import Knapsack
from mechdesign.kernel.oracles.linear import Line, OneBudget, Orthant
from mechdesign.kernel.oracles.products import Products
from mechdesign.kernel.oracles.rays import Rays

__all__ = [
    "Entropy",
    "Knapsack",
    "Line",
    "OneBudget",
    "Oracles",
    "Orthant",
    "Products",
    "Rays",
]

Oracles = Orthant | Line | OneBudget | Knapsack | Rays | Products | Entropy
"""An oracle, of one of the kinds."""
