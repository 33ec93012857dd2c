"""Privacy notions, as cones of columns or as convex constraints on the whole channel.

To add a notion, write its class in a file of its own and list it in :data:`NOTIONS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mechdesign.errors import choose
from mechdesign.notions.base import Notion, cone_of
from mechdesign.notions.block import BlockLDP
from mechdesign.notions.bounded_prior import BoundedPriorLift, BoundedPriorLIP, BoundedPriorPML
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.context_aware import ContextAwareLDP
from mechdesign.notions.differential_identifiability import DifferentialIdentifiability
from mechdesign.notions.high_low import HighLowLDP
from mechdesign.notions.ldp import LDP
from mechdesign.notions.lift import LIP, PML, AsymmetricLift
from mechdesign.notions.linear import LinearNotion
from mechdesign.notions.metric import MetricPrivacy
from mechdesign.notions.non_conic import (
    ApproximateLDP,
    ApproximateLIP,
    AttackError,
    GVulnerabilityLeakage,
    MaximalLeakage,
    MutualInformationLeakage,
)
from mechdesign.notions.rows.cone import Cone, Row
from mechdesign.notions.sensitive_attribute import SensitiveAttribute, SensitiveAttributePrivacy

__all__ = [
    "LDP",
    "LIP",
    "NOTIONS",
    "PML",
    "ApproximateLDP",
    "ApproximateLIP",
    "AsymmetricLift",
    "AttackError",
    "BlockLDP",
    "BoundedPriorLIP",
    "BoundedPriorLift",
    "BoundedPriorPML",
    "ChannelConstraint",
    "Cone",
    "ContextAwareLDP",
    "DifferentialIdentifiability",
    "GVulnerabilityLeakage",
    "HighLowLDP",
    "LinearNotion",
    "MaximalLeakage",
    "MetricPrivacy",
    "MutualInformationLeakage",
    "Notion",
    "Row",
    "SensitiveAttribute",
    "SensitiveAttributePrivacy",
    "cone_of",
    "restored",
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
        AsymmetricLift,
        PML,
        BoundedPriorLIP,
        BoundedPriorPML,
        BoundedPriorLift,
        DifferentialIdentifiability,
        ApproximateLDP,
        ApproximateLIP,
        MutualInformationLeakage,
        MaximalLeakage,
        GVulnerabilityLeakage,
        AttackError,
        LinearNotion,
    )
}
"""All notions by their names in problem files."""


def restored(table: Mapping[str, Any]) -> Notion:
    """Return the notion of a saved file; a user's own notion must be registered."""
    keys = {k: v for k, v in table.items() if k not in ("notion", "cone", "limits", "parameters")}
    keys |= table.get("parameters", {})
    attribute = keys.pop("secret", None)
    notion: Notion = choose(NOTIONS, table.get("notion"), "notion")(**keys)
    return notion if attribute is None else SensitiveAttributePrivacy(notion, attribute)
