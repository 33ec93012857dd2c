"""The linearizations: an objective as linear costs with a join, or one convex gain."""

from __future__ import annotations

from mechdesign.kernel.linearizations.boxes import Boxes
from mechdesign.kernel.linearizations.costs import AsGain, Costs
from mechdesign.kernel.linearizations.decoders import Chords, Decoders, Readings

__all__ = ["AsGain", "Boxes", "Chords", "Costs", "Decoders", "Linearizations", "Readings"]

Linearizations = Costs | Decoders | Chords | Readings | Boxes | AsGain
"""A linearization, of one of the kinds."""
