"""Laws of a continuous input: samples, histograms, named laws, mixtures, kernel estimates."""

from __future__ import annotations

from mechdesign.continuous.laws.base import Law, NumberLaw
from mechdesign.continuous.laws.empirical import KDE, Histogram, Samples
from mechdesign.continuous.laws.named import GaussianMixture, NamedLaw
from mechdesign.continuous.laws.plane import (
    PlaneHistogram,
    PlaneMixture,
    PlaneSamples,
    ProductLaw,
)

__all__ = [
    "KDE",
    "GaussianMixture",
    "Histogram",
    "Law",
    "NamedLaw",
    "NumberLaw",
    "PlaneHistogram",
    "PlaneMixture",
    "PlaneSamples",
    "ProductLaw",
    "Samples",
]
