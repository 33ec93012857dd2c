"""Privacy notions: each compiles to named rows on the columns of a channel, or to a rule on it all.

To add one, write its class in a file of its own and name it in :data:`NOTIONS`.
"""

from __future__ import annotations

from mechdesign.notions.approximate_ldp import ApproximateLDP
from mechdesign.notions.approximate_lip import ApproximateLIP
from mechdesign.notions.base import Notion, cone_of
from mechdesign.notions.block import BlockLDP
from mechdesign.notions.bounded_prior_lip import BoundedPriorLIP
from mechdesign.notions.cone import Cone, Row
from mechdesign.notions.context_aware import ContextAwareLDP
from mechdesign.notions.differential_identifiability import DifferentialIdentifiability
from mechdesign.notions.high_low import HighLowLDP
from mechdesign.notions.ldp import LDP
from mechdesign.notions.lift import LiftBounds
from mechdesign.notions.lip import LIP
from mechdesign.notions.maximal_leakage import MaximalLeakage
from mechdesign.notions.metric import MetricPrivacy
from mechdesign.notions.mutual_information import InformationPrivacy
from mechdesign.notions.pml import PML
from mechdesign.notions.rule import Rule
from mechdesign.notions.secret import Secret, SecretPrivacy

__all__ = [
    "LDP",
    "LIP",
    "NOTIONS",
    "PML",
    "ApproximateLDP",
    "ApproximateLIP",
    "BlockLDP",
    "BoundedPriorLIP",
    "Cone",
    "ContextAwareLDP",
    "DifferentialIdentifiability",
    "HighLowLDP",
    "InformationPrivacy",
    "LiftBounds",
    "MaximalLeakage",
    "MetricPrivacy",
    "Notion",
    "Row",
    "Rule",
    "Secret",
    "SecretPrivacy",
    "cone_of",
]

NOTIONS: dict[str, type[Notion]] = {
    notion.name: notion
    for notion in (
        LDP,
        ContextAwareLDP,
        HighLowLDP,
        BlockLDP,
        MetricPrivacy,
        LIP,
        LiftBounds,
        PML,
        BoundedPriorLIP,
        DifferentialIdentifiability,
        ApproximateLDP,
        ApproximateLIP,
        InformationPrivacy,
        MaximalLeakage,
    )
}
"""Every notion by its word in problem files."""
