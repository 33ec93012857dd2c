"""Continuous inputs: an interval, the law of X on it, and the problem that they state.

``interval`` says where X lies, ``laws`` how it is distributed, ``problem`` what is asked. The
search is in :mod:`mechdesign.designs.continuous`, the proof in :mod:`mechdesign.certify`.
"""

from __future__ import annotations

from mechdesign.continuous.interval import Interval
from mechdesign.continuous.laws import KDE, GaussianMixture, Histogram, NamedLaw, Samples
from mechdesign.continuous.problem import ContinuousProblem

__all__ = [
    "KDE",
    "ContinuousProblem",
    "GaussianMixture",
    "Histogram",
    "Interval",
    "NamedLaw",
    "Samples",
]
