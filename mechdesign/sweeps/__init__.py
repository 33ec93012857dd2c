"""Many problems: batches on processes or clusters, and frontiers over budgets."""

from __future__ import annotations

from mechdesign.sweeps.frontier import Frontier, FrontierPoint, design_frontier
from mechdesign.sweeps.many import design_each, design_many

__all__ = [
    "Frontier",
    "FrontierPoint",
    "design_each",
    "design_frontier",
    "design_many",
]
