"""Universal channels: one channel that is best for every purpose, where there is one.

The columns of private channels lie in a cone. Where it has as many facets as inputs, it has as many
extreme rays, every column is a mixture of them in one way, and the rays scaled to add up to the
constant column are a channel U of which every private channel is a post-processing: U is best for
every utility that no post-processing can raise.
"""

from __future__ import annotations

from mechdesign.closed_forms.universal.decision import decide_cone
from mechdesign.closed_forms.universal.facets import Decision, Facet
from mechdesign.closed_forms.universal.result import Universality, universal_channel

__all__ = ["Decision", "Facet", "Universality", "decide_cone", "universal_channel"]
