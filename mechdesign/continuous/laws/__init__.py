"""Laws of a continuous input: samples, histograms, named laws, mixtures, kernel estimates."""

from __future__ import annotations

from mechdesign.continuous.laws.base import Law
from mechdesign.continuous.laws.named import GaussianMixture, Histogram, NamedLaw
from mechdesign.continuous.laws.plane import (
    PlaneHistogram,
    PlaneMixture,
    ProductLaw,
)
from mechdesign.continuous.laws.samples import KDE, PlaneSamples, Samples

__all__ = [
    "KDE",
    "GaussianMixture",
    "Histogram",
    "Law",
    "NamedLaw",
    "PlaneHistogram",
    "PlaneMixture",
    "PlaneSamples",
    "ProductLaw",
    "Samples",
]
