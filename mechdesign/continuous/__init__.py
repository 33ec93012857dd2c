"""Continuous inputs: an interval, the law of X on it, and the design problem.

``domain`` is the interval or box of X, ``laws`` its distribution, ``problem`` the problem, and
``channel`` the solution: an exact channel of nodes, to which numbers are rounded. The search is in
:mod:`mechdesign.designs.continuous`, the proof in :mod:`mechdesign.kernel.rounding`.

Theorem (rounding). Let w_i(x) >= 0 with Sum_i w_i(x) = 1 send a number x to a node i at random, and
let the node channel Q_i satisfy a notion for the law P_i = E w_i(X) of the node. Then the kernel
Q(.|x) = Sum_i w_i(x) Q_i is a mixture of the Q_i, its output law is Sum_i P_i Q_i, and so it
satisfies each notion that is convex in the row at a fixed output law, or obeys data processing.
"""

from __future__ import annotations

from mechdesign.continuous.channel import ContinuousChannel
from mechdesign.continuous.domain import Box, Interval
from mechdesign.continuous.laws import (
    KDE,
    GaussianMixture,
    Histogram,
    NamedLaw,
    PlaneHistogram,
    PlaneMixture,
    PlaneSamples,
    ProductLaw,
    Samples,
)
from mechdesign.continuous.problem import ContinuousProblem

__all__ = [
    "KDE",
    "Box",
    "ContinuousChannel",
    "ContinuousProblem",
    "GaussianMixture",
    "Histogram",
    "Interval",
    "NamedLaw",
    "PlaneHistogram",
    "PlaneMixture",
    "PlaneSamples",
    "ProductLaw",
    "Samples",
]
