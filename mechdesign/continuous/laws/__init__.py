"""Laws of a continuous input: samples, histograms, named laws, mixtures, kernel estimates."""

from __future__ import annotations

from mechdesign.continuous.laws.base import CellMoments, Law
from mechdesign.continuous.laws.empirical import KDE, Histogram, Samples
from mechdesign.continuous.laws.named import GaussianMixture, NamedLaw

__all__ = [
    "KDE",
    "CellMoments",
    "GaussianMixture",
    "Histogram",
    "Law",
    "NamedLaw",
    "Samples",
]
