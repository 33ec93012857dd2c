"""Closed forms: formulas for the optimal channel, each with the condition that makes it so.

To add one, write its class in a file of its own and name it in :data:`CLOSED_FORMS`. Its
``certificate`` says why it is optimal, most often by a universal channel
(:mod:`mechdesign.evidence.facets`).
"""

from __future__ import annotations

from mechdesign.closed_forms.base import ClosedForm, Formula, Verdict
from mechdesign.closed_forms.binary_universal import BinaryUniversal
from mechdesign.closed_forms.bins.response import ResponseOnBins
from mechdesign.closed_forms.high_low.two_sizes import HighLowSubsetSelection
from mechdesign.closed_forms.hypotheses.binary_mechanism import BinaryMechanism
from mechdesign.closed_forms.independent_release import IndependentRelease
from mechdesign.closed_forms.kary_mangat import KaryMangat
from mechdesign.closed_forms.leakage.likeliest import LikeliestInputs
from mechdesign.closed_forms.lift_subset_selection import LiftSubsetSelection
from mechdesign.closed_forms.lip_randomized_response import LIPRandomizedResponse
from mechdesign.closed_forms.randomized_response import RandomizedResponse
from mechdesign.closed_forms.subset_selection import BlockSubsetSelection, SubsetSelection
from mechdesign.closed_forms.unconstrained import Unconstrained
from mechdesign.closed_forms.uniform_lift import UniformLift
from mechdesign.closed_forms.uniform_subsets import UniformSubsets
from mechdesign.closed_forms.universal import Universality, universal_channel
from mechdesign.closed_forms.universal_optimum import Universal

__all__ = [
    "CLOSED_FORMS",
    "BinaryMechanism",
    "BinaryUniversal",
    "BlockSubsetSelection",
    "ClosedForm",
    "Formula",
    "HighLowSubsetSelection",
    "IndependentRelease",
    "KaryMangat",
    "LIPRandomizedResponse",
    "LiftSubsetSelection",
    "LikeliestInputs",
    "RandomizedResponse",
    "ResponseOnBins",
    "SubsetSelection",
    "Unconstrained",
    "UniformLift",
    "UniformSubsets",
    "Universal",
    "Universality",
    "Verdict",
    "universal_channel",
]

CLOSED_FORMS: tuple[ClosedForm, ...] = (
    Unconstrained(),
    IndependentRelease(),
    BinaryUniversal(),
    LIPRandomizedResponse(),
    KaryMangat(),
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
"""Every closed form, in the order in which the router asks them."""
