"""A convex gain, unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.kernel.arithmetic import expect
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.proof import Program, Slot
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class AsGain(Slot, kind="gain"):
    """The identity."""

    def __call__(self, statement: Statement) -> Program:
        """Return the gain."""
        aim = expect(statement.objective, Gain, "expected a gain as the objective")
        return Program(aim.constant, gain=aim)
