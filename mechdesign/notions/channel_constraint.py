"""Convex constraints on the whole channel, for notions that are not cones of columns.

    Sum_y h(q_y) <= limit          h convex, h(t q) = t h(q), least on constant columns

There are two kinds: h the largest of several linear excesses (`excess_constraint`), and h the
information in an output (`information_constraint`). Both sums never grow when outputs are merged or
randomized, and they are smallest for a channel that ignores its input, so that mixing with such a
channel satisfies any constraint.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.kernel.limits import Limit
from mechdesign.notions.rows.least import LOWEST, decimal, least_float, reported
from mechdesign.notions.rows.row import Multipliers

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["ChannelConstraint", "Columns", "Stated"]

Columns: TypeAlias = Sequence[Sequence[int]]
"""Integer columns: ``columns[y][x]`` is Q[x, y] times the common sum of the rows."""


@dataclass(frozen=True)
class Stated:
    """A constraint on the whole channel in cvxpy.

    Attributes
    ----------
    constraints
        All constraints.
    rows
        For excesses, the constraint whose dual value has the ``(n_rows, n_outputs)`` multipliers.
    information
        For information, the constraint whose dual value is the multiplier of the bound.
    """

    constraints: tuple[cp.Constraint, ...]
    rows: cp.Constraint | None = None
    information: cp.Constraint | None = None


class ChannelConstraint(ABC):
    """A constraint of one notion on all columns together, for ``size`` inputs.

    Parameters
    ----------
    name
        The notion, for error messages.
    size
        The number of inputs.
    units
        The kernel limits, which decide what holds: at epsilon = 1 if they depend on it.
    epsilon
        The budget; None without one: the leakage is then the excess over the limits.
    """

    def __init__(
        self, name: str, size: int, units: Sequence[Limit], epsilon: Fraction | None
    ) -> None:
        self.name, self.size, self.units = name, size, tuple(units)
        self.epsilon, self._moves = epsilon or Fraction(0), epsilon is not None

    def _at(self, unit: Limit, epsilon: Fraction) -> Limit:
        """Return a limit at an epsilon."""
        if self._moves:
            return unit.moved(epsilon, Fraction(0))
        return replace(unit, limit=unit.limit + epsilon)

    def violation(self, columns: Columns) -> str | None:
        """Return a limit that integer columns violate, exactly; None if there is none."""
        whole, sums = sum(column[0] for column in columns), dict[int, Any]()
        for n, unit in enumerate(self.units):
            if not self._at(unit, self.epsilon).holds(columns, whole, sums):
                return f"{self.name} limit {n}"
        return None

    def holds(self, channel: Channel) -> bool:
        """Return whether the exact channel satisfies the constraint, exactly."""
        return self.violation(channel.columns()) is None

    def binds(self) -> bool:
        """Return whether any channel violates it, exactly: if any does, the identity does."""
        identity = [[int(x == y) for x in range(self.size)] for y in range(self.size)]
        return self.violation(identity) is not None

    def near(self, _channel: Channel) -> float:
        """Return an estimate of the leakage, in floats."""
        return 0.0

    def leakage(self, channel: Channel) -> float:
        """Return the least float epsilon at which the exact channel satisfies the constraint.

        In most cases the limits hold at the value found for those before them.
        """
        columns, whole, sums = channel.columns(), 1 << channel.bits, dict[int, Any]()

        def holds(unit: Limit, epsilon: Fraction) -> bool:
            return self._at(unit, epsilon).holds(columns, whole, sums)

        found = 0.0 if self._moves else LOWEST
        for unit in self.units:
            if math.isfinite(found) and not holds(unit, decimal(found)):
                found = least_float(partial(holds, unit), max(found, self.near(channel)))
        return reported(found, self.epsilon)

    @abstractmethod
    def state(self, Q: cp.Variable | cp.Expression) -> Stated:
        """State the constraint in cvxpy, for a channel ``Q`` of shape ``(n_inputs, n_outputs)``."""

    @abstractmethod
    def bounds(
        self, found: Multipliers, channel: Channel, labels: Sequence[Label]
    ) -> Iterator[tuple[str, float, float]]:
        """Yield the bounds that have a multiplier: each with its name, that, and its slack.

        Parameters
        ----------
        found
            Multipliers as a certificate has them.
        channel
            The channel at which the slack is measured, as a share of the limit.
        labels
            What the numbers of inputs stand for.
        """
