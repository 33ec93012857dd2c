"""Personalized LDP: every record is private at its own epsilon, and one estimate is made from all.

Categories go through :func:`privatize_each`. Numbers go through PENA for means and sums,
:func:`collect_numbers`, and through a :class:`BinnedRange` for quantiles.
"""

from __future__ import annotations

from mechdesign.collection.personalized.binned_range import BinnedRange
from mechdesign.collection.personalized.categories import (
    PersonalizedGroup,
    PersonalizedReports,
    privatize_each,
)
from mechdesign.collection.personalized.pena import NumberGroup, NumberReports, collect_numbers
from mechdesign.collection.personalized.two_valued_response import TwoValuedResponder

__all__ = [
    "BinnedRange",
    "NumberGroup",
    "NumberReports",
    "PersonalizedGroup",
    "PersonalizedReports",
    "TwoValuedResponder",
    "collect_numbers",
    "privatize_each",
]
