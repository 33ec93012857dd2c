"""The frontier: the least loss at each of many budgets, and the least budget for a loss."""

from __future__ import annotations

from mechdesign.frontier.curve import Frontier, FrontierPoint, design_frontier, trace_frontier
from mechdesign.frontier.reach import Reach, least_epsilon

__all__ = [
    "Frontier",
    "FrontierPoint",
    "Reach",
    "design_frontier",
    "least_epsilon",
    "trace_frontier",
]
