"""The oracles, each of which makes prices safe, and the sources of rays for one of them."""

from __future__ import annotations

from mechdesign.kernel.oracles.double_description import DoubleDescription
from mechdesign.kernel.oracles.entropy import Entropy
from mechdesign.kernel.oracles.knapsack import Knapsack
from mechdesign.kernel.oracles.linear import Line, OneBudget, Orthant
from mechdesign.kernel.oracles.products import Products, Spread
from mechdesign.kernel.oracles.rays import Rays, Sources
from mechdesign.kernel.oracles.simplicial import Facet, Simplicial
from mechdesign.kernel.oracles.subsets import Classes, Subsets
from mechdesign.kernel.oracles.walk import Walk

__all__ = [
    "Classes",
    "DoubleDescription",
    "Entropy",
    "Facet",
    "Knapsack",
    "Line",
    "OneBudget",
    "Oracles",
    "Orthant",
    "Products",
    "Rays",
    "Simplicial",
    "Sources",
    "Spread",
    "Subsets",
    "Walk",
]

Oracles = Orthant | Line | OneBudget | Knapsack | Rays | Products | Entropy
"""An oracle, of one of the kinds."""
