"""Sources of rays: each of a cone that holds every private column."""

from __future__ import annotations

from mechdesign.kernel.oracles.sources.double_description import DoubleDescription
from mechdesign.kernel.oracles.sources.simplicial import Facet, Simplicial
from mechdesign.kernel.oracles.sources.subsets import Classes, Subsets
from mechdesign.kernel.oracles.sources.walk import Walk

__all__ = ["Classes", "DoubleDescription", "Facet", "Simplicial", "Sources", "Subsets", "Walk"]

Sources = DoubleDescription | Simplicial | Subsets | Classes | Walk
"""A source of rays, of one of the kinds."""
