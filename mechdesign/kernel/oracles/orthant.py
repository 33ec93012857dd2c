"""After multipliers of rows a cost is a safe price itself.

Prices u = c have u . q <= c . q for every q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mechdesign.kernel.proof import Cost, Ends, Oracle
from mechdesign.kernel.statement import Statement


@dataclass(frozen=True)
class Orthant(Oracle):
    """Linear costs, with multipliers or none."""

    def linear(self, statement: Statement) -> Callable[[Cost, Cost, Ends | None], Cost]:
        """Return the cost as the safe prices, exactly."""
        return lambda cost, *_: cost
