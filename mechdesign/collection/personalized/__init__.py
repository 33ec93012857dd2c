"""Personalized LDP: every record is private at its own epsilon, and one estimate is made from all.

Categories go through :func:`privatize_each`; numbers go through PENA, :func:`collect_numbers`, for
means and sums.
"""

from __future__ import annotations

from mechdesign.collection.personalized.categories import (
    PersonalizedGroup,
    PersonalizedReports,
    privatize_each,
)
from mechdesign.collection.personalized.groups import Group
from mechdesign.collection.personalized.pena import (
    NumberReports,
    TwoValuedResponder,
    collect_numbers,
)

__all__ = [
    "Group",
    "NumberReports",
    "PersonalizedGroup",
    "PersonalizedReports",
    "TwoValuedResponder",
    "collect_numbers",
    "privatize_each",
]
