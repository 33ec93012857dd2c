"""Convex constraints on a channel as a whole, for notions that no cone of columns states.

    Sum_y h(q_y) <= limit          h convex, h(t q) = t h(q), least on constant columns

There are two kinds: h the largest of some linear excesses (`excess_constraint`), and h the
information that an output gives (`information_constraint`). Both sums never grow when outputs are
merged or randomized, and a channel that ignores its input has the least of all, so that mixing with
one satisfies any constraint.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from mechdesign.channel import Channel
from mechdesign.domain import Label
from mechdesign.exact import as_fraction
from mechdesign.notions.rows.row import Multipliers

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["ChannelConstraint", "Columns", "Stated"]

Columns: TypeAlias = Sequence[Sequence[int]]
"""Integer columns: ``columns[y][x]`` is Q[x, y] in any unit in which rows sum to one number."""


@dataclass(frozen=True)
class Stated:
    """A constraint on the whole channel in cvxpy.

    Attributes
    ----------
    constraints
        All of it.
    rows
        For excesses, the one whose dual is ``(n_rows, n_outputs)`` multipliers of the rows.
    information
        For information, the one whose dual is the multiplier of the bound.
    """

    constraints: tuple[cp.Constraint, ...]
    rows: cp.Constraint | None = None
    information: cp.Constraint | None = None


class ChannelConstraint(ABC):
    """What one notion asks of all columns together, on ``size`` inputs.

    Attributes
    ----------
    name
        The notion, for messages.
    size
        The number of inputs.
    epsilon
        The budget.
    """

    name: str
    size: int
    epsilon: Fraction

    @abstractmethod
    def at(self, epsilon: Fraction) -> ChannelConstraint:
        """Return the same constraint at another epsilon."""

    @abstractmethod
    def violation(self, columns: Columns) -> str | None:
        """Return what integer columns break, exactly; None if nothing."""

    @abstractmethod
    def min_epsilon(self, columns: Columns) -> Fraction | None:
        """Return the least epsilon at which it holds, to 150 bits; None if there is none."""

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

    def holds(self, channel: Channel) -> bool:
        """Return whether the exact channel satisfies the constraint, exactly."""
        return self.violation(channel.columns()) is None

    @abstractmethod
    def binds(self) -> bool:
        """Return whether any channel breaks it, exactly: if any does, the identity does."""

    def leakage(self, channel: Channel) -> float:
        """Return the smallest float epsilon at which the exact channel satisfies the constraint."""
        columns = channel.columns()

        def holds(epsilon: Fraction) -> bool:
            return self.at(epsilon).violation(columns) is None

        if holds(Fraction(0)):
            return 0.0
        least = self.min_epsilon(columns)
        if least is None:
            return math.inf
        guess = float(least)
        while not holds(as_fraction(guess)):
            guess = math.nextafter(guess, math.inf)
        asked = float(self.epsilon)
        for wanted in (asked, math.nextafter(asked, 2 * asked)):
            if guess > wanted and holds(as_fraction(wanted)):
                return wanted  # the rounding up went past what was asked for, which holds
        return guess
