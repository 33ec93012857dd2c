"""Convex limits on the whole channel, for notions that are not cones of columns.

    Sum_y h(q_y) <= limit          h convex, h(t q) = t h(q), least on constant columns

They are those of the kernel: h is the largest of several linear **parts**, as of a hockey-stick
divergence between rows of Q, or the information in an output. Both sums never grow when outputs are
merged or randomized, and they are smallest for a channel that ignores its input, so that mixing
with such a channel satisfies any limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from mechdesign._typing import FloatArray, IntArray
from mechdesign.channel import Channel
from mechdesign.kernel.generators import ListedRow
from mechdesign.kernel.limits import NOTHING, Gauge, Information, Limit
from mechdesign.notions.rows.row import LOWEST, Multipliers, decimal, least_float, reported

if TYPE_CHECKING:
    import cvxpy as cp

Columns: TypeAlias = Sequence[Sequence[int]]
"""Integer columns: ``columns[y][x]`` is Q[x, y] times the common sum of the rows."""


class ChannelConstraint:
    """The limits of one notion on all columns together, for ``size`` inputs.

    Multipliers name a part by its number in its limit (``x``), and the limit by its number in the
    notion (``other``), as in the kernel. In floats a part counts as ``max(0, part)``: parts that
    may be negative are raised, and the limit with them.

    Parameters
    ----------
    units
        The kernel limits, which decide what holds: at epsilon = 1 if they depend on it. Either one
        bound on information, or gauges.
    epsilon
        The budget; None without one: the leakage is then the excess over the limits.
    numbers
        The number of each limit in the notion; default 0, 1, 2, ...
    """

    def __init__(
        self,
        name: str,
        size: int,
        units: Sequence[Limit],
        epsilon: Fraction | None,
        numbers: IntArray | None = None,
    ) -> None:
        self.name, self.size, self.units = name, size, tuple(units)
        self.epsilon, self._moves = epsilon or Fraction(0), epsilon is not None
        self.is_linear = not isinstance(self.units[0], Information)
        self.numbers = np.arange(len(self.units)) if numbers is None else numbers

    def _at(self, unit: Limit, epsilon: Fraction) -> Limit:
        """Return a limit at an epsilon."""
        if self._moves:
            return unit.moved(epsilon, Fraction(0))
        return replace(unit, limit=unit.limit + epsilon)

    @cached_property
    def _stated(self) -> list[Limit]:
        """The limits at the epsilon."""
        return [self._at(unit, self.epsilon) for unit in self.units]

    def violation(self, columns: Columns) -> str | None:
        """Return a limit that integer columns violate, exactly; None if there is none."""
        whole, sums = sum(column[0] for column in columns), dict[int, Any]()
        for n, limit in enumerate(self._stated):
            if not limit.holds(columns, whole, sums):
                return f"{self.name} limit {n}"
        return None

    def holds(self, channel: Channel) -> bool:
        """Return whether the exact channel satisfies the limits, exactly."""
        return self.violation(channel.columns()) is None

    def binds(self) -> bool:
        """Return whether any channel violates a limit, exactly: if any does, the identity does."""
        identity = [[int(x == y) for x in range(self.size)] for y in range(self.size)]
        return self.violation(identity) is not None

    def leakage(self, channel: Channel) -> float:
        """Return the least float epsilon at which the exact channel satisfies the limits.

        In most cases the limits hold at the value found for those before them.
        """
        columns, whole, sums = channel.columns(), 1 << channel.bits, dict[int, Any]()

        def holds(unit: Limit, epsilon: Fraction) -> bool:
            return self._at(unit, epsilon).holds(columns, whole, sums)

        found = 0.0 if self._moves else LOWEST
        for unit in self.units:
            if math.isfinite(found) and not holds(unit, decimal(found)):
                found = least_float(partial(holds, unit), max(found, self._near(channel.matrix)))
        return reported(found, self.epsilon)

    def _near(self, Q: FloatArray) -> float:
        """Return an estimate of the leakage, in floats."""
        if not self.is_linear:
            return float(self.sums(Q)[0])
        if len(self.units) > 1:
            return 0.0
        total, limit = float(self.sums(Q)[0]), float(self.limits()[0])
        if not self._moves:
            return total - limit
        return float(self.epsilon) + math.log(total / limit) if min(total, limit) > 0 else 0.0

    # --- in floats --------------------------------------------------------------------------------

    @cached_property
    def _parts(self) -> list[tuple[int, int, ListedRow]]:
        """The limit, the number and the row of each part, at epsilon."""
        found = []
        for j, limit in enumerate(self._stated):
            parts = enumerate(cast(Gauge, limit).parts)
            found += [(j, n, part) for n, part in parts if n or part != NOTHING]
        return found

    @cached_property
    def _raise(self) -> FloatArray:
        """What is added to every part, so that none is negative at a column.

        It is twice the largest coefficient of each input: summed over the outputs, a constant.
        """
        if len(self.units) > 1 or any(part.left for _, _, part in self._parts):
            return np.zeros(self.size)
        dense = np.zeros(self.size)
        for _, _, part in self._parts:
            for x, v in part.right:
                dense[x] = max(dense[x], 2 * float(v))
        return dense

    @cached_property
    def members(self) -> IntArray:
        """The limit of each part, ``(n_parts,)``."""
        return np.array([j for j, _, _ in self._parts], dtype=np.intp)

    @cached_property
    def matrix(self) -> FloatArray:
        """``e**-a left - right`` of each part, ``(n_parts, size)``."""
        found = np.tile(self._raise, (len(self._parts), 1))
        for n, (_, _, part) in enumerate(self._parts):
            for side, factor in ((part.left, math.exp(-part.exponent)), (part.right, -1.0)):
                for x, v in side:
                    found[n, x] += factor * float(v)
        return found

    def limits(self) -> FloatArray:
        """Return the limits, ``(n_limits,)``."""
        if not self.is_linear:
            return np.array([float(limit.limit) for limit in self._stated])
        gauges = cast("list[Gauge]", self._stated)
        most = np.array([math.exp(g.exponent) * float(g.limit) for g in gauges])
        return np.asarray(most + self._raise.sum())

    def sums(self, Q: FloatArray) -> FloatArray:
        """Return the limited sums at a channel ``(size, n_outputs)``, ``(n_limits,)``."""
        if not self.is_linear:
            joint = self._prior[:, None] * Q
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = joint * np.log(Q / joint.sum(axis=0))
            return np.array([max(0.0, float(np.nansum(terms)))])
        largest = np.zeros((len(self.units), Q.shape[1]))
        np.maximum.at(largest, self.members, self.matrix @ Q)
        return np.asarray(largest.sum(axis=1))

    @property
    def _prior(self) -> FloatArray:
        return np.array([float(p) for p in cast(Information, self.units[0]).prior])

    @property
    def pairs(self) -> dict[tuple[int, int], int] | None:
        """The limit of each pair of inputs, if each limit has one part, on two entries.

        None unless all these limits are equal.
        """
        rows = [part for _, _, part in self._parts]
        sides = [side for row in rows for side in (row.left, row.right)]
        alone = all(len(side) == 1 and side[0][1] == 1 for side in sides)
        if not alone or len(set(self.limits())) > 1 or len(rows) > len(self.units):
            return None
        return {(row.left[0][0], row.right[0][0]): j for j, row in enumerate(rows)}

    def part(self, limits: IntArray) -> ChannelConstraint:
        """Return some of the limits, with their numbers."""
        units, epsilon = [self.units[j] for j in limits.tolist()], self.epsilon
        own = epsilon if self._moves else None
        return ChannelConstraint(self.name, self.size, units, own, self.numbers[limits])

    def state(self, Q: cp.Variable | cp.Expression) -> list[cp.Constraint]:
        """State the limits in cvxpy, for a channel ``Q`` of shape ``(size, n_outputs)``.

        The dual values of the first constraint are the multipliers: of the parts at each output, or
        of the bound on information.
        """
        import cvxpy as cp

        if self.is_linear:
            largest = cp.Variable((len(self.units), Q.shape[1]), nonneg=True)
            rows = self.matrix @ Q <= largest[self.members, :]
            return [rows, cp.sum(largest, axis=1) <= self.limits()]
        likely = np.flatnonzero(self._prior > 0)
        P = self._prior[likely]
        mean = cp.reshape(P @ Q[likely, :], (1, Q.shape[1]), order="C")
        given, free = cp.multiply(P[:, None], Q[likely, :]), P[:, None] @ mean
        return [cp.sum(cp.rel_entr(given, free)) <= float(self.epsilon)]

    def bounds(self, found: Multipliers, Q: FloatArray) -> Iterator[tuple[int, float, float]]:
        """Yield the limits that have a multiplier: each with its number, that, and its slack.

        The multiplier is the largest over outputs of the sum of those of the parts: at an output
        they add up to that of the limit if some part is positive, and to at most that if not. The
        slack is measured at a channel ``(size, n_outputs)``, as a share of the limit.
        """
        by_output = np.zeros((len(self.units), found.output.max(initial=0) + 1))
        np.add.at(by_output, (found.other, found.output), found.weight)
        slack = 1 - self.sums(Q) / self.limits()
        of_limit = by_output.max(axis=1)
        for j in np.flatnonzero(of_limit).tolist():
            yield j, float(of_limit[j]), float(slack[j])

    def read_dual(self, weights: FloatArray) -> Multipliers:
        """Convert weights on the parts, ``(n_parts, n_outputs)``, to multipliers."""
        part, output = np.nonzero(weights > 0)
        x = np.array([n for _, n, _ in self._parts], dtype=np.intp)[part]
        other = self.numbers[self.members[part]]
        return Multipliers("", output, x, other, weights[part, output])
