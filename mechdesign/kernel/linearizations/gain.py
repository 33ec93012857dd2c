"""A convex gain, unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mechdesign.kernel.arithmetic import expect
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.proof import Program, Slot
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class AsGain(Slot):
    """The identity."""

    kind: ClassVar[str] = "gain"

    def __call__(self, statement: Statement) -> Program:
        """Return the gain."""
        aim = expect(statement.objective, Gain, "expected a gain as the objective")
        return Program(aim.constant, gain=aim)
