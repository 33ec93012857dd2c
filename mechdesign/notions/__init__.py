"""Privacy notions: each compiles to named rows on the columns of a channel.

To add one, write its class in a file of its own and name it in :data:`NOTIONS`.
"""

from __future__ import annotations

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
from mechdesign.notions.metric import MetricPrivacy
from mechdesign.notions.pml import PML

__all__ = [
    "LDP",
    "LIP",
    "NOTIONS",
    "PML",
    "BlockLDP",
    "BoundedPriorLIP",
    "Cone",
    "ContextAwareLDP",
    "DifferentialIdentifiability",
    "HighLowLDP",
    "LiftBounds",
    "MetricPrivacy",
    "Notion",
    "Row",
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
    )
}
"""Every notion by its word in problem files."""
