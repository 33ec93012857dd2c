"""Personal budgets: every record is private at its own epsilon, and still all are estimated as one.

Categories go through :func:`privatize_each`. Numbers go through PENA for means and sums,
:func:`collect_numbers`, and through a :class:`BinnedRange` for quantiles.
"""

from __future__ import annotations

from mechdesign.personal.comparison import MeanComparison, MeanErrors, compare_means
from mechdesign.personal.each import PersonalGroup, PersonalReports, privatize_each
from mechdesign.personal.ordinal import BinnedRange
from mechdesign.personal.pena import NumberGroup, NumberReports, collect_numbers
from mechdesign.personal.responder import TwoValuedResponder

__all__ = [
    "BinnedRange",
    "MeanComparison",
    "MeanErrors",
    "NumberGroup",
    "NumberReports",
    "PersonalGroup",
    "PersonalReports",
    "TwoValuedResponder",
    "collect_numbers",
    "compare_means",
    "privatize_each",
]
