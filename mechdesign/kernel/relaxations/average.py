"""A worst case over inputs, or over their distributions, is at least the mean at any weights.

max_x F_x(Q) >= Sum_x w_x F_x(Q) for w >= 0 of sum 1. This holds for each choice of guesses and of
readings, and so for the best of each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.objectives import Loss, Reading, Risk
from mechdesign.kernel.packed import Weights
from mechdesign.kernel.proof import Slot
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Average(Slot):
    """A worst case becomes a mean; weights are divided by their sum."""

    weights: Weights

    def normalized(self) -> tuple[Fraction, ...]:
        """Return the weights, divided by their sum."""
        listed = [Fraction(w) for w in self.weights]
        total = sum(listed, Fraction(0))
        need(listed and min(listed) >= 0 < total, "expected weights >= 0")
        return tuple(v / total for v in listed)

    def __call__(self, statement: Statement) -> Statement:
        """Return the statement with a mean objective."""
        aim, w = statement.objective, self.normalized()
        need(len(w) == statement.k, "expected weights >= 0 of all inputs")
        if isinstance(aim, Risk) and aim.prior is None:
            return replace(statement, objective=replace(aim, prior=w))
        if isinstance(aim, Loss | Reading) and aim.weights is None:
            return replace(statement, objective=replace(aim, weights=w))
        raise CertificateError("an average needs a worst case")
