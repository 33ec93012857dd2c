"""Points in the plane: a box, the law of a point on it, the problem, and the channel of points."""

from __future__ import annotations

from mechdesign.continuous.plane.box import Box
from mechdesign.continuous.plane.channel import PlaneChannel
from mechdesign.continuous.plane.laws import (
    PlaneHistogram,
    PlaneMixture,
    PlaneSamples,
    ProductLaw,
)
from mechdesign.continuous.plane.problem import PlaneProblem

__all__ = [
    "Box",
    "PlaneChannel",
    "PlaneHistogram",
    "PlaneMixture",
    "PlaneProblem",
    "PlaneSamples",
    "ProductLaw",
]
