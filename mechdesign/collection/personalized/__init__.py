"""Personalized LDP: each record has its own epsilon, and one estimate uses all reports.

:func:`privatize_each` handles categories; :func:`collect_numbers` (PENA) handles means and sums of
numbers.
"""

from __future__ import annotations

from mechdesign.collection.personalized.categories import PersonalizedReports, privatize_each
from mechdesign.collection.personalized.groups import Group
from mechdesign.collection.personalized.pena import (
    NumberReports,
    TwoValuedResponder,
    collect_numbers,
)

__all__ = [
    "Group",
    "NumberReports",
    "PersonalizedReports",
    "TwoValuedResponder",
    "collect_numbers",
    "privatize_each",
]
