"""Objectives as they are: a mean loss, or a convex gain."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.kernel.arithmetic import BITS, expect, over_one_denominator
from mechdesign.kernel.gains import Gain
from mechdesign.kernel.objectives import Loss
from mechdesign.kernel.proof import Program, Slot, mean_loss
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Costs(Slot):
    """A mean loss: a node for each output, with the cost w_x D_y[x].

    A column has the cost of its output, and with free outputs the least cost: the entrywise
    minimum of safe prices of all nodes is safe either way. Costs are the lower ends of the
    table, as w >= 0.
    """

    def __call__(self, statement: Statement) -> Program:
        aim, masses = mean_loss(statement, "costs are for a mean loss")
        weights, whole = over_one_denominator(masses)
        losses, unit = aim.costs, whole * aim.costs.denominator
        nodes = [
            [(w * c << BITS) // unit for w, c in zip(weights, losses.lower(y), strict=True)]
            for y in range(losses.n_outputs)
        ]
        return Program(Fraction(0), nodes)

    def steps(self, statement: Statement) -> int:
        aim = statement.objective
        return statement.k * (aim.costs.n_outputs if isinstance(aim, Loss) else 1)


@dataclass(frozen=True)
class AsGain(Slot, kind="gain"):
    """The identity."""

    def __call__(self, statement: Statement) -> Program:
        aim = expect(statement.objective, Gain, "expected a gain as the objective")
        return Program(aim.constant, gain=aim)
