"""The objectives by name, and that of a user's own."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.kernel.names.base import NamedObjective, Outputs
from mechdesign.kernel.names.domains import Inputs
from mechdesign.kernel.names.gains import Gains
from mechdesign.kernel.names.losses import Estimates, ExpectedLosses


@dataclass(frozen=True)
class OwnObjective(NamedObjective):
    """An objective of a user's own, which a file only quotes."""

    objective: str
    expression: str = ""

    @property
    def name(self) -> str:
        """The name in a file."""
        return self.objective

    def form(self, on: Inputs, outputs: Outputs) -> None:
        """Return None: it is not known."""


Objectives = ExpectedLosses | Gains | Estimates | OwnObjective
"""An objective, of one of the names, or of a user's own."""
