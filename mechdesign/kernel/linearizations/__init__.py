"""The linearizations: an objective as linear costs with a join, or one convex gain."""

from __future__ import annotations

from mechdesign.kernel.linearizations.boxes import Boxes
from mechdesign.kernel.linearizations.costs import AsGain, Costs
from mechdesign.kernel.linearizations.decoders import Decoders, Readings

__all__ = ["AsGain", "Boxes", "Costs", "Decoders", "Linearizations", "Readings"]

Linearizations = Costs | Decoders | Readings | Boxes | AsGain
"""A linearization, of one of the kinds."""
