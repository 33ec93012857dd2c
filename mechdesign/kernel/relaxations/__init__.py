"""The relaxations: each takes a statement to one whose optimum is not larger."""

from __future__ import annotations

from mechdesign.kernel.relaxations.average import Average
from mechdesign.kernel.relaxations.cells import Cells
from mechdesign.kernel.relaxations.implied import Implied
from mechdesign.kernel.relaxations.members import Members
from mechdesign.kernel.relaxations.representatives import Representatives
from mechdesign.kernel.relaxations.restrict import Restrict

__all__ = ["Average", "Cells", "Implied", "Members", "Relaxations", "Representatives", "Restrict"]

Relaxations = Average | Cells | Members | Restrict | Implied | Representatives
"""A relaxation, of one of the kinds."""
