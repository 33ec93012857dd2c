"""Closed forms: formulas for the optimal channel, each with its condition of optimality.

To add one, write its class and list it in :data:`CLOSED_FORMS`. Its one method, ``decide``, returns
the optimum with its certificate, or the reason why the condition fails. Most belong to two
families: simplicial cones (:mod:`~mechdesign.closed_forms.simplicial`), and rays that are equal up
to a permutation (:mod:`~mechdesign.closed_forms.size_classes`).
"""

from __future__ import annotations

from mechdesign.closed_forms.base import ClosedForm, Formula, Optimum
from mechdesign.closed_forms.likeliest_inputs import LikeliestInputs
from mechdesign.closed_forms.response_on_bins import BinaryMechanism, ResponseOnBins
from mechdesign.closed_forms.simplicial import (
    BinaryUniversal,
    IndependentRelease,
    LIPRandomizedResponse,
    Unconstrained,
    Universal,
)
from mechdesign.closed_forms.size_classes import (
    BlockSubsetSelection,
    HighLowSubsetSelection,
    LiftSubsetSelection,
    RandomizedResponse,
    SubsetSelection,
    UniformLift,
    UniformSubsets,
)

__all__ = [
    "CLOSED_FORMS",
    "BinaryMechanism",
    "BinaryUniversal",
    "BlockSubsetSelection",
    "ClosedForm",
    "Formula",
    "HighLowSubsetSelection",
    "IndependentRelease",
    "LIPRandomizedResponse",
    "LiftSubsetSelection",
    "LikeliestInputs",
    "Optimum",
    "RandomizedResponse",
    "ResponseOnBins",
    "SubsetSelection",
    "Unconstrained",
    "UniformLift",
    "UniformSubsets",
    "Universal",
]

CLOSED_FORMS: tuple[ClosedForm, ...] = (
    Unconstrained(),
    IndependentRelease(),
    BinaryUniversal(),
    LIPRandomizedResponse(),
    Universal(),
    UniformLift(),
    RandomizedResponse(),
    UniformSubsets(),
    BinaryMechanism(),
    ResponseOnBins(),
    SubsetSelection(),
    LiftSubsetSelection(),
    BlockSubsetSelection(),
    HighLowSubsetSelection(),
    LikeliestInputs(),
)
"""All closed forms, in the order in which the router tries them."""
